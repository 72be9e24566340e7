import type { Bench, BenchOptions } from './bench.ts';
import { formatTime } from '../src/lib/clock.ts';
import { storeMessages, type Stored } from './harness/stored-messages.ts';
import { integer, medianOf, milliseconds, print, printTable, unexpected, type Row } from './harness/report.ts';
import { withStage, type Stage } from './harness/stage.ts';

const limit = 50;
const deepPage = 10_000;

/** Lists of an account with millions of messages: no page and no filter may cost much more than another. */
export const lists: Bench = {
  name: 'lists',
  measures: 'the time of one page of messages, by what is asked for',
  run: (options) =>
    withStage({ profile: options.profile }, async (stage) => {
      const startedMs = performance.now();
      const stored = await storeMessages(stage.database.pool, stage.tenant.accountId, options.messages);
      const seconds = (performance.now() - startedMs) / 1_000;
      print(`  ${integer(options.messages)} messages over ${stored.days} days, stored in ${seconds.toFixed(0)} s`);
      const rows: Row[] = [];
      for (const [name, query] of queriesOf(stored)) rows.push(await measure(stage, name, query, options));
      printTable(rows);
    }),
};

function lastPage(messages: number): number {
  return Math.max(1, Math.ceil(messages / limit));
}

function queriesOf(stored: Stored): Array<[string, Record<string, string | number>]> {
  const deep = Math.min(deepPage, lastPage(stored.messages));
  const from = formatTime(stored.middleMs);
  const until = formatTime(stored.middleMs + 36 * 3_600_000);
  return [
    ['page 1', { page: 1 }],
    [`page ${integer(deep)}`, { page: deep }],
    [`last page, ${integer(lastPage(stored.messages))}`, { page: lastPage(stored.messages) }],
    ['delivered, page 1', { status: 'delivered', page: 1 }],
    ['delivered, last page', { status: 'delivered', page: lastPage(stored.byStatus.delivered) }],
    [`failed (${integer(stored.byStatus.failed)}), page 1`, { status: 'failed', page: 1 }],
    ['failed, last page', { status: 'failed', page: lastPage(stored.byStatus.failed) }],
    [`pending (${integer(stored.byStatus.pending)})`, { status: 'pending', page: 1 }],
    ['to one of many', { to: stored.rareRecipient, page: 1 }],
    [`to one of ${integer(stored.toFrequent)}, page 1`, { to: stored.frequentRecipient, page: 1 }],
    [
      `to one of ${integer(stored.toFrequent)}, last page`,
      { to: stored.frequentRecipient, page: lastPage(stored.toFrequent) },
    ],
    ['36 hours in the middle', { created_after: from, created_before: until, page: 1 }],
    ['before the middle, page 1,000', { created_before: from, page: Math.min(1_000, lastPage(stored.messages / 2)) }],
    ['delivered, 36 hours in the middle', { status: 'delivered', created_after: from, created_before: until, page: 1 }],
  ];
}

async function measure(
  stage: Stage,
  name: string,
  query: Record<string, string | number>,
  { runs, seconds }: BenchOptions,
): Promise<Row> {
  const parameters = Object.entries({ limit, ...query }).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  const work = { kind: 'get', path: `/api/v1/messages?${parameters.join('&')}` } as const;
  const plan = { connections: 1, durationMs: (seconds * 1_000) / 5, pauseMs: 0, work };
  const measured = [];
  for (let index = 0; index < runs; index += 1) measured.push(await stage.run(plan));
  const results = measured.flatMap(({ loads }) => loads);
  return {
    list: name,
    'p50 ms': milliseconds(medianOf(results, ({ latencyMs }) => latencyMs.p50)),
    'p99 ms': milliseconds(medianOf(results, ({ latencyMs }) => latencyMs.p99)),
    unexpected: unexpected(
      results.map(({ statuses }) => statuses),
      200,
    ),
  };
}
