import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestService, type TestAccount } from '../../test/helpers/service.ts';
import { until } from '../../test/helpers/until.ts';
import { createTestClock } from '../../test/helpers/clock.ts';
import { fromPublicId, toPublicId } from '../lib/ids.ts';
import { verifyLedger, type Difference } from './verify.ts';

const hourMs = 3_600_000;
const clock = createTestClock();
let service: TestService;
beforeAll(async () => {
  service = await TestService.start({ clock });
});
afterAll(() => service.stop());

let account: TestAccount;
let delivered: string;
let refused: string;

/** One message delivered and one refused an hour later, all books in order. */
beforeEach(async () => {
  account = await service.account({ balance: 1 });
  delivered = (await account.api.sent({ to: '+9990100101' })).id;
  clock.advance(hourMs);
  refused = String((await account.api.send({ to: '+9990100201' })).error.details?.['message_id']);
  await until('delivered', async () => (await account.api.get(delivered)).status === 'delivered');
});

/** What the check finds after a statement put the books of the account in disorder, and after another put them right. */
async function findAfter(disorder: string, order: string): Promise<Array<Omit<Difference, 'accountId'>>> {
  const change = (statement: string) =>
    service.pool.query(statement, statement.includes('$1') ? [account.accountId] : []);
  const found: Difference[] = [];
  await change(disorder);
  try {
    for await (const difference of verifyLedger(service.pool, { accountId: account.accountId })) found.push(difference);
    const overAll = await service.differences();
    expect(overAll).toEqual(found);
  } finally {
    await change(order);
  }
  expect(await service.differences()).toEqual([]);
  expect(new Set(found.map(({ accountId }) => accountId))).toEqual(new Set([toPublicId('acc', account.accountId)]));
  return found.map(({ accountId: _own, ...difference }) => difference);
}

const uuid = (messageId: string): string => `'${fromPublicId('msg', messageId)}'`;

describe('the ledger check finds', () => {
  it('nothing where all is in order, and with nothing to look at', async () => {
    await service.account({ balance: 0 });
    expect(await service.differences()).toEqual([]);
  });

  it('a balance that is not the sum of the entries', async () => {
    const differences = await findAfter(
      'UPDATE accounts SET balance_micros = balance_micros + 1 WHERE account_id = $1',
      'UPDATE accounts SET balance_micros = balance_micros - 1 WHERE account_id = $1',
    );
    expect(differences).toEqual([{ what: 'balance', of: null, expected: 990_000, found: 990_001 }]);
  });

  it('a message that costs another amount than was charged', async () => {
    const differences = await findAfter(
      `UPDATE messages SET cost_micros = 20000 WHERE account_id = $1 AND id = ${uuid(delivered)}`,
      `UPDATE messages SET cost_micros = 10000 WHERE account_id = $1 AND id = ${uuid(delivered)}`,
    );
    expect(differences).toEqual([{ what: 'charge', of: delivered, expected: 20_000, found: 10_000 }]);
  });

  it('a charge without a message', async () => {
    const id = service.app.ids.next();
    const differences = await findAfter(
      `WITH paid AS (UPDATE accounts SET balance_micros = balance_micros - 7 WHERE account_id = $1)
       INSERT INTO ledger_entries VALUES ($1, '${id}', 'charge', -7, NULL, now())`,
      `WITH back AS (UPDATE accounts SET balance_micros = balance_micros + 7 WHERE account_id = $1)
       DELETE FROM ledger_entries WHERE account_id = $1 AND id = '${id}'`,
    );
    expect(differences).toEqual([
      {
        what: 'money_counted',
        of: expect.stringMatching(/:00:00\.000\+00:00 charged$/),
        expected: 10_007,
        found: 10_000,
      },
      { what: 'charge', of: toPublicId('msg', id), expected: 0, found: 7 },
    ]);
  });

  it('a refund that is missing', async () => {
    const differences = await findAfter(
      `WITH gone AS (DELETE FROM ledger_entries WHERE account_id = $1 AND kind = 'refund')
       UPDATE accounts SET balance_micros = balance_micros - 10000 WHERE account_id = $1`,
      `WITH back AS (INSERT INTO ledger_entries VALUES ($1, ${uuid(refused)}, 'refund', 10000, NULL, now()))
       UPDATE accounts SET balance_micros = balance_micros + 10000 WHERE account_id = $1`,
    );
    expect(differences).toEqual([
      { what: 'money_counted', of: expect.stringMatching(/ refunded$/), expected: 0, found: 10_000 },
      { what: 'charge', of: refused, expected: 0, found: 10_000 },
    ]);
  });

  it('hourly counts that are not those of the messages', async () => {
    const differences = await findAfter(
      `UPDATE usage_hourly SET messages = messages + 1 WHERE account_id = $1 AND status IN ('delivered', 'failed')`,
      `UPDATE usage_hourly SET messages = messages - 1 WHERE account_id = $1 AND status IN ('delivered', 'failed')`,
    );
    expect(differences).toEqual([
      { what: 'messages_counted', of: expect.stringMatching(/\+00:00 delivered$/), expected: 1, found: 2 },
      { what: 'messages_counted', of: expect.stringMatching(/\+00:00 failed$/), expected: 1, found: 2 },
    ]);
  });

  it('hourly counts where there are no messages at all', async () => {
    const differences = await findAfter(
      `INSERT INTO usage_hourly VALUES ($1, date_trunc('hour', now()) - interval '3 hours', 'sent', 4, 0)`,
      `DELETE FROM usage_hourly WHERE account_id = $1 AND messages = 4`,
    );
    expect(differences).toEqual([
      { what: 'messages_counted', of: expect.stringMatching(/\+00:00 sent$/), expected: 0, found: 4 },
    ]);
  });

  it('messages that are not counted', async () => {
    const differences = await findAfter(
      `UPDATE usage_hourly SET messages = 0 WHERE account_id = $1 AND status = 'accepted'`,
      `UPDATE usage_hourly SET messages = 1 WHERE account_id = $1 AND status = 'accepted'`,
    );
    expect(differences).toEqual([
      { what: 'messages_counted', of: expect.stringMatching(/\+00:00 accepted$/), expected: 1, found: 0 },
      { what: 'messages_counted', of: expect.stringMatching(/\+00:00 accepted$/), expected: 1, found: 0 },
    ]);
  });

  it('hourly counts of events that are not those of the events', async () => {
    const differences = await findAfter(
      `UPDATE events_hourly SET events = 5 WHERE account_id = $1 AND type = 'message.delivered'`,
      `UPDATE events_hourly SET events = 1 WHERE account_id = $1 AND type = 'message.delivered'`,
    );
    expect(differences).toEqual([
      { what: 'events_counted', of: expect.stringMatching(/\+00:00 message\.delivered$/), expected: 1, found: 5 },
    ]);
  });

  it('a settled message that is still queued', async () => {
    const differences = await findAfter(
      `INSERT INTO dispatch_queue VALUES ($1, ${uuid(delivered)}, now() + interval '1 day', '{}')`,
      `DELETE FROM dispatch_queue WHERE account_id = $1`,
    );
    expect(differences).toEqual([{ what: 'queued', of: delivered, expected: 0, found: 1 }]);
  });

  it('a pending message that is not queued, and names each of thousands', async () => {
    const { rows } = await service.pool.query<{ id: string }>(
      `SELECT (substring(id::text, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid AS id
       FROM messages, generate_series(1, 2500) n WHERE account_id = $1 AND id = ${uuid(delivered)} ORDER BY 1`,
      [account.accountId],
    );
    const hour = `date_trunc('hour', (SELECT min(hour) FROM usage_hourly WHERE account_id = $1))`;
    const differences = await findAfter(
      `WITH counted AS (UPDATE usage_hourly SET messages = messages + 2500 WHERE account_id = $1 AND status = 'accepted' AND hour = ${hour})
       INSERT INTO messages (account_id, id, recipient, sender, body, segments, cost_micros, currency, providers, status)
       SELECT $1, (substring(${uuid(delivered)}, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid, '+14155550123', 'HELIO', 'Hello', 1, 0, 'USD', '{}',
         'pending'
       FROM generate_series(1, 2500) n`,
      `WITH counted AS (UPDATE usage_hourly SET messages = messages - 2500 WHERE account_id = $1 AND status = 'accepted' AND hour = ${hour})
       DELETE FROM messages WHERE account_id = $1 AND status = 'pending'`,
    );
    expect(differences).toEqual(
      rows.map(({ id }) => ({ what: 'queued', of: toPublicId('msg', id), expected: 1, found: 0 })),
    );
  });
});

it('a caller that stops at the first difference leaves no connection behind', async () => {
  await service.pool.query('UPDATE accounts SET balance_micros = balance_micros + 1 WHERE account_id = $1', [
    account.accountId,
  ]);
  for await (const difference of verifyLedger(service.pool)) {
    expect(difference.what).toBe('balance');
    break;
  }
  await until('all connections are idle', () => service.pool.totalCount === service.pool.idleCount);
  await service.pool.query('UPDATE accounts SET balance_micros = balance_micros - 1 WHERE account_id = $1', [
    account.accountId,
  ]);
});

it('the check may run while messages are sent: it sees each account at one moment', async () => {
  const sending = account.api.bulk({ recipients: Array.from({ length: 80 }, (_, index) => `+99901005${index}`) });
  const found: Difference[] = [];
  const sent = new AbortController();
  void sending.finally(() => sent.abort());
  while (!sent.signal.aborted) found.push(...(await service.differences()));
  expect(found).toEqual([]);
  await sending;
});
