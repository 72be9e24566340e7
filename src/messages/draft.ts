import type { KeyLimits } from '../accounts/key-usage.ts';
import type { MessageErrorCode } from '../lib/errors.ts';
import type { ProviderName } from '../providers/provider.ts';

/** Why a message fails before any provider is asked. */
export type Fault = { code: MessageErrorCode; message: string };

/** A message to be: everything but the caller's balance and the suppression list has been looked at. */
export type Draft = {
  id: string;
  recipient: string;
  sender: string;
  body: string;
  reference: string | null;
  segments: number;
  /** Price × segments, in micro-units. */
  costMicros: number;
  routeId: number | null;
  /** The chain in order; empty where the draft has a fault. */
  providers: readonly ProviderName[];
  fault: Fault | null;
};

/** One call of send or bulk, ready to be accepted as a whole. */
export type AcceptRequest = {
  accountId: string;
  currency: string;
  /** Of the key that makes the call; null where it has none. */
  limits: KeyLimits | null;
  drafts: readonly Draft[];
  idempotency: { key: string; fingerprint: Buffer } | null;
  /** True for a single send: its first attempt is marked as started with the acceptance, for it leaves at once. */
  startsAtOnce: boolean;
};
