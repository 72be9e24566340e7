import { createHash, createHmac } from 'node:crypto';
import type { MessagebirdSettings } from '../../src/providers/messagebird.ts';
import type { ReceiptRequest } from '../../src/providers/provider.ts';
import { nowMs, type AdapterCases } from './cases.ts';

export const messagebirdSettings = {
  baseUrl: 'https://rest.messagebird.com',
  accessKey: 'an-access-key',
  signingKey: 'a-signing-key',
  timeoutMs: 1_000,
} satisfies MessagebirdSettings;

type Claims = Record<string, unknown>;

/** A call's headers as MessageBird signs them; `changes` make a token that is wrong in one respect. */
export function messagebirdSignature(
  { url, rawBody, issuedAtMs = nowMs }: { url: string; rawBody: Buffer; issuedAtMs?: number },
  changes: { claims?: Claims; header?: Claims; key?: string; hash?: string } = {},
): { 'messagebird-signature-jwt': string } {
  const issuedAt = Math.floor(issuedAtMs / 1_000);
  const claims = {
    iss: 'MessageBird',
    nbf: issuedAt,
    exp: issuedAt + 60,
    jti: '59a244dc-e9ad-4e23-9778-371faa238f72',
    url_hash: createHash('sha256').update(url).digest('hex'),
    ...(rawBody.length > 0 ? { payload_hash: createHash('sha256').update(rawBody).digest('hex') } : {}),
    ...changes.claims,
  };
  const signed = `${base64Url({ alg: 'HS256', typ: 'JWT', ...changes.header })}.${base64Url(claims)}`;
  const key = changes.key ?? messagebirdSettings.signingKey;
  const signature = createHmac(changes.hash ?? 'sha256', key)
    .update(signed)
    .digest('base64url');
  return { 'messagebird-signature-jwt': `${signed}.${signature}` };
}

function base64Url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function forgery(title: string, changes: Parameters<typeof messagebirdSignature>[1], issuedAtMs = nowMs) {
  return {
    title,
    forge: (receipt: ReceiptRequest) => ({
      ...receipt,
      headers: messagebirdSignature({ ...receipt, issuedAtMs }, changes),
    }),
  };
}

function forgeryOf(title: string, change: (token: string) => string | string[]) {
  return {
    title,
    forge: (receipt: ReceiptRequest) => ({
      ...receipt,
      headers: { 'messagebird-signature-jwt': change(String(receipt.headers['messagebird-signature-jwt'])) },
    }),
  };
}

export const messagebirdForgeries: AdapterCases['forgeries'] = [
  { title: 'another URL', forge: (receipt) => ({ ...receipt, url: receipt.url.replace('?', 'y?') }) },
  { title: 'a parameter that was added', forge: (receipt) => ({ ...receipt, url: `${receipt.url}&added=1` }) },
  { title: 'a body that was added', forge: (receipt) => ({ ...receipt, rawBody: Buffer.from('added') }) },
  {
    title: 'a body that was taken away',
    forge: (receipt) => ({
      ...receipt,
      headers: messagebirdSignature({ ...receipt, rawBody: Buffer.from('taken away') }),
    }),
  },
  forgery('another key', { key: messagebirdSettings.accessKey }),
  forgery('another issuer', { claims: { iss: 'Someone' } }),
  forgery('a token without an issuer', { claims: { iss: undefined } }),
  forgery('a token without an id', { claims: { jti: undefined } }),
  forgery('a token about another URL', { claims: { url_hash: '0'.repeat(64) } }),
  forgery('a token about no URL', { claims: { url_hash: undefined } }),
  forgery('a URL hash that is an object', { claims: { url_hash: { toString: null } } }),
  forgery('a token without its start', { claims: { nbf: undefined } }),
  forgery('a token without its end', { claims: { exp: undefined } }),
  forgery('an end that is text', { claims: { exp: String(nowMs / 1_000 + 60) } }),
  forgery('a token that has expired, and the tolerance with it', {}, nowMs - 65_000),
  forgery('a token of more than the tolerance ahead', {}, nowMs + 6_000),
  forgery('the algorithm none', { header: { alg: 'none' } }),
  forgery('the algorithm RS256', { header: { alg: 'RS256' } }),
  forgery('no algorithm', { header: { alg: undefined } }),
  forgery('an algorithm other than the one it names', { header: { alg: 'HS512' } }),
  forgeryOf('a token without a signature', (token) => token.slice(0, token.lastIndexOf('.') + 1)),
  forgeryOf('a token whose signature is cut short', (token) => token.slice(0, -4)),
  forgeryOf('two tokens', (token) => [token, token]),
  forgeryOf('an empty header', () => ''),
];
