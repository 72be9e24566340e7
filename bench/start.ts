import { rm } from 'node:fs/promises';
import type { Bench } from './bench.ts';
import { medianOf, printTable } from './harness/report.ts';
import { freePort, startService } from './harness/service.ts';
import { makeFolder } from './harness/stage.ts';

const restarts = 5;

type Start = { readyMs: number; stopMs: number };

/** From nothing to ready: `node src/main.ts` with no configuration, so with its own database and the simulator. */
export const start: Bench = {
  name: 'start',
  measures: `seconds from the start of the process to /readyz 200, and from SIGTERM to its end; median of ${restarts} starts`,
  async run() {
    const folder = await makeFolder();
    try {
      const first = await startOnce(folder);
      const later: Start[] = [];
      for (let index = 0; index < restarts; index += 1) later.push(await startOnce(folder));
      printTable([
        { start: 'first, on an empty folder', ...columns([first]) },
        { start: 'every later one', ...columns(later) },
      ]);
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  },
};

function columns(starts: readonly Start[]) {
  const seconds = (read: (start: Start) => number): string => (medianOf(starts, read) / 1_000).toFixed(2);
  return { 'ready s': seconds(({ readyMs }) => readyMs), 'stopped s': seconds(({ stopMs }) => stopMs) };
}

async function startOnce(folder: string): Promise<Start> {
  const port = await freePort();
  const startedMs = performance.now();
  const service = await startService({ folder, port, env: { DATA_DIR: folder, SIMULATOR_PORT: '0' } });
  const readyMs = performance.now() - startedMs;
  const stoppingMs = performance.now();
  await service.child.stop();
  return { readyMs, stopMs: performance.now() - stoppingMs };
}
