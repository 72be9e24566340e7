import { describe, expect, test } from 'vitest';
import { tellTimeline, type StoryParts } from './timeline.ts';

const start = Date.parse('2026-11-20T03:04:05.000Z');

function at(ms: number): string {
  return new Date(start + ms).toISOString().replace('Z', '+00:00');
}

function attempt(ms: number, fields: Partial<StoryParts['attempts'][number]>): StoryParts['attempts'][number] {
  return {
    at: at(ms),
    provider: 'twilio',
    result: 'accepted',
    code: null,
    detail: null,
    latency_ms: 12.4,
    provider_message_id: null,
    duplicate: false,
    ...fields,
  };
}

function delivery(
  fields: Partial<StoryParts['events'][number]['deliveries'][number]>,
): StoryParts['events'][number]['deliveries'][number] {
  return {
    endpoint_id: 'whe_1',
    url: 'https://example.com/hook',
    status: 'succeeded',
    next_attempt_at: null,
    attempts: [],
    ...fields,
  };
}

function story(fields: Partial<StoryParts>): StoryParts {
  return {
    object: 'message_story',
    account_id: 'acc_1',
    message: {
      id: 'msg_1',
      object: 'message',
      to: '+14155550123',
      from: 'HELIO',
      body: 'Hello',
      status: 'sent',
      cost: 0.0079,
      currency: 'USD',
      provider: 'twilio',
      provider_message_id: 'SM1',
      attempts: 1,
      error: null,
      reference: null,
      created_at: at(0),
      sent_at: null,
      delivered_at: null,
      failed_at: null,
    },
    segments: 1,
    route_id: 1,
    providers: ['twilio', 'vonage'],
    in_dispatch: null,
    attempts: [],
    receipts: [],
    events: [],
    ledger: [],
    ...fields,
  };
}

function textsOf(parts: Partial<StoryParts>): string[] {
  return tellTimeline(story(parts))
    .slice(1)
    .map(({ text }) => text);
}

describe('the timeline of a message', () => {
  test('begins with its acceptance', () => {
    expect(tellTimeline(story({}))[0]).toEqual({
      at: at(0),
      kind: 'accepted',
      text: 'Accepted from HELIO to +14155550123: 1 segment; route 1 leads to twilio → vonage.',
    });
    const malformed = story({ providers: [], route_id: null, segments: 3 });
    expect(tellTimeline(malformed)[0]?.text).toBe('Accepted from HELIO to +14155550123: 3 segments.');
  });

  test('goes by time, and within a millisecond along the way of a message', () => {
    const moments = tellTimeline(
      story({
        attempts: [attempt(20, { provider: 'vonage' }), attempt(5, { result: 'retryable' })],
        ledger: [{ kind: 'charge', amount: -0.0079, note: null, created_at: at(0) }],
        receipts: [
          { at: at(20), provider: 'vonage', provider_message_id: 'x', attempt: 2, state: 'sent', code: null, raw: '' },
        ],
        events: [{ id: 'evt_1', type: 'message.sent', status: 'sent', created_at: at(20), deliveries: [] }],
      }),
    );
    expect(moments.map(({ kind }) => kind)).toEqual(['accepted', 'charge', 'attempt', 'attempt', 'receipt', 'event']);
  });

  test.each([
    [{ provider_message_id: 'SM1' }, 'twilio accepted it after 12 ms as SM1.'],
    [{ duplicate: true }, 'twilio accepted it after 12 ms. The recipient may have it twice.'],
    [{ result: 'rejected', code: '21610', detail: 'opted out' }, 'twilio refused it after 12 ms: 21610, opted out.'],
    [{ result: 'retryable', code: '503' }, 'twilio could not take it after 12 ms: 503.'],
    [
      { result: 'unknown', code: 'process_lost', latency_ms: null },
      'twilio may have taken it, no answer came: process_lost.',
    ],
    [{ result: 'skipped', code: 'breaker_open', latency_ms: null }, 'twilio passed over: its breaker is open.'],
    [{ result: 'skipped', code: 'rate_reached', latency_ms: null }, 'twilio passed over: its rate is reached.'],
    [
      { result: 'skipped', code: 'concurrency_reached', latency_ms: null },
      'twilio passed over: all its places are taken.',
    ],
  ] as const)('tells of an attempt: %j', (fields, text) => {
    expect(textsOf({ attempts: [attempt(1, fields)] })).toEqual([text]);
  });

  test('tells why a message failed', () => {
    const failed = story({});
    failed.message.error = { code: 'delivery_failed', message: 'The carrier could not deliver it.' };
    failed.events = [{ id: 'evt_1', type: 'message.failed', status: 'failed', created_at: at(9), deliveries: [] }];
    failed.ledger = [{ kind: 'refund', amount: 0.5, note: null, created_at: at(9) }];
    expect(tellTimeline(failed).slice(1)).toEqual([
      { at: at(9), kind: 'refund', text: '0.5 USD given back.' },
      { at: at(9), kind: 'event', text: 'The message has failed: delivery_failed. Event evt_1, message.failed.' },
    ]);
  });

  test('tells of every attempt at a delivery, and how it stands', () => {
    const failure = { at: at(30), status: null, latency_ms: 10_000, error: 'time-out', answer: null };
    const success = { at: at(40), status: 204, latency_ms: 7.6, error: null, answer: '' };
    const event = { id: 'evt_1', type: 'message.sent', status: 'sent', created_at: at(20) } as const;
    const place = 'message.sent to https://example.com/hook';
    const tell = (deliveries: StoryParts['events'][number]['deliveries']): string[] =>
      textsOf({ events: [{ ...event, deliveries }] }).slice(1);
    expect(tell([delivery({ attempts: [failure, success] })])).toEqual([
      `${place}: time-out after 10000 ms.`,
      `${place}: 204 after 8 ms.`,
    ]);
    expect(tell([delivery({ status: 'pending', attempts: [failure], next_attempt_at: at(30_000) })])).toEqual([
      `${place}: time-out after 10000 ms.`,
      `${place}: waiting, next attempt by ${at(30_000)}.`,
    ]);
    expect(tell([delivery({ status: 'skipped', url: null })])).toEqual([
      'message.sent to whe_1: skipped. Replay evt_1 when the endpoint works.',
    ]);
  });
});
