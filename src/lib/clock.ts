/** The only source of the current time. Epoch milliseconds; tests pass a clock they move by hand. */
export type Clock = { now(): number };

export const systemClock: Clock = { now: () => Date.now() };

/** RFC 3339 with a numeric offset, as the API prints every time: `2026-11-20T03:04:05.678+00:00`. */
export function formatTime(time: Date | number): string {
  return `${new Date(time).toISOString().slice(0, -1)}+00:00`;
}

export function formatTimeOrNull(time: Date | number | null): string | null {
  return time === null ? null : formatTime(time);
}
