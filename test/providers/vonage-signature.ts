import { createHash, createHmac } from 'node:crypto';
import type { ReceiptRequest } from '../../src/providers/provider.ts';
import type { VonageSettings } from '../../src/providers/vonage.ts';
import { nowMs, type AdapterCases } from './cases.ts';

export const vonageSettings: VonageSettings = {
  baseUrl: 'https://api.nexmo.com',
  apiKey: 'a1b2c3d',
  apiSecret: 'a-secret-of-the-api',
  signatureSecret: 'XsA5o1P9c6JrkKoOsXvpb6h6Sw5ySecret',
  timeoutMs: 1_000,
};

type Claims = Record<string, unknown>;

/** A callback's headers as Vonage signs them; `changes` make a token that is wrong in one respect. */
export function vonageSignature(
  { rawBody, issuedAtMs }: { rawBody: Buffer; issuedAtMs: number },
  changes: { claims?: Claims; header?: Claims; secret?: string } = {},
): { authorization: string } {
  const claims = {
    iat: Math.floor(issuedAtMs / 1_000),
    jti: 'c5ba8f24-1a14-4c10-bfdf-3fbe8ce511b5',
    iss: 'Vonage',
    payload_hash: createHash('sha256').update(rawBody).digest('hex'),
    api_key: vonageSettings.apiKey,
    ...changes.claims,
  };
  const signed = `${base64Url({ alg: 'HS256', typ: 'JWT', ...changes.header })}.${base64Url(claims)}`;
  const secret = changes.secret ?? vonageSettings.signatureSecret;
  return { authorization: `Bearer ${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}` };
}

function base64Url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function forgery(title: string, changes: Parameters<typeof vonageSignature>[1], issuedAtMs = nowMs) {
  return {
    title,
    forge: (receipt: ReceiptRequest) => ({
      ...receipt,
      headers: vonageSignature({ rawBody: receipt.rawBody, issuedAtMs }, changes),
    }),
  };
}

function forgeryOf(title: string, change: (authorization: string) => string | string[]) {
  return {
    title,
    forge: (receipt: ReceiptRequest) => ({
      ...receipt,
      headers: { authorization: change(String(receipt.headers['authorization'])) },
    }),
  };
}

const hourMs = 60 * 60 * 1_000;

export const vonageForgeries: AdapterCases['forgeries'] = [
  forgery('another secret', { secret: vonageSettings.apiSecret }),
  forgery('another account', { claims: { api_key: 'another' } }),
  forgery('another issuer', { claims: { iss: 'Someone' } }),
  forgery('a token without an issuer', { claims: { iss: undefined } }),
  forgery('a token about another body', { claims: { payload_hash: '0'.repeat(64) } }),
  forgery('a token about no body', { claims: { payload_hash: undefined } }),
  forgery('a body hash that is too short', { claims: { payload_hash: '32138b64' } }),
  forgery('a body hash that is an object', { claims: { payload_hash: { toString: null } } }),
  forgery('a token without its time', { claims: { iat: undefined } }),
  forgery('a time that is text', { claims: { iat: String(nowMs / 1_000) } }),
  forgery('a token more than 25 hours old', {}, nowMs - 25 * hourMs - 1_000),
  forgery('a token more than five minutes ahead', {}, nowMs + hourMs / 12 + 1_000),
  forgery('the algorithm none', { header: { alg: 'none' } }),
  forgery('the algorithm RS256', { header: { alg: 'RS256' } }),
  forgery('no algorithm', { header: { alg: undefined } }),
  forgeryOf('a token without a signature', (token) => token.slice(0, token.lastIndexOf('.') + 1)),
  forgeryOf('a token whose signature is cut short', (token) => token.slice(0, -4)),
  forgeryOf('another scheme', (token) => token.replace('Bearer', 'Basic')),
  forgeryOf('two tokens', (token) => [token, token]),
  forgeryOf('an empty header', () => ''),
];
