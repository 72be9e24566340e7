import type { OpenFault } from './session.ts';
import { status } from './status.ts';
import type { SmppTiming } from './timing.ts';

/** Refusals that no second attempt will mend. */
const credentialStatuses: ReadonlySet<number> = new Set([0x0d, 0x0e, 0x0f, 0x15, 0x53, 0x100]);

export function isCredentialFault(fault: OpenFault): boolean {
  return fault.status !== undefined && credentialStatuses.has(fault.status);
}

/**
 * How long to wait before the next attempt to bind. `failures` counts those in a row, from 1; `random` is from 0 up to 1. Spread by a
 * fifth either way, so that the sessions of many processes do not come back in one moment.
 */
export function reconnectDelayMs(fault: OpenFault, failures: number, timing: SmppTiming, random: number): number {
  const doubledMs = Math.min(timing.reconnectFirstMs * 2 ** (failures - 1), timing.reconnectLongestMs);
  if (isCredentialFault(fault)) return Math.max(doubledMs, timing.credentialsWaitMs) * (1 + 0.2 * random);
  if (fault.status === status.alreadyBound) return timing.alreadyBoundWaitMs * (1 + random);
  return doubledMs * (0.8 + 0.4 * random);
}
