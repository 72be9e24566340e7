import { createPrivateKey, sign, type KeyObject } from 'node:crypto';
import type { TelnyxSettings } from '../../src/providers/telnyx.ts';
import { nowMs, type AdapterCases } from './cases.ts';

/** The key of a seed of 32 bytes, all the same. */
function privateKeyOf(byte: number): KeyObject {
  const key = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, byte)]);
  return createPrivateKey({ format: 'der', type: 'pkcs8', key });
}

export const telnyxSettings: TelnyxSettings = {
  baseUrl: 'https://api.telnyx.com',
  apiKey: 'KEY0123456789ABCDEF',
  // Of `privateKeyOf(1)`.
  publicKey: 'iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w=',
  timeoutMs: 1_000,
};

/** An event's headers as Telnyx signs them. */
export function telnyxSignature(
  rawBody: Buffer,
  { issuedAtMs = nowMs, seed = 1 }: { issuedAtMs?: number; seed?: number } = {},
): Record<string, string> {
  const timestamp = String(Math.floor(issuedAtMs / 1_000));
  const signed = Buffer.concat([Buffer.from(`${timestamp}|`), rawBody]);
  return {
    'telnyx-signature-ed25519': sign(null, signed, privateKeyOf(seed)).toString('base64'),
    'telnyx-timestamp': timestamp,
  };
}

function resigned(title: string, changes: Parameters<typeof telnyxSignature>[1]): AdapterCases['forgeries'][number] {
  return { title, forge: (receipt) => ({ ...receipt, headers: telnyxSignature(receipt.rawBody, changes) }) };
}

function changed(
  title: string,
  name: 'telnyx-signature-ed25519' | 'telnyx-timestamp',
  change: (value: string) => string | string[] | undefined,
): AdapterCases['forgeries'][number] {
  return {
    title,
    forge: (receipt) => ({
      ...receipt,
      headers: { ...receipt.headers, [name]: change(String(receipt.headers[name])) },
    }),
  };
}

export const telnyxForgeries: AdapterCases['forgeries'] = [
  resigned('another key', { seed: 2 }),
  resigned('an event of more than 300 s ago', { issuedAtMs: nowMs - 301_000 }),
  resigned('an event of more than 300 s ahead', { issuedAtMs: nowMs + 301_000 }),
  changed('another time than the one that was signed', 'telnyx-timestamp', (time) => String(Number(time) + 1)),
  changed('the same time in another spelling', 'telnyx-timestamp', (time) => `0${time}`),
  changed('a time that is no number', 'telnyx-timestamp', () => 'now'),
  changed('no time', 'telnyx-timestamp', () => undefined),
  changed('an empty signature', 'telnyx-signature-ed25519', () => ''),
  changed('a signature cut short', 'telnyx-signature-ed25519', (signature) => signature.slice(0, -4)),
  changed('a signature without its padding', 'telnyx-signature-ed25519', (signature) => signature.slice(0, -2)),
  changed('a signature of another alphabet', 'telnyx-signature-ed25519', (signature) => `${signature} `),
  changed('two signatures', 'telnyx-signature-ed25519', (signature) => [signature, signature]),
];
