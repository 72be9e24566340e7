import { createHmac } from 'node:crypto';
import type { PlivoSettings } from '../../src/providers/plivo.ts';

export const plivoSettings: PlivoSettings = {
  baseUrl: 'https://api.plivo.com',
  authId: 'MAXXXXXXXXXXXXXXXXXX',
  authToken: 'plivotoken',
  timeoutMs: 1_000,
};

/** A callback's headers as Plivo signs them. */
export function plivoSignature(
  url: string,
  rawBody: Buffer,
  { authToken = plivoSettings.authToken, nonce = '1234567890' } = {},
): Record<string, string> {
  const [address, query] = url.split('?');
  const parameters = inOrder(query ?? '').map(({ name, value }) => `${name}=${value}`);
  const fields = inOrder(rawBody.toString()).map(({ name, value }) => `${name}${value}`);
  // A field without name and value (`=`) is a field all the same.
  const parts = [
    ...(parameters.length > 0 ? [parameters.join('&')] : []),
    ...(fields.length > 0 ? [fields.join('')] : []),
  ];
  const signed = `${[address, ...(parts.length > 0 ? [parts.join('.')] : [])].join('?')}.${nonce}`;
  return {
    'x-plivo-signature-v3': createHmac('sha256', authToken).update(signed).digest('base64'),
    'x-plivo-signature-v3-nonce': nonce,
  };
}

function inOrder(form: string): Array<{ name: string; value: string }> {
  return [...new URLSearchParams(form)]
    .map(([name, value]) => ({ name, value }))
    .sort((a, b) => order(a.name, b.name) || order(a.value, b.value));
}

function order(a: string, b: string): number {
  return Number(a > b) - Number(a < b);
}
