import process from 'node:process';
import { latencyOf } from '../quantile.ts';
import { Connection } from './connection.ts';
import { runInTurn, runSteadily } from './pacing.ts';
import type { LoadAnswer, LoadPlan, LoadResult } from './plan.ts';
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
  const answers: LoadAnswer[] = [];
  const statuses: Record<number, number> = {};
  let sent = 0;
  const { promise: lost, reject: lose } = Promise.withResolvers<never>();
  const connections = await Promise.all(
    Array.from({ length: plan.connections }, () => Connection.open(plan.port, lose)),
  );
  /** Resolves with the answer's end; the time counts from when the request was due. */
  const exchange = (connection: Connection, dueMs: number): Promise<void> =>
    new Promise((resolve) => {
      connection.exchange(nextRequest(), (status, beginning) => {
        const isPending = beginning.includes('"status":"pending"');
        answers.push({ dueAtMs: performance.timeOrigin + dueMs, latencyMs: performance.now() - dueMs, isPending });
        statuses[status] = (statuses[status] ?? 0) + 1;
        if (status === 201) sent += sentOf(plan, beginning);
        resolve();
      });
    });
  const overdue = setTimeout(
    () => lose(new Error(`requests got no answer within ${answerMsMax / 1_000} s`)),
    plan.durationMs + answerMsMax,
  );
  const startedMs = performance.now();
  let unsent: number;
  try {
    const drive = plan.everyMs === undefined ? runInTurn : runSteadily;
    unsent = await Promise.race([lost, drive(plan, connections, exchange)]);
  } finally {
    clearTimeout(overdue);
    for (const connection of connections) connection.close();
  }
  const elapsedMs = performance.now() - startedMs;
  const latencyMs = latencyOf(answers.map((answer) => answer.latencyMs));
  const told = plan.everyMs === undefined ? [] : answers;
  return { elapsedMs, requests: answers.length, sent, statuses, latencyMs, answers: told, unsent };
}

/** A 201 to a single send may also say `pending`, past its 25 s: at the rates of a bench that does not come up. */
function sentOf({ work }: LoadPlan, beginning: string): number {
  if (work.kind === 'send') return 1;
  const [, sent] = /"sent":(\d+)/.exec(beginning) ?? [];
  if (sent === undefined) throw new Error(`a bulk's answer does not say how many were sent: ${beginning}`);
  return Number(sent);
}
