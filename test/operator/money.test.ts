import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestService } from '../helpers/service.ts';
import { Operator, type Transfer } from './operator.ts';

let service: TestService;
let operator: Operator;
// Its end checks that every balance is the sum of the ledger.
beforeAll(async () => {
  service = await TestService.start();
  operator = new Operator(service);
});
afterAll(() => service.stop());

function topUp(id: string, amount: unknown, note?: unknown) {
  return operator.post(`/accounts/${id}/top-ups`, { amount, note });
}

function adjust(id: string, amount: unknown, note: unknown = 'a correction') {
  return operator.post(`/accounts/${id}/adjustments`, { amount, note });
}

async function balanceOf(id: string): Promise<number> {
  return (await operator.expect<{ balance: number }>(200, 'GET', `/accounts/${id}`)).balance;
}

describe('money', () => {
  test('is put on and taken off to the micro-unit, and the new balance told', async () => {
    const { id } = await operator.createAccount({ currency: 'EUR' });
    const { data, status } = await topUp(id, 0.1, 'invoice 7');
    expect([status, data]).toEqual([
      201,
      {
        object: 'transfer',
        account_id: id,
        kind: 'top_up',
        amount: 0.1,
        currency: 'EUR',
        note: 'invoice 7',
        balance: 0.1,
        created_at: expect.any(String),
      },
    ]);
    expect((await topUp(id, 0.2)).data).toMatchObject({ balance: 0.3 });
    expect((await adjust(id, -0.000001)).data).toMatchObject({
      kind: 'adjustment',
      amount: -0.000001,
      balance: 0.299999,
    });
    expect((await adjust(id, 1.5)).data).toMatchObject({ balance: 1.799999 });
    expect((await adjust(id, -1.799999)).data).toMatchObject({ balance: 0 });
    const { rows } = await service.pool.query(
      `SELECT kind, amount_micros, note FROM ledger_entries l JOIN accounts a USING (account_id)
       WHERE a.currency = 'EUR' ORDER BY id`,
    );
    expect(rows).toEqual([
      { kind: 'top_up', amount_micros: 100_000, note: 'invoice 7' },
      { kind: 'top_up', amount_micros: 200_000, note: 'top-up' },
      { kind: 'adjustment', amount_micros: -1, note: 'a correction' },
      { kind: 'adjustment', amount_micros: 1_500_000, note: 'a correction' },
      { kind: 'adjustment', amount_micros: -1_799_999, note: 'a correction' },
    ]);
  });

  test('that is not there cannot be taken off', async () => {
    const { id } = await operator.createAccount();
    await topUp(id, 5);
    const { status, error } = await adjust(id, -5.000001);
    expect([status, error]).toEqual([
      400,
      {
        type: 'invalid_request_error',
        code: 'invalid_request',
        message: 'The balance is 5 and cannot fall below zero. Take off at most that much.',
        param: 'amount',
      },
    ]);
    expect(await balanceOf(id)).toBe(5);
  });

  test('is taken off once only, however many do it at the same time', async () => {
    const { id } = await operator.createAccount();
    await topUp(id, 100);
    const answers = await Promise.all(Array.from({ length: 25 }, () => adjust(id, -10)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(await balanceOf(id)).toBe(0);
  });

  test('cannot grow beyond what a balance can be', async () => {
    const { id } = await operator.createAccount();
    for (let times = 0; times < 9; times += 1) expect((await topUp(id, 1_000_000_000)).status).toBe(201);
    const { status, error } = await topUp(id, 1_000_000_000);
    expect([status, error.param]).toEqual([400, 'amount']);
    expect(await balanceOf(id)).toBe(9_000_000_000);
  });

  test.each([0, -1, 0.0000001, 1_000_000_001, '5', null, undefined])('is not topped up by %s', async (amount) => {
    const { id } = await operator.createAccount();
    const { status, error } = await topUp(id, amount);
    expect([status, error.param]).toEqual([400, 'amount']);
  });

  test.each([undefined, '', 'x'.repeat(256), 'x\0', 7])('is not adjusted without a proper note: %j', async (note) => {
    const { id } = await operator.createAccount();
    const { status, error } = await operator.post(`/accounts/${id}/adjustments`, { amount: 1, note });
    expect([status, error.param]).toEqual([400, 'note']);
  });

  test('moves once for one Idempotency-Key, however often and however fast it is asked for', async () => {
    const { id } = await operator.createAccount();
    const repeat = (path: string, json: object, key: string) =>
      operator.client.request<Transfer>('POST', `/accounts/${id}/${path}`, {
        json,
        headers: { 'Idempotency-Key': key },
      });
    const once = () => repeat('top-ups', { amount: 5 }, 'invoice 7');
    const answers = [...(await Promise.all(Array.from({ length: 8 }, once))), await once()];
    expect(new Set(answers.map(({ status, data }) => JSON.stringify([status, data]))).size).toBe(1);
    expect(answers[0]?.data.balance).toBe(5);
    expect((await repeat('top-ups', { amount: 5 }, 'invoice 8')).data.balance).toBe(10);
    for (const other of [
      repeat('top-ups', { amount: 6 }, 'invoice 7'),
      repeat('adjustments', { amount: 5, note: 'top-up' }, 'invoice 7'),
    ]) {
      const { status, error } = await other;
      expect([status, error.code]).toEqual([400, 'idempotency_conflict']);
    }
    // What was refused has not used its key up.
    expect((await repeat('adjustments', { amount: -11, note: 'n' }, 'refused')).status).toBe(400);
    await topUp(id, 5);
    expect((await repeat('adjustments', { amount: -11, note: 'n' }, 'refused')).data.balance).toBe(4);
  });

  test('is spent by sending', async () => {
    const { api } = await service.account({ balance: 0 });
    expect((await api.send({ to: '+14155550100' })).error.code).toBe('insufficient_balance');
    const { id } = (await api.request<{ id: string }>('GET', '/account')).data;
    const { balance } = await operator.expect<Transfer>(201, 'POST', `/accounts/${id}/top-ups`, {
      json: { amount: 0.01 },
    });
    expect(balance).toBe(0.01);
    await api.sent({ to: '+14155550100' });
    expect(await balanceOf(id)).toBe(0.0021);
  });
});
