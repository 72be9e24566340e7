import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tallyByEndpoint, type DeliveryResult } from './result.ts';

function resultOf(endpointId: string, succeeded: boolean, endedAtMs: number): DeliveryResult {
  return {
    delivery: {
      accountId: 'a',
      eventId: `e${endedAtMs}`,
      endpointId,
      messageId: 'm',
      status: 'sent',
      attemptsMade: 0,
      leasedUntilMs: 0,
    },
    attempt: { at: '', status: succeeded ? 200 : 500, latency_ms: 1, error: null, answer: '' },
    endedAtMs,
    settlement: succeeded ? { status: 'succeeded', dueAtMs: null } : { status: 'pending', dueAtMs: endedAtMs },
  };
}

test('a batch counts as its attempts would one by one, for any order of successes and failures', () => {
  const batch = fc.array(fc.record({ endpointId: fc.constantFrom('x', 'y'), succeeded: fc.boolean() }));
  fc.assert(
    fc.property(batch, fc.nat({ max: 30 }), (attempts, countBefore) => {
      const results = attempts.map(({ endpointId, succeeded }, at) => resultOf(endpointId, succeeded, at + 1));
      for (const tally of tallyByEndpoint(results)) {
        let count = countBefore;
        let highest = countBefore;
        for (const { endpointId, succeeded } of attempts) {
          if (endpointId !== tally.endpointId) continue;
          count = succeeded ? 0 : count + 1;
          highest = Math.max(highest, count);
        }
        const counted = (tally.lastSuccessAtMs === null ? countBefore : 0) + tally.trailingFailures;
        expect(counted).toBe(count);
        expect(Math.max(countBefore + tally.leadingFailures, tally.longestRun)).toBe(highest);
      }
    }),
  );
});

test('endpoints come in the order of their keys, with the time of their last success and failure', () => {
  const results = [resultOf('y', true, 1), resultOf('x', false, 2), resultOf('y', false, 3), resultOf('y', true, 4)];
  expect(tallyByEndpoint(results)).toMatchObject([
    { endpointId: 'x', lastSuccessAtMs: null, lastFailureAtMs: 2 },
    { endpointId: 'y', lastSuccessAtMs: 4, lastFailureAtMs: 3 },
  ]);
});

test('a delivery skipped without an attempt counts for nothing', () => {
  const skipped: DeliveryResult = {
    ...resultOf('x', false, 1),
    attempt: null,
    settlement: { status: 'skipped', dueAtMs: null },
  };
  expect(tallyByEndpoint([skipped])).toEqual([]);
});
