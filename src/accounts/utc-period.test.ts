import { expect, test } from 'vitest';
import { utcPeriodOf } from './utc-period.ts';

test.each([
  ['day', '2026-11-20T03:04:05.678Z', '2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z'],
  ['day', '2026-11-20T00:00:00.000Z', '2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z'],
  ['day', '2026-12-31T23:59:59.999Z', '2026-12-31T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
  ['day', '2028-02-28T12:00:00.000Z', '2028-02-28T00:00:00.000Z', '2028-02-29T00:00:00.000Z'],
  ['month', '2026-11-20T03:04:05.678Z', '2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'],
  ['month', '2026-12-31T23:59:59.999Z', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
  ['month', '2028-02-29T00:00:00.000Z', '2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
] as const)('the %s of %s is from %s up to %s', (period, time, start, end) => {
  const span = utcPeriodOf(period, Date.parse(time));
  expect([new Date(span.startMs).toISOString(), new Date(span.endMs).toISOString()]).toEqual([start, end]);
});
