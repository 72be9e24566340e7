import { expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { createCallbackUrls } from '../../src/simulator/callback-urls.ts';
import type { Message } from '../../src/simulator/message.ts';
import { createReceipts, POSTS_MAX } from '../../src/simulator/receipts.ts';
import { createCallbackReporter } from '../../src/simulator/reporter.ts';
import { scenarioOf } from '../../src/simulator/scenario.ts';
import type { CallbackResult } from '../../src/simulator/upstream.ts';
import { twilio } from '../../src/simulator/upstreams/twilio.ts';

function acceptedNow(to = '+447700900123'): Message {
  const submission = { to, from: 'HELIO', text: 'Hello', callbackUrl: 'http://127.0.0.1/', reference: undefined };
  const id = twilio.newMessageId(submission);
  return { id, provider: 'twilio', submission, scenario: scenarioOf(to), acceptedAt: systemClock.now(), receipts: [] };
}

/** A receiver that answers nothing until told. */
function stalled() {
  const posts: ((result: CallbackResult) => void)[] = [];
  const client = { post: (_callback: unknown, done: (result: CallbackResult) => void) => void posts.push(done) };
  const callbackUrls = createCallbackUrls([], {});
  return { posts, reporter: createCallbackReporter({ provider: 'twilio', upstream: twilio, client, callbackUrls }) };
}

it('posts no more than a bounded number at a time, and the next as soon as one ended', () => {
  const { posts, reporter } = stalled();
  const receipts = createReceipts({ clock: systemClock, deliveryDelayMs: 0 });
  for (let index = 0; index < POSTS_MAX + 10; index += 1) receipts.schedule(acceptedNow(), reporter);
  expect(posts).toHaveLength(POSTS_MAX);
  posts[0]?.(204);
  expect(posts).toHaveLength(POSTS_MAX + 1);
});

it('drops a receipt when too many wait, and its message says so', () => {
  const { reporter } = stalled();
  const receipts = createReceipts({ clock: systemClock, deliveryDelayMs: 0, waitingMax: 5 });
  const messages = Array.from({ length: POSTS_MAX + 6 }, () => acceptedNow());
  for (const message of messages) receipts.schedule(message, reporter);
  expect(messages.at(-2)?.receipts).toEqual([]);
  expect(messages.at(-1)?.receipts).toMatchObject([{ status: 'sent', attempt: 1, result: 'dropped' }]);
});

it('posts a long backlog completely and in order', () => {
  const { posts, reporter } = stalled();
  const receipts = createReceipts({ clock: systemClock, deliveryDelayMs: 0 });
  const messages = Array.from({ length: 5_000 }, () => acceptedNow());
  for (const message of messages) receipts.schedule(message, reporter);
  for (let index = 0; index < 10_000; index += 1) posts[index]?.(204);
  expect(posts).toHaveLength(10_000);
  const outcomes = messages.map(({ receipts: sent }) => sent.map(({ status, result }) => `${status} ${result}`).join());
  expect(new Set(outcomes)).toEqual(new Set(['sent 204,delivered 204']));
});

it('posts each receipt of a message only when the one before was answered or failed', () => {
  const { posts, reporter } = stalled();
  const receipts = createReceipts({ clock: systemClock, deliveryDelayMs: 0 });
  receipts.schedule(acceptedNow('+99901012001'), reporter);
  expect(posts).toHaveLength(1);
  posts[0]?.(204);
  expect(posts).toHaveLength(2);
  posts[1]?.(500);
  expect(posts).toHaveLength(3);
});

it('a retry repeats its own receipt, and nothing after it', () => {
  const { posts, reporter } = stalled();
  const receipts = createReceipts({ clock: systemClock, deliveryDelayMs: 0 });
  const message = acceptedNow();
  receipts.schedule(message, reporter);
  posts[0]?.('unreachable');
  posts[1]?.(204);
  posts[2]?.(204);
  expect(message.receipts.map(({ status, attempt, result }) => [status, attempt, result])).toEqual([
    ['sent', 1, 'unreachable'],
    ['sent', 2, 204],
    ['delivered', 1, 204],
  ]);
  expect(posts).toHaveLength(3);
});

it('once cleared, those being posted are followed by nothing', () => {
  const { posts, reporter } = stalled();
  const receipts = createReceipts({ clock: systemClock, deliveryDelayMs: 0 });
  const message = acceptedNow();
  receipts.schedule(message, reporter);
  receipts.clear();
  posts[0]?.(204);
  expect([posts.length, message.receipts]).toEqual([1, []]);
});
