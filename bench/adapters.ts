import { once } from 'node:events';
import { providerNames } from '../src/providers/provider.ts';
import type { Bench, BenchOptions } from './bench.ts';
import { startNode, type Child } from './harness/child.ts';
import { integer, medianOf, milliseconds, printTable, type Row } from './harness/report.ts';
import { startFlags } from './harness/service.ts';
import { startSimulator, type Simulator } from './harness/stage.ts';
import { bareRequest, type AdapterPlan, type AdapterResult } from './load/plan.ts';
import { median } from './quantile.ts';

const concurrency = 64;

/** One adapter's process, and what was measured of it. */
type Measured = { name: string; child: Child; runs: AdapterResult[] };

/** Each adapter by itself, against the simulator: no service, no database, no pace. */
export const adapters: Bench = {
  name: 'adapters',
  measures: `processor time of each of the nine adapters per message, each alone in a process with ${concurrency} messages at a time`,
  async run({ runs, seconds }: BenchOptions) {
    const stops: Array<() => Promise<void>> = [];
    try {
      const simulator = await startSimulator(stops);
      const all = [bareRequest, ...providerNames].map((name) => startAdapter(name, simulator, stops));
      const plan = { durationMs: (seconds * 1_000) / 5, concurrency };
      // Code gets compiled, connections are opened.
      for (const { child } of all) await runPlan(child, simulator, plan);
      // Round after round, so that what else the machine does falls on all of them alike.
      for (let round = 0; round < runs; round += 1) {
        for (const measured of all) measured.runs.push(await runPlan(measured.child, simulator, plan));
      }
      printTable(rowsOf(all));
    } finally {
      for (const stop of stops.toReversed()) await stop();
    }
  },
};

function startAdapter(name: string, { url, smppPort }: Simulator, stops: Array<() => Promise<void>>): Measured {
  const args = [...startFlags, 'bench/load/adapter.ts', name, url, String(smppPort)];
  const child = startNode(args, {}, ['ignore', 'inherit', 'inherit', 'ipc']);
  stops.push(() => child.stop());
  return { name, child, runs: [] };
}

async function runPlan(child: Child, simulator: Simulator, plan: AdapterPlan): Promise<AdapterResult> {
  child.process.send(plan);
  const answered = once(child.process, 'message') as Promise<[{ result: AdapterResult } | { problem: string }]>;
  const [message] = await Promise.race([answered, child.lost, simulator.child.lost]);
  if ('problem' in message) throw new Error(`an adapter gave up: ${message.problem}`);
  return message.result;
}

function cpuMicrosOf({ runs }: Measured): number {
  return medianOf(runs, ({ cpuMicros, messages }) => cpuMicros / messages);
}

function rowsOf([bare, ...nine]: readonly Measured[]): Row[] {
  if (bare === undefined) return [];
  const middle = median(nine.map(cpuMicrosOf));
  return [
    rowOf(bare, {}),
    ...nine.map((measured) =>
      rowOf(measured, {
        'beyond a ready request': integer(cpuMicrosOf(measured) - cpuMicrosOf(bare)),
        'of the median': (cpuMicrosOf(measured) / middle).toFixed(2),
      }),
    ),
  ];
}

function rowOf(measured: Measured, compared: Row): Row {
  const { name, runs } = measured;
  const figure = (read: (run: AdapterResult) => number): number => medianOf(runs, read);
  return {
    adapter: name,
    'µs/message': integer(cpuMicrosOf(measured)),
    'messages/s': integer(figure(({ messages, elapsedMs }) => messages / (elapsedMs / 1_000))),
    'p50 ms': milliseconds(figure(({ latencyMs }) => latencyMs.p50)),
    'p99 ms': milliseconds(figure(({ latencyMs }) => latencyMs.p99)),
    ...compared,
    'not accepted': integer(runs.reduce((sum, { notAccepted }) => sum + notAccepted, 0)),
  };
}
