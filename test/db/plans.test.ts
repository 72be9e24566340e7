import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { claimOrphans } from '../../src/dispatch/queries.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { claimDue, deleteFromQueue } from '../../src/webhooks/delivery-queries.ts';
import { reportAsTwilio } from '../helpers/receipts.ts';
import { TestService } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';

type Statement = { text: string; parameters: number };
type Node = { 'Node Type': string; 'Relation Name'?: string; 'Index Cond'?: string; Filter?: string; Plans?: Node[] };

/** The statements that ran, by their names. */
const statements = new Map<string, Statement>();
const { query } = pg.Client.prototype as { query: (this: pg.Client, ...given: unknown[]) => unknown };
vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function note(this: pg.Client, ...given: unknown[]) {
  const [{ name, text, values }] = given as [Partial<pg.QueryConfig>];
  if (name !== undefined && text !== undefined) statements.set(name, { text, parameters: values?.length ?? 0 });
  return Reflect.apply(query, this, given) as never;
});

// A database nobody has analyzed: its plans are made as those of an empty one are.
const service = await TestService.start();
afterAll(() => service.stop());

function statementOf(name: string): Statement {
  const statement = statements.get(name);
  if (statement === undefined) throw new Error(`${name} did not run: ${[...statements.keys()].join(', ')}`);
  return statement;
}

/** The plan that every execution on this connection has, whatever its values. */
async function planOf({ text, parameters }: Statement): Promise<Node[]> {
  const client = await service.pool.connect();
  try {
    await client.query(`PREPARE statement AS ${text}`);
    const values = Array.from({ length: parameters }, () => 'NULL').join(', ');
    const { rows } = await client.query<{ 'QUERY PLAN': Array<{ Plan: Node }> }>(
      `EXPLAIN (FORMAT JSON) EXECUTE statement (${values})`,
    );
    await client.query('DEALLOCATE statement');
    const withInner = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(withInner)];
    return rows.flatMap((row) => row['QUERY PLAN']).flatMap(({ Plan }) => withInner(Plan));
  } finally {
    client.release();
  }
}

/** Looks up each row of a batch (`x`), or of what a claim took (`c`), by what that row says. */
function goesByRow(node: Node): boolean {
  const { 'Node Type': type, 'Index Cond': condition = '' } = node;
  if (/Seq Scan|Hash Join|Merge Join/.test(type)) return false;
  return !/Index/.test(type) || /\b[xc]\./.test(condition);
}

describe('a statement for a batch of rows, planned while its tables were empty,', () => {
  beforeAll(async () => {
    const { api, accountId } = await service.account();
    const { id } = await api.createWebhook({ url: 'http://127.0.0.1:9/' });
    const { id: messageId } = await api.sent({ to: '+999010050001' }, { 'idempotency-key': 'once' });
    for (const fate of ['003', '006', '012']) await api.send({ to: `+99901${fate}0001` });
    await api.bulk({ recipients: ['+14155550124', '+14155550125'] });
    await until('delivered', async () => (await api.get(messageId)).status === 'delivered');
    await until('an attempt at the webhook is recorded', async () => {
      const { data } = await api.request<{ failure_count: number }>('GET', `/webhooks/${id}`);
      return data.failure_count > 0;
    });
    const [asked] = await service.asked('+999010050001');
    await reportAsTwilio(asked?.callbackUrl ?? '', { MessageSid: 'SMlate', MessageStatus: 'delivered' });
    // What no traffic brings about at once: a process that is lost, a receiver that answers.
    const [messageKey, deliveryKey] = [
      { accountId, messageId: accountId },
      { accountId, eventId: accountId, endpointId: accountId },
    ];
    await claimOrphans(service.pool, [{ ...messageKey, leasedUntil: new Date(0) }], systemClock.now());
    await claimDue(service.pool, [{ ...deliveryKey, dueAt: '2026-01-01' }], new Date(0));
    await deleteFromQueue(service.pool, [deliveryKey]);
  });

  it.each([
    'find_suppressed',
    'take_from_balances',
    'mark_started',
    'mark_sent',
    'mark_failed',
    'mark_received',
    'append_attempts',
    'record_refunds',
    'add_to_balances',
    'read_event_messages',
    'delete_queue_rows',
    'claim_orphans',
    'enqueue_deliveries',
    'claim_due_deliveries',
    'reschedule_deliveries',
    'delete_from_delivery_queue',
    'count_webhook_failures',
  ])('%s, looks each of them up', async (name) => {
    expect((await planOf(statementOf(name))).filter((node) => !goesByRow(node))).toEqual([]);
  });
});

describe('a list, planned while there were few messages,', () => {
  it.each([
    ['failed', '006'],
    ['undelivered', '009'],
  ])('of %s ones reads those alone', async (status, fate) => {
    const { api } = await service.account();
    await api.send({ to: `+99901${fate}0001` });
    await until(status, async () => (await api.list({ status })).pagination.total === 1);
    const earlier = new Date(systemClock.now() - 60_000).toISOString();
    expect((await api.list({ status, created_after: earlier })).data).toHaveLength(1);
    for (const name of [`page_ranges_${status}`, `count_range_${status}`]) {
      const nodes = await planOf(statementOf(name));
      expect(nodes.filter(({ Filter = '' }) => Filter.includes(`${status}_at`))).toEqual([]);
    }
  });
});
