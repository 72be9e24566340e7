import { describe, expect, it } from 'vitest';
import { createTestClock } from '../../test/helpers/clock.ts';
import { holdDeadlines, passDeadlines } from '../../test/helpers/deadlines.ts';
import { systemClock } from '../lib/clock.ts';
import type { SendResult } from '../providers/provider.ts';
import { createBreaker } from './breaker.ts';

const accepted: SendResult = { outcome: 'accepted', providerMessageId: '1' };
const rejected: SendResult = { outcome: 'rejected', class: 'invalid_recipient', code: '1', message: 'No.' };
const unknown: SendResult = { outcome: 'unknown', code: '1', message: 'No answer.' };

function retryable(reason: 'throttled' | 'unavailable' | 'credentials' | 'unsupported'): SendResult {
  return { outcome: 'retryable', reason, code: '1', message: 'Not now.' };
}

/** What a number of attempts, one after the other, came to. */
async function attempt(
  breaker: ReturnType<typeof createBreaker>,
  result: SendResult,
  count: number,
): Promise<string[]> {
  const outcomes: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const outcome = await breaker.attempt(() => Promise.resolve(result));
    outcomes.push(outcome === 'skipped' ? outcome : outcome.outcome);
  }
  return outcomes;
}

describe('a breaker', () => {
  holdDeadlines();

  it.each([
    ['throttled', retryable('throttled')],
    ['unavailable', retryable('unavailable')],
    ['silent', unknown],
  ])('opens when more than half of many attempts find the provider %s', async (_what, result) => {
    const breaker = createBreaker(systemClock);
    await attempt(breaker, accepted, 20);
    await attempt(breaker, result, 100);
    expect(breaker.state).toBe('open');
    expect(breaker.isBlocking).toBe(true);
    expect(await attempt(breaker, accepted, 1)).toEqual(['skipped']);
  });

  it('opens on the time-outs of a provider that fell silent, however many messages it took before', async () => {
    const clock = createTestClock();
    const breaker = createBreaker(clock);
    for (let second = 0; second < 10; second += 1) {
      await attempt(breaker, accepted, 200);
      clock.advance(1_000);
    }
    // Every place at the provider is taken; nothing is heard until the first time-out.
    clock.advance(9_000);
    await attempt(breaker, unknown, 49);
    expect(breaker.state).toBe('closed');
    await attempt(breaker, unknown, 1);
    expect(breaker.state).toBe('open');
  });

  it('stays closed as long as what it took in the last ten seconds outweighs', async () => {
    const clock = createTestClock();
    const breaker = createBreaker(clock);
    await attempt(breaker, accepted, 100);
    clock.advance(8_000);
    await attempt(breaker, retryable('unavailable'), 99);
    expect(breaker.state).toBe('closed');
    await attempt(breaker, retryable('unavailable'), 2);
    expect(breaker.state).toBe('open');
  });

  it('stays closed while no more than half of the attempts fail', async () => {
    const breaker = createBreaker(systemClock);
    for (let round = 0; round < 60; round += 1) {
      await attempt(breaker, accepted, 1);
      await attempt(breaker, retryable('unavailable'), 1);
    }
    expect(breaker.state).toBe('closed');
  });

  it('stays closed after a few attempts, even if all of them fail', async () => {
    const breaker = createBreaker(systemClock);
    await attempt(breaker, retryable('unavailable'), 20);
    expect(breaker.state).toBe('closed');
    expect(breaker.isBlocking).toBe(false);
  });

  it.each([
    ['refuses a message for good', rejected],
    ['cannot carry a message', retryable('unsupported')],
  ])('stays closed when the provider %s, however often: that says nothing of its health', async (_what, result) => {
    const breaker = createBreaker(systemClock);
    await attempt(breaker, result, 200);
    expect(breaker.state).toBe('closed');
  });

  it('opens at once on refused credentials', async () => {
    const breaker = createBreaker(systemClock);
    expect(await attempt(breaker, retryable('credentials'), 2)).toEqual(['retryable', 'skipped']);
    expect(breaker.state).toBe('open');
  });

  it('blocks no longer when its pause is over', async () => {
    const clock = createTestClock();
    const breaker = createBreaker(clock);
    await attempt(breaker, retryable('credentials'), 1);
    clock.advance(59_000);
    expect(breaker.isBlocking).toBe(true);
    clock.advance(1_000);
    expect(breaker.isBlocking).toBe(false);
  });

  it.each([
    ['whose message was not sent after all', undefined],
    ['that the provider could not have taken', retryable('unsupported')],
  ])('is not closed by a probe %s', async (_what, result) => {
    const breaker = createBreaker(systemClock);
    await attempt(breaker, unknown, 50);
    expect(breaker.state).toBe('open');
    await passDeadlines(5_001);
    expect(await breaker.attempt(() => Promise.resolve(result))).toBe(result);
    expect(breaker.state).toBe('open');
    await passDeadlines(5_001);
    expect(await attempt(breaker, accepted, 1)).toEqual(['accepted']);
    expect(breaker.state).toBe('closed');
  });

  it('hands on a fault of the attempt itself', async () => {
    const breaker = createBreaker(systemClock);
    await expect(breaker.attempt(() => Promise.reject(new Error('a bug')))).rejects.toThrow('a bug');
    expect(breaker.state).toBe('closed');
  });
});
