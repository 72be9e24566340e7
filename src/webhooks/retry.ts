/** Waits after the first, second, … failed attempt, counted from its end (spec: Retry schedule). */
const delaysMs = [30_000, 5 * 60_000, 30 * 60_000, 2 * 3_600_000, 12 * 3_600_000] as const;

/** What a delivery has come to; `pending` waits for another attempt. */
export type DeliveryStatus = 'pending' | 'succeeded' | 'abandoned' | 'skipped';

export type Settlement = { status: DeliveryStatus; dueAtMs: number | null };

/** What follows from an attempt that ended at `endedAtMs`, the sixth and last included (spec: Webhook event delivery). */
export function settle(attemptsMade: number, succeeded: boolean, endedAtMs: number): Settlement {
  if (succeeded) return { status: 'succeeded', dueAtMs: null };
  const delayMs = delaysMs[attemptsMade - 1];
  return delayMs === undefined
    ? { status: 'abandoned', dueAtMs: null }
    : { status: 'pending', dueAtMs: endedAtMs + delayMs };
}
