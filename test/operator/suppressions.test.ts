import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toPublicId } from '../../src/lib/ids.ts';
import { TestService } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';
import { Operator } from './operator.ts';

let service: TestService;
let operator: Operator;
beforeAll(async () => {
  service = await TestService.start();
  operator = new Operator(service);
});
afterAll(() => service.stop());

type Suppression = { to: string; source: string; account_id: string };

async function startAccount() {
  const { api, accountId } = await service.account();
  return { api, account: toPublicId('acc', accountId) };
}

function numbers(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `+1415${String(5_550_000 + index)}`);
}

describe('a recipient whom the operator suppresses', () => {
  test('is sent nothing by that account from then on, until it is let go', async () => {
    const { api, account } = await startAccount();
    const other = await startAccount();
    const to = '+14155550101';
    expect(await operator.expect(201, 'POST', '/suppressions', { json: { account, recipients: [to] } })).toEqual({
      object: 'suppressions_added',
      account_id: account,
      added: 1,
      already_suppressed: 0,
    });
    expect((await api.send({ to })).error.code).toBe('recipient_blocked');
    await other.api.sent({ to });
    expect(await operator.expect(200, 'DELETE', '/suppressions', { query: { account, to } })).toEqual({
      id: to,
      object: 'suppression',
      deleted: true,
    });
    await api.sent({ to });
    expect((await operator.delete('/suppressions', { account, to })).status).toBe(404);
  });

  test('may be named again, and twice: nothing is lost by it', async () => {
    const { account } = await startAccount();
    const recipients = ['+14155550102', '+14155550103', '+14155550102'];
    const add = () => operator.expect(201, 'POST', '/suppressions', { json: { account, recipients } });
    expect(await add()).toMatchObject({ added: 2, already_suppressed: 1 });
    expect(await add()).toMatchObject({ added: 0, already_suppressed: 3 });
  });
});

describe('suppressions', () => {
  test('of opted-out recipients join by themselves, and tell where they came from', async () => {
    const { api, account } = await startAccount();
    const to = '+99901003001';
    expect((await api.send({ to })).status).toBe(400);
    const [suppression] = await until('the opt-out is known', async () => {
      const data = await operator.expect<Suppression[]>(200, 'GET', '/suppressions', { query: { account, to } });
      return data.length > 0 && data;
    });
    expect(suppression).toMatchObject({ to, source: 'twilio', account_id: account });
  });

  test('are listed by number, page by page to the end', async () => {
    const { account } = await startAccount();
    const recipients = numbers(120);
    await operator.expect(201, 'POST', '/suppressions', { json: { account, recipients: recipients.toReversed() } });
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query: Record<string, string | number> = { account, limit: 50, ...(cursor === null ? {} : { cursor }) };
      const answer = await operator.client.request<Suppression[]>('GET', '/suppressions', { query });
      expect(answer.status).toBe(200);
      seen.push(...answer.data.map(({ to }) => to));
      const pagination = answer.pagination as unknown as { has_more: boolean; next_cursor: string | null };
      expect(pagination.has_more).toBe(seen.length < 120);
      cursor = pagination.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(recipients);
  });

  test('can be looked up by a number whose plus sign was not escaped', async () => {
    const { account } = await startAccount();
    await operator.expect(201, 'POST', '/suppressions', { json: { account, recipients: ['+14155550104'] } });
    const { data } = await operator.get(`/suppressions?account=${account}&to=+14155550104`);
    expect(data).toHaveLength(1);
  });

  test.each([
    ['account', { recipients: ['+14155550100'] }],
    ['account', { account: 'acc_01h455vb4pex5vsknk084sn02q', recipients: ['+14155550100'] }],
    ['recipients', { recipients: [] }],
    ['recipients', { recipients: numbers(1_001) }],
    ['recipients.1', { recipients: ['+14155550100', '4155550100'] }],
    ['recipients.0', { recipients: [7] }],
  ])('are refused as a whole with a wrong %s', async (param, fields) => {
    const { account } = await startAccount();
    const json = param === 'account' ? fields : { account, ...fields };
    const { status, error } = await operator.post('/suppressions', json);
    expect([status, error.param]).toEqual([400, param]);
    expect((await operator.get('/suppressions', { account })).data).toEqual([]);
  });

  test.each([
    ['account', {}],
    ['to', { to: 'nobody' }],
    ['cursor', { cursor: '\0' }],
  ])('are not listed by a wrong %s', async (param, query) => {
    const { account } = await startAccount();
    const { status, error } = await operator.get('/suppressions', param === 'account' ? query : { account, ...query });
    expect([status, error.param]).toEqual([400, param]);
  });
});
