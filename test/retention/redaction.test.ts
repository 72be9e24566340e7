import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Message } from '../../src/events/message-view.ts';
import { fromPublicId } from '../../src/lib/ids.ts';
import { redactNumber, type Redaction } from '../../src/retention/redaction.ts';
import { createTestClock } from '../helpers/clock.ts';
import { reportAsTwilio } from '../helpers/receipts.ts';
import { TestService, type TestAccount } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';
import { Operator } from '../operator/operator.ts';
import { Receiver } from '../webhooks/receiver.ts';

const clock = createTestClock();
let service: TestService;
let operator: Operator;
let receiver: Receiver;
beforeAll(async () => {
  service = await TestService.start({ clock });
  operator = new Operator(service);
  // What a receiver answers may repeat what it was sent.
  receiver = await Receiver.start(({ body }, response) => void response.end(body));
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
});

type Answer = { is_complete: boolean; pending_messages: number; redacted: Record<string, number> };

function redact(number: string): Promise<Answer> {
  return operator.expect<Answer>(200, 'POST', '/redactions', { json: { number } });
}

/** The tables, suppressions apart, in which a text occurs anywhere. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows } = await service.pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await service.pool.query(`SELECT FROM ${name} t WHERE position($1 IN t::text) > 0 LIMIT 1`, [
      text,
    ]);
    if (rowCount !== 0 && name !== 'suppressions') found.push(name);
  }
  return found.toSorted();
}

async function settled(account: TestAccount, ids: string[]): Promise<void> {
  for (const id of ids) {
    await until('settled', async () => !['pending', 'sent'].includes((await account.api.get(id)).status));
  }
  await until('its webhooks are answered', async () => {
    const { rows } = await service.pool.query('SELECT FROM delivery_queue');
    return rows.length === 0;
  });
}

describe('a redacted number', () => {
  const to = '+9990100140';
  const bystander = '+9990100141';
  let account: TestAccount;
  let other: TestAccount;
  let before: Message[];
  let after: Message[];
  let answer: Answer;
  let first: Message;

  beforeAll(async () => {
    [account, other] = await Promise.all([service.account(), service.account()]);
    await account.api.createWebhook({ url: receiver.url });
    first = await account.api.sent(
      { to, body: 'A secret for one', reference: 'customer 4711' },
      { 'idempotency-key': 'single' },
    );
    const { data: bulk } = await account.api.bulk(
      { recipients: [to, bystander, to.slice(1), `00${to.slice(1)}`], body: 'A secret for two' },
      { 'idempotency-key': 'bulk' },
    );
    const elsewhere = await other.api.sent({ to, body: 'A secret of another account' });
    await settled(account, [first.id, ...bulk.messages.map(({ id }) => id)]);
    await settled(other, [elsewhere.id]);
    before = (await account.api.list()).data;
    expect(await tablesWith(to.slice(1))).toEqual(['deliveries', 'idempotency_keys', 'messages', 'receipts']);
    answer = await redact(to);
    after = (await account.api.list()).data;
  });

  it('is in no table any more, nor is what was sent to it', async () => {
    expect(await tablesWith(to.slice(1))).toEqual([]);
    expect(await tablesWith('A secret for one')).toEqual([]);
    expect(await tablesWith('A secret of another account')).toEqual([]);
    expect(await tablesWith('customer 4711')).toEqual([]);
  });

  it('is told of as redacted, and everything else of its messages as before', async () => {
    const masked = { to: '[redacted]', body: '[redacted]', reference: null };
    expect(after).toEqual(before.map((message) => (message.to === bystander ? message : { ...message, ...masked })));
    for (const message of after) expect(await account.api.get(message.id)).toEqual(message);
    const { data: events } = await account.api.request<Array<{ data: Message }>>('GET', '/events', {
      query: { limit: 100 },
    });
    expect(events).toHaveLength(8);
    for (const { data } of events) expect(data.to === bystander || data.to === '[redacted]').toBe(true);
    expect((await account.api.list({ to })).pagination.total).toBe(0);
  });

  it('is counted', async () => {
    expect(answer).toMatchObject({
      is_complete: true,
      pending_messages: 0,
      redacted: { messages: 5, receipts: 6, deliveries: 6, idempotent_answers: 2, unmatched_receipts: 0 },
    });
    expect((await redact(to)).redacted['messages']).toBe(0);
  });

  it('leaves other recipients of the same bulk alone', async () => {
    const message = after.find((each) => each.to === bystander);
    expect(message?.body).toBe('A secret for two');
    const story = await operator.story(String(message?.id));
    expect(story.receipts.map(({ raw }) => raw).join()).toContain(encodeURIComponent(bystander));
    expect(story.events[1]?.deliveries[0]?.attempts[0]?.answer).toContain(bystander);
  });

  it('is not in the replay of a request either', async () => {
    const single = await account.api.send(
      { to, body: 'A secret for one', reference: 'customer 4711' },
      { 'idempotency-key': 'single' },
    );
    expect(single.headers.get('idempotent-replayed')).toBe('true');
    expect(single.data).toEqual({ ...first, to: '[redacted]', body: '[redacted]', reference: null });
    const bulk = await account.api.bulk(
      { recipients: [to, bystander, to.slice(1), `00${to.slice(1)}`], body: 'A secret for two' },
      { 'idempotency-key': 'bulk' },
    );
    expect(bulk.data.messages.map((message) => message.to)).toEqual([
      '[redacted]',
      bystander,
      '[redacted]',
      '[redacted]',
    ]);
  });

  it('is in no story, whose receipts and answers are gone and whose course is not', async () => {
    const message = after.find(({ status, to: shown }) => status === 'delivered' && shown === '[redacted]');
    const story = await operator.story(String(message?.id));
    expect(JSON.stringify(story)).not.toContain(to.slice(1));
    expect(story.receipts).toMatchObject([{ raw: '[redacted]' }, { raw: '[redacted]', state: 'delivered' }]);
    expect(story.events.map(({ deliveries }) => deliveries[0]?.attempts[0])).toMatchObject([
      { status: 200, answer: '[redacted]' },
      { status: 200, answer: '[redacted]' },
    ]);
  });

  it('can be sent to again, which is a message like any other', async () => {
    const message = await other.api.sent({ to, body: 'Welcome back' });
    await settled(other, [message.id]);
    expect(await other.api.get(message.id)).toMatchObject({ to, body: 'Welcome back', status: 'delivered' });
    await redact(to);
    expect(await tablesWith('Welcome back')).toEqual([]);
  });
});

it('what an upstream said of a redacted number goes, and its opt-out stays', async () => {
  const { accountId, api } = await service.account();
  const to = '+9990100340';
  const { error } = await api.send({ to });
  const id = String(error.details?.['message_id']);
  await service.pool.query(
    `UPDATE messages SET attempts = jsonb_set(attempts, '{0,detail}', to_jsonb($2::text)) WHERE id = $1`,
    [fromPublicId('msg', id), `The number ${to} has opted out`],
  );
  await redact(to);
  expect(await tablesWith(to.slice(1))).toEqual([]);
  expect((await service.story(id))[0]).toMatchObject({
    provider: 'twilio',
    result: 'rejected',
    code: expect.any(String),
  });
  const { rows } = await service.pool.query('SELECT recipient FROM suppressions WHERE account_id = $1', [accountId]);
  expect(rows).toEqual([{ recipient: to }]);
  expect((await api.send({ to })).error.code).toBe('recipient_blocked');
});

it('a receipt that comes later settles its message, and brings the number back nowhere', async () => {
  const { api } = await service.account();
  const to = '+9990101040';
  const message = await api.sent({ to });
  const [asked] = await service.asked(to);
  await redact(to);
  const report = (status: string, extra: object = {}) =>
    reportAsTwilio(String(asked?.callbackUrl), { MessageStatus: status, To: to, ...extra } as never);
  expect(await report('undelivered', { ErrorCode: '21610' })).toEqual({ status: 200 });
  expect((await api.get(message.id)).status).toBe('failed');
  expect(await tablesWith(to.slice(1))).toEqual([]);
  const { rows } = await service.pool.query(`SELECT FROM suppressions WHERE recipient = '[redacted]'`);
  expect(rows).toEqual([]);
});

it('a message that is being sent keeps its number until it is, and is told of', async () => {
  const { api } = await service.account();
  const to = '+9990101440';
  const sending = api.sent({ to });
  await until('under way', async () => (await service.asked(to)).length === 1);
  expect(await redact(to)).toMatchObject({ is_complete: true, pending_messages: 1, redacted: { messages: 0 } });
  expect(await sending).toMatchObject({ to, status: 'sent' });
  expect(await redact(to)).toMatchObject({ pending_messages: 0, redacted: { messages: 1 } });
});

it('unmatched receipts that hold the number are redacted, however it is written, and no others', async () => {
  const insert = (raw: string): Promise<unknown> =>
    service.pool.query(
      `INSERT INTO unmatched_receipts (id, provider, provider_message_id, reason, raw, received_at, receipt, next_try_at)
       VALUES ($1, 'twilio', 'SM1', 'test', $2, now(), '{}', 'infinity')`,
      [randomUUID(), raw],
    );
  const holding = [
    'POST \nTo=%2B4915112345678&x=1',
    '{"to":"4915112345678"}',
    'to=%204915112345678',
    'to:+4915112345678',
  ];
  const others = ['{"to":"49151123456789"}', '{"to":"14915112345678"}', '{"id":"00000000-4915-1123-4567-8"}'];
  for (const raw of [...holding, ...others]) await insert(raw);
  expect((await redact('+4915112345678')).redacted['unmatched_receipts']).toBe(holding.length);
  const { rows } = await service.pool.query<{ raw: string }>(
    'SELECT raw FROM unmatched_receipts WHERE receipt IS NOT NULL',
  );
  expect(rows.map(({ raw }) => raw).toSorted()).toEqual(others.toSorted());
});

it('a redaction goes on where it was broken off', async () => {
  const { api } = await service.account();
  const to = '+9990101041';
  await api.bulk({ recipients: Array.from({ length: 250 }, () => to) });
  const parts: Redaction[] = [];
  do parts.push(await redactNumber({ pool: service.pool, clock }, to, 0));
  while (parts.at(-1)?.isComplete === false);
  expect(parts.map(({ messages }) => messages).slice(0, 3)).toEqual([100, 100, 50]);
  expect(await tablesWith(to.slice(1))).toEqual([]);
});

it('a number that is none is refused', async () => {
  for (const number of ['9990100140', '+1', '[redacted]', '', '+99901001400000000', 5, undefined]) {
    const { status, error } = await operator.post('/redactions', { number });
    expect([status, error.param]).toEqual([400, 'number']);
  }
});
