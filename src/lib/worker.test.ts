import { describe, expect, it } from 'vitest';
import { until } from '../../test/helpers/until.ts';
import { createLog } from './log.ts';
import { startWorker } from './worker.ts';

const silent = createLog({ level: 'silent' });

describe('a worker', () => {
  it('runs at once, and again when its time has come', async () => {
    let runs = 0;
    const work = async (): Promise<'done'> => {
      runs += 1;
      return 'done';
    };
    const worker = startWorker({ name: 'test', everyMs: 5, log: silent, work });
    expect(runs).toBe(1);
    await until('it ran again', () => runs >= 3);
    await worker.stop();
  });

  it('runs again at once while there is more', async () => {
    let runs = 0;
    const work = async (): Promise<'more' | 'done'> => {
      runs += 1;
      return runs < 50 ? 'more' : 'done';
    };
    const worker = startWorker({ name: 'test', everyMs: 60_000, log: silent, work });
    await until('all is done', () => runs === 50);
    await worker.stop();
  });

  it('tries again after a run that threw, and logs why', async () => {
    const lines: string[] = [];
    const log = createLog({ level: 'error', destination: { write: (line) => void lines.push(line) } });
    let runs = 0;
    const work = async (): Promise<'done'> => {
      runs += 1;
      if (runs === 1) throw new Error('the first time');
      return 'done';
    };
    const worker = startWorker({ name: 'sweeper', everyMs: 5, log, work });
    await until('it ran again', () => runs >= 2);
    await worker.stop();
    expect(lines.join('')).toMatch(/"worker":"sweeper"/);
    expect(lines.join('')).toMatch(/the first time/);
  });

  it('never has two runs under way, and stops when the one under way has ended', async () => {
    let running = 0;
    let most = 0;
    let wasAborted = false;
    let finish: (() => void) | undefined;
    const work = async (signal: AbortSignal): Promise<'more'> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => {
        finish = resolve;
        signal.addEventListener('abort', () => (wasAborted = true));
      });
      running -= 1;
      return 'more';
    };
    const worker = startWorker({ name: 'test', everyMs: 1, log: silent, work });
    let hasStopped = false;
    const stopping = worker.stop().then(() => (hasStopped = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect([running, hasStopped, wasAborted]).toEqual([1, false, true]);
    finish?.();
    await stopping;
    expect([running, most]).toEqual([0, 1]);
  });
});
