import { receiptsOf, type Bench, type BenchOptions } from './bench.ts';
import { integer, medianOf, milliseconds, printTable, unexpected, usageColumns, type Row } from './harness/report.ts';
import { withStage, type Stage } from './harness/stage.ts';
import type { RecipientPrefix } from './load/plan.ts';

const recipients = 1_000;

type Case = { concurrent: number; to: RecipientPrefix };

const cases: readonly Case[] = [
  { concurrent: 2, to: '+99901010' },
  { concurrent: 4, to: '+99901010' },
  { concurrent: 4, to: '+1' },
];

/** Bulks of 1,000, and beside them a few single sends, which they must not starve. */
export const bulk: Bench = {
  name: 'bulk',
  measures: 'messages per second in bulks of 1,000 until all are sent, and the time of a single send meanwhile',
  run: (options) =>
    withStage({ profile: options.profile, loads: 2 }, async (stage) => {
      await stage.warmUp(...plansOf({ concurrent: 4, to: '+1' }, options));
      const rows: Row[] = [];
      for (const each of cases) rows.push(await measure(stage, each, options));
      printTable(rows);
    }),
};

function plansOf({ concurrent, to }: Case, { seconds }: BenchOptions) {
  const durationMs = seconds * 1_000;
  return [
    { connections: concurrent, durationMs, pauseMs: 0, work: { kind: 'bulk', to, recipients } },
    { connections: 4, durationMs, pauseMs: 20, work: { kind: 'send', to } },
  ] as const;
}

async function measure(stage: Stage, each: Case, options: BenchOptions): Promise<Row> {
  const runs: Run[] = [];
  for (let index = 0; index < options.runs; index += 1) runs.push(await runOnce(stage, each, options));
  const figure = (read: (run: Run) => number): number => medianOf(runs, read);
  return {
    case: `${each.concurrent} bulks at a time, ${receiptsOf[each.to]}`,
    'messages/s': integer(figure(({ bulks }) => bulks.sent / (bulks.elapsedMs / 1_000))),
    'bulk p50 ms': milliseconds(figure(({ bulks }) => bulks.latencyMs.p50)),
    'single p50 ms': milliseconds(figure(({ singles }) => singles.latencyMs.p50)),
    'p99 ms': milliseconds(figure(({ singles }) => singles.latencyMs.p99)),
    'settled after s': figure(({ settledAfterMs }) => settledAfterMs / 1_000).toFixed(1),
    ...usageColumns(runs, ({ bulks, singles }) => bulks.sent + singles.sent),
    unsent: integer(figure(({ bulks }) => bulks.requests * recipients - bulks.sent)),
    unexpected: unexpected(runs.flatMap(({ bulks, singles }) => [bulks.statuses, singles.statuses])),
  };
}

type Run = Awaited<ReturnType<typeof runOnce>>;

async function runOnce(stage: Stage, each: Case, options: BenchOptions) {
  const { loads, usage, journalBytes } = await stage.run(...plansOf(each, options));
  const [bulks, singles] = loads;
  if (bulks === undefined || singles === undefined) throw new Error('a load without a result');
  return { bulks, singles, usage, journalBytes, settledAfterMs: await stage.settled() };
}
