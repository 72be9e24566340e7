import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { ProviderName } from '../providers/provider.ts';

/** What a receipt's URL tells: whose message, which, and which attempt of it (from 0). */
export type Ref = { accountId: string; messageId: string; attempt: number };

const macBytes = 10;
const idBytes = 16;
const bodyBytes = 2 * idBytes + 1;

function uuidBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

function uuidText(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/**
 * Names an attempt in 58 characters of base64url: account, message and attempt with 80 bits of HMAC-SHA-256. It cannot be guessed, needs no
 * table to look it up, and carries the shard key. It counts for the provider of the attempt alone: the URL of one that signs its receipts
 * is worth nothing at one that does not.
 */
export function encodeRef({ accountId, messageId, attempt }: Ref, provider: ProviderName, key: KeyObject): string {
  const body = Buffer.concat([uuidBytes(accountId), uuidBytes(messageId), Buffer.of(attempt)]);
  return Buffer.concat([body, macOf(body, provider, key)]).toString('base64url');
}

/** The attempt behind a ref, or undefined where the ref is not one of ours for this provider. */
export function decodeRef(text: string, provider: ProviderName, key: KeyObject): Ref | undefined {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== bodyBytes + macBytes || bytes.toString('base64url') !== text) return undefined;
  const body = bytes.subarray(0, bodyBytes);
  if (!timingSafeEqual(macOf(body, provider, key), bytes.subarray(bodyBytes))) return undefined;
  return {
    accountId: uuidText(body.subarray(0, idBytes)),
    messageId: uuidText(body.subarray(idBytes, 2 * idBytes)),
    attempt: body[2 * idBytes] ?? 0,
  };
}

function macOf(body: Buffer, provider: ProviderName, key: KeyObject): Buffer {
  return createHmac('sha256', key).update(body).update(provider).digest().subarray(0, macBytes);
}
