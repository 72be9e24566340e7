import type { Bench, BenchOptions } from './bench.ts';
import { mebibytes, printTable, type Row } from './harness/report.ts';
import { withStage, type StagePlan } from './harness/stage.ts';

/** Resident memory of the service's process, under one load after the other. */
export const memory: Bench = {
  name: 'memory',
  measures: 'resident memory of the service in MiB: started, at most under each load, at most ever',
  async run(options) {
    printTable([await measure(options)]);
  },
};

function measure({ seconds, runs, profile }: BenchOptions): Promise<Row> {
  const durationMs = seconds * runs * 1_000;
  const sends: StagePlan = { connections: 64, durationMs, pauseMs: 0, work: { kind: 'send', to: '+1' } };
  const bulks: StagePlan = {
    connections: 4,
    durationMs,
    pauseMs: 0,
    work: { kind: 'bulk', to: '+1', recipients: 1_000 },
  };
  return withStage({ profile }, async (stage) => {
    const started = stage.residentBytes.now;
    const peaks: number[] = [];
    for (const plan of [sends, bulks]) {
      const { usage } = await stage.run(plan);
      await stage.settled();
      peaks.push(usage.residentPeakBytes);
    }
    const [duringSends = 0, duringBulks = 0] = peaks;
    return {
      process: 'service',
      started: mebibytes(started),
      'single sends': mebibytes(duringSends),
      bulks: mebibytes(duringBulks),
      ever: mebibytes(stage.residentBytes.peak),
    };
  });
}
