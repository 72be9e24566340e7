import { expect, test } from 'vitest';
import { RecentAttemptCounts } from './recent-attempts.ts';

function startCounts() {
  const clock = { nowMs: 1_000_000_000_000, now: () => clock.nowMs };
  return { clock, counts: new RecentAttemptCounts(clock) };
}

test('attempts are counted by provider and result, with their mean latency', () => {
  const { counts } = startCounts();
  counts.note('twilio', 'accepted', 10);
  counts.note('twilio', 'accepted', 20);
  counts.note('twilio', 'retryable', 60);
  counts.note('vonage', 'rejected', 5);
  expect(counts.of('twilio')).toEqual({ accepted: 2, rejected: 0, retryable: 1, unknown: 0, latencyMsMean: 30 });
  expect(counts.of('vonage')).toMatchObject({ rejected: 1 });
  expect(counts.of('plivo')).toEqual({ accepted: 0, rejected: 0, retryable: 0, unknown: 0, latencyMsMean: null });
});

test('what is older than five minutes is forgotten, bit by bit', () => {
  const { clock, counts } = startCounts();
  counts.note('twilio', 'unknown', 1);
  clock.nowMs += 120_000;
  counts.note('twilio', 'accepted', 1);
  clock.nowMs += 175_000;
  expect(counts.of('twilio')).toMatchObject({ unknown: 1, accepted: 1 });
  clock.nowMs += 10_000;
  expect(counts.of('twilio')).toMatchObject({ unknown: 0, accepted: 1 });
  clock.nowMs += 3_600_000;
  expect(counts.of('twilio').latencyMsMean).toBeNull();
});
