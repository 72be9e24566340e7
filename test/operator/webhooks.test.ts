import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { toPublicId } from '../../src/lib/ids.ts';
import type { DeliveryView } from '../../src/operator/story-schema.ts';
import { TestService, type TestAccount } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';
import { fail, ok, Receiver } from '../webhooks/receiver.ts';
import { Operator } from './operator.ts';

let service: TestService;
let operator: Operator;
let receiver: Receiver;
beforeAll(async () => {
  service = await TestService.start();
  operator = new Operator(service);
  receiver = await Receiver.start();
});
beforeEach(() => {
  receiver.answer = ok;
  receiver.requests.length = 0;
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
});

type Endpoint = {
  id: string;
  account_id: string;
  is_active: boolean;
  failure_count: number;
  disabled_at: string | null;
};
type Replay = { queued: number; next_cursor: string | null };

/** An account with an endpoint that is told of sent messages. */
async function startEndpoint(): Promise<TestAccount & { endpoint: string }> {
  const account = await service.account();
  const { id } = await account.api.createWebhook({ url: receiver.url, events: ['message.sent'] });
  return { ...account, endpoint: id };
}

async function deliveriesOf(endpoint: string, query: Record<string, string | number> = {}): Promise<DeliveryView[]> {
  return operator.expect(200, 'GET', '/deliveries', { query: { endpoint, ...query } });
}

/** Sends so many messages, and waits until their first attempts are written. */
async function send({ api, endpoint }: TestAccount & { endpoint: string }, count: number): Promise<void> {
  const before = (await deliveriesOf(endpoint, { limit: 100 })).length;
  for (let sent = 0; sent < count; sent += 1) await api.sent({ to: '+14155550300' });
  await until('all are attempted', async () => {
    const { length } = await deliveriesOf(endpoint, { limit: 100 });
    return length === before + count;
  });
}

describe('deliveries to an endpoint', () => {
  test('are listed newest first, by status, page by page', async () => {
    const account = await startEndpoint();
    const { endpoint } = account;
    await send(account, 3);
    receiver.answer = fail;
    await send(account, 2);
    const all = await deliveriesOf(endpoint);
    expect(all.map(({ status }) => status)).toEqual(['pending', 'pending', 'succeeded', 'succeeded', 'succeeded']);
    expect(all[0]).toEqual({
      object: 'delivery',
      account_id: toPublicId('acc', account.accountId),
      event_id: expect.stringMatching(/^evt_/),
      message_id: expect.stringMatching(/^msg_/),
      endpoint_id: endpoint,
      status: 'pending',
      next_attempt_at: expect.any(String),
      attempts: [
        { at: expect.any(String), status: 500, latency_ms: expect.any(Number), error: null, answer: 'broken' },
      ],
    });
    expect(await deliveriesOf(endpoint, { status: 'pending' })).toEqual(all.slice(0, 2));
    expect(await deliveriesOf(endpoint, { status: 'succeeded' })).toEqual(all.slice(2));
    expect(await deliveriesOf(endpoint, { status: 'abandoned' })).toEqual([]);
    const paged: DeliveryView[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const query: Record<string, string | number> = {
        endpoint,
        limit: 2,
        ...(cursor === undefined ? {} : { cursor }),
      };
      const answer = await operator.client.request<DeliveryView[]>('GET', '/deliveries', { query });
      paged.push(...answer.data);
      ({ next_cursor: cursor } = answer.pagination as unknown as { next_cursor: string | null });
    }
    expect(paged).toEqual(all);
  });

  test.each([
    ['endpoint', {}],
    ['endpoint', { endpoint: 'nobody' }],
    ['endpoint', { endpoint: 'whe_01h455vb4pex5vsknk084sn02q' }],
    ['status', { status: 'lost' }],
    ['cursor', { cursor: 'evt_x' }],
  ])('are not listed with a wrong %s', async (param, query) => {
    const { endpoint } = await startEndpoint();
    const { status, error } = await operator.get('/deliveries', param === 'endpoint' ? query : { endpoint, ...query });
    expect([status, error.param]).toEqual([400, param]);
  });
});

describe('replaying', () => {
  test('one event delivers it again with the same bytes', async () => {
    const account = await startEndpoint();
    await send(account, 1);
    const [delivery] = await deliveriesOf(account.endpoint);
    const json = { endpoint: account.endpoint, event: delivery?.event_id };
    expect(await operator.expect(200, 'POST', '/deliveries/replay', { json })).toEqual({
      object: 'replay',
      endpoint_id: account.endpoint,
      queued: 1,
      next_cursor: null,
    });
    await receiver.received(2);
    expect(receiver.requests[1]?.body).toBe(receiver.requests[0]?.body);
  });

  test('what a disabled endpoint missed works once the operator enables it', async () => {
    const account = await startEndpoint();
    const { endpoint } = account;
    const from = new Date(Date.now() - 60_000).toISOString();
    receiver.answer = fail;
    await send(account, 25);
    const find = (query: Record<string, string | number>) =>
      operator.expect<Endpoint[]>(200, 'GET', '/webhooks', { query });
    await until('the endpoint is disabled', async () => {
      const [found] = await find({ account: toPublicId('acc', account.accountId), is_active: 'false' });
      return found?.id === endpoint && found.disabled_at !== null;
    });
    expect((await find({ is_active: 'true' })).map(({ id }) => id)).not.toContain(endpoint);
    await account.api.sent({ to: '+14155550301' });

    const refused = await operator.post('/deliveries/replay', { endpoint, from });
    expect([refused.status, refused.error.param]).toEqual([400, 'endpoint']);
    receiver.answer = ok;
    receiver.requests.length = 0;
    const enabled = await operator.expect<Endpoint>(200, 'POST', `/webhooks/${endpoint}/enable`);
    expect(enabled).toMatchObject({ is_active: true, failure_count: 0, disabled_at: null });
    expect(JSON.stringify(enabled)).not.toContain('whsec_');
    const replayed = await operator.expect<Replay>(200, 'POST', '/deliveries/replay', { json: { endpoint, from } });
    expect(replayed.queued).toBe(26);
    await receiver.received(26);
    await until('all are acknowledged', async () => {
      const succeeded = await deliveriesOf(endpoint, { status: 'succeeded', limit: 100 });
      return succeeded.length === 26;
    });
    expect(await operator.expect(200, 'POST', '/deliveries/replay', { json: { endpoint, from } })).toMatchObject({
      queued: 0,
    });
  });

  test.each([
    ['endpoint', { endpoint: 'nobody', from: '2026-11-20T00:00:00Z' }],
    ['from', {}],
    ['from', { from: 'yesterday' }],
    ['until', { from: '2026-11-20T00:00:00Z', until: '2026-11-19T00:00:00Z' }],
    ['event', { event: 'nobody' }],
    ['event', { event: 'evt_01h455vb4pex5vsknk084sn02q', from: '2026-11-20T00:00:00Z' }],
    ['cursor', { cursor: 'nobody' }],
  ])('is refused with a wrong %s: %j', async (param, fields) => {
    const { endpoint } = await startEndpoint();
    const { status, error } = await operator.post('/deliveries/replay', { endpoint, ...fields });
    expect([status, error.param]).toEqual([400, param]);
  });
});

describe('an endpoint', () => {
  test('that does not exist cannot be enabled', async () => {
    for (const id of ['whe_01h455vb4pex5vsknk084sn02q', 'nobody']) {
      expect((await operator.post(`/webhooks/${id}/enable`)).status).toBe(404);
    }
  });
});
