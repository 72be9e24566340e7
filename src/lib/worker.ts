import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from './log.ts';

/** Something that runs again and again until stopped. */
export type Worker = { stop(): Promise<void> };

/**
 * Runs `work` every `everyMs`, one run at a time, and again at once while it says that there is more. A run that throws is logged and
 * tried again at the next turn.
 */
export function startWorker(options: {
  name: string;
  everyMs: number;
  log: Log;
  work: (signal: AbortSignal) => Promise<'more' | 'done'>;
}): Worker {
  const { name, everyMs, log, work } = options;
  const stopping = new AbortController();
  const { signal } = stopping;

  async function loop(): Promise<void> {
    while (!signal.aborted) {
      let next: 'more' | 'done' = 'done';
      try {
        next = await work(signal);
      } catch (error) {
        log.error({ err: error, worker: name }, 'worker run failed; it is tried again');
      }
      if (next === 'done') await delay(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  const running = loop();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
