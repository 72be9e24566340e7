/** Between the end of the longest attempt and the end of the lease: time to commit its outcome. */
export const leaseMarginMs = 5_000;

/** A lease covers the wait in a lane, one whole attempt, and the commit of its outcome. */
export function leaseMsFor(attemptTimeoutMs: number): number {
  return attemptTimeoutMs + 4 * leaseMarginMs;
}
