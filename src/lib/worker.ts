import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from './log.ts';

/** Something that runs again and again until stopped. */
export type Worker = { readonly name: string; readonly isRunning: boolean; stop(): Promise<void> };

/**
 * Runs `work` every `everyMs`, one run at a time, and again at once while it says that there is more. A run that throws is logged and
 * tried again at the next turn.
 */
export function startWorker(options: {
  name: string;
  everyMs: number;
  log: Log;
  work: (signal: AbortSignal) => Promise<'more' | 'done'>;
  onRun?: (result: 'succeeded' | 'failed') => void;
}): Worker {
  const { name, everyMs, log, work, onRun } = options;
  const stopping = new AbortController();
  const { signal } = stopping;

  async function loop(): Promise<void> {
    while (!signal.aborted) {
      let next: 'more' | 'done' = 'done';
      try {
        next = await work(signal);
        onRun?.('succeeded');
      } catch (error) {
        log.error({ err: error, worker: name }, 'worker run failed; it is tried again');
        onRun?.('failed');
      }
      if (next === 'done') await delay(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  let isRunning = true;
  const running = loop().finally(() => {
    isRunning = false;
  });
  return {
    name,
    get isRunning() {
      return isRunning;
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
