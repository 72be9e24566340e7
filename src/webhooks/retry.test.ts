import { expect, test } from 'vitest';
import { settle } from './retry.ts';

const endedAtMs = 1_763_600_000_000;
const seconds = 1_000;
const minutes = 60 * seconds;
const hours = 60 * minutes;

test.each([
  [1, 30 * seconds],
  [2, 5 * minutes],
  [3, 30 * minutes],
  [4, 2 * hours],
  [5, 12 * hours],
])('failed attempt %i is followed by another %i ms after its end', (attemptsMade, delayMs) => {
  expect(settle(attemptsMade, false, endedAtMs)).toEqual({ status: 'pending', dueAtMs: endedAtMs + delayMs });
});

test('after the sixth failed attempt the event is abandoned', () => {
  expect(settle(6, false, endedAtMs)).toEqual({ status: 'abandoned', dueAtMs: null });
});

test.each([1, 2, 3, 4, 5, 6])('a success at attempt %i settles the delivery', (attemptsMade) => {
  expect(settle(attemptsMade, true, endedAtMs)).toEqual({ status: 'succeeded', dueAtMs: null });
});
