import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Message } from '../../src/events/message-view.ts';
import { toPublicId } from '../../src/lib/ids.ts';
import { TestService } from '../helpers/service.ts';
import { Receiver } from '../webhooks/receiver.ts';
import { Operator } from './operator.ts';

let service: TestService;
let operator: Operator;
const receivers: Receiver[] = [];
beforeAll(async () => {
  service = await TestService.start({ answerWithinMs: 400, providerTimeoutMs: 1_500 });
  operator = new Operator(service);
});
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.stop();
});
afterAll(() => service.stop());

async function startReceiver(answer?: Receiver['answer']): Promise<Receiver> {
  const receiver = await Receiver.start(answer);
  receivers.push(receiver);
  return receiver;
}

function kindsOf({ timeline }: { timeline: Array<{ kind: string }> }): string[] {
  return timeline.map(({ kind }) => kind);
}

async function find(query: Record<string, string | number>) {
  type Owned = Message & { account_id: string };
  const { data, pagination } = await operator.client.request<Owned[]>('GET', '/messages', { query });
  return { found: data.map(({ id, account_id: account }) => [id, account]), total: pagination.total };
}

describe('finding messages', () => {
  test('to a recipient shows those of all accounts; with an account only its own', async () => {
    const [one, two] = [await service.account(), await service.account()];
    const to = '+14155550201';
    const sent = [await one.api.sent({ to }), await two.api.sent({ to }), await one.api.sent({ to })];
    await one.api.sent({ to: '+14155550202' });
    const account = toPublicId('acc', one.accountId);
    const other = toPublicId('acc', two.accountId);
    expect(await find({ to })).toEqual({
      found: [
        [sent[2]?.id, account],
        [sent[1]?.id, other],
        [sent[0]?.id, account],
      ],
      total: 3,
    });
    expect(await find({ to, account })).toEqual({
      found: [
        [sent[2]?.id, account],
        [sent[0]?.id, account],
      ],
      total: 2,
    });
    expect(await find({ to, limit: 1, page: 2 })).toEqual({ found: [[sent[1]?.id, other]], total: 3 });
    expect(await find({ to, status: 'failed' })).toEqual({ found: [], total: 0 });
    expect((await find({ account, limit: 1 })).total).toBe(3);
  });

  test('takes a number whose plus sign was not escaped', async () => {
    const { api } = await service.account();
    const { id } = await api.sent({ to: '+14155550203' });
    expect((await operator.get('/messages?to=+14155550203')).data).toMatchObject([{ id }]);
  });

  test.each([
    ['to', {}],
    ['to', { status: 'failed' }],
    ['to', { to: '\0' }],
    ['account', { account: 'nobody' }],
    ['status', { to: '+14155550201', status: 'lost' }],
  ])('is refused with a wrong or missing %s', async (param, query) => {
    const { status, error } = await operator.get('/messages', query);
    expect([status, error.param]).toEqual([400, param]);
  });
});

describe("a message's story", () => {
  test('tells of a failover, of receipts as they came, of money, events and deliveries, in order', async () => {
    const { api, accountId } = await service.account();
    const receiver = await startReceiver();
    const { id: endpointId } = await api.createWebhook({ url: receiver.url });
    const { id } = await api.sent({ to: '+99901005001', reference: 'order 7' });
    const story = await operator.storyWhere('the last delivery is told', id, ({ events }) =>
      events.some(({ type, deliveries }) => type === 'message.delivered' && deliveries[0]?.status === 'succeeded'),
    );
    expect(story).toMatchObject({
      object: 'message_story',
      account_id: toPublicId('acc', accountId),
      message: await api.get(id),
      segments: 1,
      route_id: 1,
      providers: ['twilio', 'vonage'],
      in_dispatch: null,
      attempts: [
        { provider: 'twilio', result: 'retryable', latency_ms: expect.any(Number), duplicate: false },
        { provider: 'vonage', result: 'accepted', provider_message_id: story.message.provider_message_id },
      ],
      ledger: [{ kind: 'charge', amount: -0.01 }],
    });
    expect(story.receipts.at(-1)).toMatchObject({ provider: 'vonage', attempt: 2, state: 'delivered' });
    expect(story.receipts.at(-1)?.raw).toContain('"status":"delivered"');
    expect(story.events.map(({ type }) => type)).toEqual(['message.sent', 'message.delivered']);
    expect((await api.eventsOf(id)).map((event) => event.id)).toEqual(story.events.map((event) => event.id));
    for (const { deliveries } of story.events) {
      expect(deliveries).toMatchObject([
        { endpoint_id: endpointId, url: receiver.url, status: 'succeeded', attempts: [{ status: 200, answer: 'ok' }] },
      ]);
    }
    const times = story.timeline.map(({ at }) => Date.parse(at));
    expect(times).toEqual(times.toSorted((first, second) => first - second));
    const kinds = kindsOf(story);
    expect(kinds.slice(0, 4)).toEqual(['accepted', 'charge', 'attempt', 'attempt']);
    expect(kinds.filter((kind) => kind === 'delivery')).toHaveLength(2);
  });

  test('tells of a refusal by every provider, and of the money given back', async () => {
    const { api } = await service.account();
    const { error } = await api.send({ to: '+99901006001' });
    const story = await operator.story(String(error.details?.['message_id']));
    expect(story.attempts.map(({ provider, result }) => `${provider} ${result}`)).toEqual([
      'twilio retryable',
      'vonage retryable',
    ]);
    expect(story.ledger.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['charge', -0.01],
      ['refund', 0.01],
    ]);
    expect(story.message).toMatchObject({ status: 'failed', cost: 0 });
    expect(kindsOf(story)).toContain('refund');
  });

  test('tells of a recipient who opted out: no attempt, no money', async () => {
    const { api, accountId } = await service.account();
    const json = { account: toPublicId('acc', accountId), recipients: ['+14155550204'] };
    await operator.expect(201, 'POST', '/suppressions', { json });
    const { error } = await api.send({ to: '+14155550204' });
    const story = await operator.story(String(error.details?.['message_id']));
    expect(story).toMatchObject({
      attempts: [],
      receipts: [],
      ledger: [],
      message: { error: { code: 'recipient_blocked' } },
    });
    expect(kindsOf(story)).toEqual(['accepted', 'event']);
    expect(story.timeline[1]?.text).toContain('has failed: recipient_blocked');
  });

  test('tells, while a message is pending, who has it in hand', async () => {
    const { api } = await service.account();
    const message = await api.sent({ to: '+99901007001' });
    expect(message.status).toBe('pending');
    const story = await operator.story(message.id);
    expect(story.in_dispatch).toEqual({ leased_until: expect.any(String), started: ['twilio'] });
    const settled = await operator.storyWhere(
      'it is settled',
      message.id,
      ({ in_dispatch: dispatch }) => dispatch === null,
    );
    expect(settled.attempts.map(({ provider, result }) => `${provider} ${result}`)).toEqual([
      'twilio unknown',
      'vonage accepted',
    ]);
  });

  test('tells of a delivery that waits for its next attempt', async () => {
    const { api } = await service.account();
    const receiver = await startReceiver((_request, response) => void response.writeHead(503).end('come back later'));
    await api.createWebhook({ url: receiver.url, events: ['message.sent'] });
    const { id } = await api.sent({ to: '+14155550205' });
    const story = await operator.storyWhere(
      'the attempt is told',
      id,
      ({ events }) => (events[0]?.deliveries[0]?.attempts.length ?? 0) > 0,
    );
    const [delivery] = story.events[0]?.deliveries ?? [];
    expect(delivery).toMatchObject({ status: 'pending', attempts: [{ status: 503, answer: 'come back later' }] });
    expect(Date.parse(delivery?.next_attempt_at ?? '')).toBeGreaterThan(Date.now() + 20_000);
  });

  test.each(['msg_01h455vb4pex5vsknk084sn02q', 'msg_x', 'evt_01h455vb4pex5vsknk084sn02q'])(
    'is only told of a message: %s is none',
    async (id) => {
      const { status, error } = await operator.get(`/messages/${id}/story`);
      expect([status, error.code]).toEqual([404, 'not_found']);
    },
  );
});
