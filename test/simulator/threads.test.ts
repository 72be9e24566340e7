import { expect, it } from 'vitest';
import { createThreads } from '../../src/simulator/threads.ts';

const clock = { time: 1_000_000, now: () => clock.time };

it('only the provider that saw the message first is first, until another one took it', () => {
  const threads = createThreads(clock);
  expect(threads.isFirstTried('twilio', '+1', 'a')).toBe(true);
  expect(threads.isFirstTried('vonage', '+1', 'a')).toBe(false);
  expect(threads.isFirstTried('vonage', '+1', 'a')).toBe(true);
  expect(threads.isFirstTried('twilio', '+1', 'a')).toBe(false);
});

it('keeps different texts and recipients apart', () => {
  const threads = createThreads(clock);
  expect(threads.isFirstTried('twilio', '+1', 'a')).toBe(true);
  expect(threads.isFirstTried('vonage', '+1', 'b')).toBe(true);
  expect(threads.isFirstTried('vonage', '+2', 'a')).toBe(true);
});

it('duplicates sent at once each fail first and each are taken next', () => {
  const threads = createThreads(clock);
  const seen = ['twilio', 'twilio', 'vonage', 'vonage', 'vonage'].map((id) => threads.isFirstTried(id, '+1', 'a'));
  expect(seen).toEqual([true, true, false, false, true]);
});

it('a thread untouched for 30 seconds is forgotten', () => {
  const threads = createThreads(clock);
  threads.isFirstTried('twilio', '+1', 'a');
  clock.time += 30_001;
  expect(threads.isFirstTried('vonage', '+1', 'a')).toBe(true);
});

it('holds a bounded number of threads, and forgets the oldest', () => {
  const threads = createThreads(clock);
  for (let index = 0; index <= 10_000; index += 1) threads.isFirstTried('twilio', `+${index}`, 'a');
  expect(threads.isFirstTried('vonage', '+1', 'a')).toBe(false);
  expect(threads.isFirstTried('vonage', '+0', 'a')).toBe(true);
});
