import { createHash } from 'node:crypto';

/**
 * An id of ours for a message, for upstreams that take one or give none. It comes of the attempt's ref and does not tell it: callers see
 * the ids of their messages, and whoever knows a ref knows the URL of its receipts.
 */
export function ownMessageId(ref: string): string {
  return createHash('sha256').update(ref).digest().subarray(0, 16).toString('base64url');
}
