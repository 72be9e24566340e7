/** From `startMs` up to but not including `endMs`. */
export type Span = { startMs: number; endMs: number };

/** The UTC day or calendar month that holds this time. */
export function utcPeriodOf(period: 'day' | 'month', timeMs: number): Span {
  const time = new Date(timeMs);
  const year = time.getUTCFullYear();
  const month = time.getUTCMonth();
  if (period === 'month') return { startMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) };
  const day = time.getUTCDate();
  return { startMs: Date.UTC(year, month, day), endMs: Date.UTC(year, month, day + 1) };
}
