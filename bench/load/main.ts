import process from 'node:process';
import { Connection } from './connection.ts';
import type { LoadPlan, LoadResult } from './plan.ts';
import { latencyOf } from '../quantile.ts';
import { createRequests, Numbers } from './request.ts';

// The load as a process of its own, so that what it takes of the machine is told apart from what the service takes.
const numbers = new Numbers(Number(process.argv[2] ?? 0));

/** Longer than the service lets any caller wait. */
const answerMsMax = 60_000;

process.on('message', (plan: LoadPlan) => {
  run(plan).then(
    (result) => process.send?.({ result }),
    (error: Error) => process.send?.({ problem: error.message }),
  );
});
process.on('disconnect', () => process.exit(0));

async function run(plan: LoadPlan): Promise<LoadResult> {
  const nextRequest = createRequests(plan, numbers);
  const latenciesMs: number[] = [];
  const statuses: Record<number, number> = {};
  let sent = 0;
  const { promise: lost, reject: lose } = Promise.withResolvers<never>();
  const connections = await Promise.all(
    Array.from({ length: plan.connections }, () => Connection.open(plan.port, lose)),
  );
  const startedMs = performance.now();
  const endMs = startedMs + plan.durationMs;

  const drive = (connection: Connection): Promise<void> =>
    new Promise((resolve) => {
      const next = (): void => {
        const atMs = performance.now();
        if (atMs >= endMs) {
          resolve();
          return;
        }
        connection.exchange(nextRequest(), (status, beginning) => {
          latenciesMs.push(performance.now() - atMs);
          statuses[status] = (statuses[status] ?? 0) + 1;
          if (status === 201) sent += sentOf(plan, beginning);
          if (plan.pauseMs > 0) setTimeout(next, plan.pauseMs);
          else next();
        });
      };
      next();
    });

  const overdue = setTimeout(
    () => lose(new Error(`requests got no answer within ${answerMsMax / 1_000} s`)),
    plan.durationMs + answerMsMax,
  );
  try {
    await Promise.race([lost, Promise.all(connections.map(drive))]);
  } finally {
    clearTimeout(overdue);
    for (const connection of connections) connection.close();
  }
  const elapsedMs = performance.now() - startedMs;
  return { elapsedMs, requests: latenciesMs.length, sent, statuses, latencyMs: latencyOf(latenciesMs) };
}

/** A 201 to a single send may also say `pending`, past its 25 s: at the rates of a bench that does not come up. */
function sentOf({ work }: LoadPlan, beginning: string): number {
  if (work.kind === 'send') return 1;
  const [, sent] = /"sent":(\d+)/.exec(beginning) ?? [];
  if (sent === undefined) throw new Error(`a bulk's answer does not say how many were sent: ${beginning}`);
  return Number(sent);
}
