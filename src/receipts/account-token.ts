import { createHmac, type KeyObject } from 'node:crypto';
import type { ProviderName } from '../providers/provider.ts';

/** The last part of the one receipts URL of an upstream that takes none per message: a keyed MAC of its name, as unguessable as a ref. */
export function accountTokenOf(provider: ProviderName, refKey: KeyObject): string {
  return createHmac('sha256', refKey).update(`receipts of ${provider}`).digest().subarray(0, 20).toString('base64url');
}
