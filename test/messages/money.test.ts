import { afterAll, describe, expect, it } from 'vitest';
import { TestService, type TestAccount } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';

const service = await TestService.start();
afterAll(() => service.stop());

/** Costs 0.01 a segment by the default of the rate card. */
const priced = (digits: string): string => `+99901${digits}`;

async function spent({ api }: TestAccount): Promise<number> {
  let micros = 0;
  for (let page = 1; ; page += 1) {
    const { data, pagination } = await api.list({ page, limit: 100 });
    micros += data.reduce((sum, { cost }) => sum + Math.round(cost * 1_000_000), 0);
    if (!pagination.has_more) return micros / 1_000_000;
  }
}

describe('the balance', () => {
  it('pays for a message when it is accepted, before any provider answers', async () => {
    await service.disturb('twilio', { latencyMs: 300 });
    const { api } = await service.account({ balance: 1 });
    const sending = api.sent({ to: priced('0011') });
    await until('the message is stored', async () => (await api.list({ status: 'pending' })).pagination.total === 1);
    expect(await api.balance()).toBe(0.99);
    await sending;
    await service.disturb('twilio', { latencyMs: 0 });
    expect(await api.balance()).toBe(0.99);
  });

  it.each([
    ['a provider refused for good', '0021'],
    ['no provider would take', '0061'],
  ])('gets back what a message cost that %s, and the message costs 0', async (_reason, digits) => {
    const { api } = await service.account({ balance: 1 });
    const { error } = await api.send({ to: priced(digits) });
    const message = await api.get(String(error.details?.['message_id']));
    expect(message).toMatchObject({ status: 'failed', cost: 0 });
    expect(await api.balance()).toBe(1);
  });

  it.each([
    ['failed', '0081'],
    ['expired', '0091'],
  ])('keeps what a message cost that a provider accepted and the carrier reported %s', async (_what, digits) => {
    const { api } = await service.account({ balance: 1 });
    const { id } = await api.sent({ to: priced(digits) });
    const message = await until('the report came', async () => {
      const current = await api.get(id);
      return current.failed_at !== null && current;
    });
    expect(message.cost).toBe(0.01);
    expect(await api.balance()).toBe(0.99);
  });

  it('can be spent to the last micro-unit', async () => {
    const { api } = await service.account({ balance: 0.02 });
    await api.sent({ to: priced('0011') });
    await api.sent({ to: priced('0011') });
    expect(await api.balance()).toBe(0);
  });

  it('that does not cover a send refuses it with 402: nothing is stored, and no provider is asked', async () => {
    const { api } = await service.account({ balance: 0.019_999 });
    const to = priced('001402');
    const { status, error } = await api.send({ to, body: 'a'.repeat(161) });
    expect({ status, type: error.type, code: error.code }).toEqual({
      status: 402,
      type: 'balance_error',
      code: 'insufficient_balance',
    });
    expect((await api.list()).pagination.total).toBe(0);
    expect(await service.asked(to)).toEqual([]);
    expect(await api.balance()).toBe(0.019_999);
    await api.sent({ to });
  });

  it('of zero still sends what costs nothing to refuse: a malformed bulk', async () => {
    const { api } = await service.account({ balance: 0 });
    const { status, data } = await api.bulk({ recipients: ['nobody', 'nowhere'] });
    expect({ status, sent: data.sent, failed: data.failed }).toEqual({ status: 201, sent: 0, failed: 2 });
  });
});

describe('a bulk that the balance covers in part', () => {
  it('is paid for in the order of its recipients; the rest fails at no cost', async () => {
    const { api } = await service.account({ balance: 0.035 });
    const recipients = ['0011', '0012', '0013', '0014', '0015'].map(priced);
    const { status, data } = await api.bulk({ recipients });
    expect(status).toBe(201);
    expect(data).toMatchObject({ total: 5, sent: 3, failed: 2 });
    expect(data.messages.map(({ to, cost }) => [to, cost])).toEqual(
      recipients.map((to, index) => [to, index < 3 ? 0.01 : 0]),
    );
    expect(data.messages.map(({ error }) => error?.code)).toEqual([
      undefined,
      undefined,
      undefined,
      'insufficient_balance',
      'insufficient_balance',
    ]);
    expect(await api.balance()).toBe(0.005);
  });

  it('stores the messages it did not cover as failed, each with its event', async () => {
    const { api } = await service.account({ balance: 0.01 });
    const { data } = await api.bulk({ recipients: [priced('0011'), priced('0012')] });
    const uncovered = await api.get(String(data.messages[1]?.id));
    expect(uncovered).toMatchObject({
      status: 'failed',
      cost: 0,
      attempts: 0,
      provider: null,
      error: { code: 'insufficient_balance' },
    });
    expect((await api.eventsOf(uncovered.id)).map(({ type }) => type)).toEqual(['message.failed']);
  });

  it('spends nothing on recipients that fail for reasons of their own', async () => {
    const { api } = await service.account({ balance: 0.02 });
    await api.send({ to: priced('0039') });
    const { data } = await api.bulk({
      recipients: ['malformed', priced('0039'), priced('0011'), 'malformed', priced('0012'), priced('0013')],
    });
    expect(data.messages.map(({ error }) => error?.code ?? 'sent')).toEqual([
      'invalid_recipient',
      'recipient_blocked',
      'sent',
      'invalid_recipient',
      'sent',
      'insufficient_balance',
    ]);
    expect(await api.balance()).toBe(0);
  });

  it('is refused with 402 and stores nothing when not even one message is covered', async () => {
    const { api } = await service.account({ balance: 0.009_999 });
    const { status, error } = await api.bulk({ recipients: ['malformed', priced('0011'), priced('0012')] });
    expect({ status, code: error.code }).toEqual({ status: 402, code: 'insufficient_balance' });
    expect((await api.list()).pagination.total).toBe(0);
    expect(await api.balance()).toBe(0.009_999);
  });
});

describe('under concurrency', () => {
  it('a balance for 10 messages sends exactly 10 of 50 and is never below zero', async () => {
    const account = await service.account({ balance: 0.1 });
    const answers = await Promise.all(Array.from({ length: 50 }, () => account.api.send({ to: priced('0011') })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(40);
    expect(await account.api.balance()).toBe(0);
    expect(await spent(account)).toBe(0.1);
  });

  it('sends and bulks of one account, on two processes, spend exactly what there is', async () => {
    const account = await service.account({ balance: 0.5 });
    const peer = await service.peer();
    const elsewhere = account.api.at(`${peer.url}/api/v1`);
    const recipients = Array.from({ length: 8 }, (_, index) => priced(`0011${index}`));
    const [bulks, singles] = await Promise.all([
      Promise.all(
        Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? account.api : elsewhere).bulk({ recipients })),
      ),
      Promise.all(Array.from({ length: 10 }, () => elsewhere.send({ to: priced('0011') }))),
    ]);
    const inBulk = bulks.reduce((sum, { status, data }) => sum + (status === 201 ? data.sent : 0), 0);
    expect(inBulk + singles.filter(({ status }) => status === 201).length).toBe(50);
    expect(await account.api.balance()).toBe(0);
    expect(await spent(account)).toBe(0.5);
  });

  it('the balance is always the credits less what the messages cost', async () => {
    const account = await service.account({ balance: 0.3 });
    const digits = ['0011', '0021', '0031', '0041', '0051', '0061', '0081', '0121', '0131'];
    const answers = await Promise.all([
      ...digits.map((suffix) => account.api.send({ to: priced(suffix) })),
      account.api.bulk({ recipients: digits.map(priced) }),
      ...digits.map((suffix) => account.api.send({ to: priced(`${suffix}7`), body: 'ж'.repeat(71) })),
      service.topUp(account.accountId, 0.07),
    ]);
    expect(answers.length).toBe(20);
    await until(
      'nothing is pending',
      async () => (await account.api.list({ status: 'pending' })).pagination.total === 0,
    );
    const balance = await account.api.balance();
    expect(balance + (await spent(account))).toBeCloseTo(0.37, 9);
  });
});
