import { receiptsOf, type Bench, type BenchOptions } from './bench.ts';
import { integer, medianOf, milliseconds, printTable, unexpected, usageColumns, type Row } from './harness/report.ts';
import { withStage, type Stage } from './harness/stage.ts';
import type { RecipientPrefix } from './load/plan.ts';

type Case = { connections: number; to: RecipientPrefix };

const cases: readonly Case[] = [
  { connections: 64, to: '+99901010' },
  { connections: 64, to: '+1' },
  { connections: 1, to: '+99901010' },
];

/** Single sends: each is answered when its outcome is committed. */
export const send: Bench = {
  name: 'send',
  measures: 'durable single sends per second, and the time of one',
  run: (options) =>
    withStage({ profile: options.profile }, async (stage) => {
      await stage.warmUp(planOf({ connections: 64, to: '+1' }, options));
      const rows: Row[] = [];
      for (const each of cases) rows.push(await measure(stage, each, options));
      printTable(rows);
    }),
};

function planOf({ connections, to }: Case, { seconds }: BenchOptions) {
  return { connections, durationMs: seconds * 1_000, pauseMs: 0, work: { kind: 'send', to } } as const;
}

async function measure(stage: Stage, each: Case, options: BenchOptions): Promise<Row> {
  const runs: Run[] = [];
  for (let index = 0; index < options.runs; index += 1) runs.push(await runOnce(stage, each, options));
  const figure = (read: (run: Run) => number): number => medianOf(runs, read);
  return {
    case: `${each.connections === 1 ? '1 connection' : `${each.connections} connections`}, ${receiptsOf[each.to]}`,
    'sends/s': integer(figure(({ sends }) => sends.requests / (sends.elapsedMs / 1_000))),
    'p50 ms': milliseconds(figure(({ sends }) => sends.latencyMs.p50)),
    'p99 ms': milliseconds(figure(({ sends }) => sends.latencyMs.p99)),
    'settled after s': figure(({ settledAfterMs }) => settledAfterMs / 1_000).toFixed(1),
    ...usageColumns(runs, ({ sends }) => sends.sent),
    unexpected: unexpected(runs.map(({ sends }) => sends.statuses)),
  };
}

type Run = Awaited<ReturnType<typeof runOnce>>;

async function runOnce(stage: Stage, each: Case, options: BenchOptions) {
  const { loads, usage, journalBytes } = await stage.run(planOf(each, options));
  const [sends] = loads;
  if (sends === undefined) throw new Error('a load without a result');
  return { sends, usage, journalBytes, settledAfterMs: await stage.settled() };
}
