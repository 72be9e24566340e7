import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import type { Bench, BenchOptions } from './bench.ts';
import { startNode, type Child } from './harness/child.ts';
import { integer, medianOf, milliseconds, printTable, unexpected, usageColumns, type Row } from './harness/report.ts';
import { withStage, type Stage } from './harness/stage.ts';
import type { Received } from './load/receiver.ts';

/** A message is sent, and it is delivered. */
const eventsPerMessage = 2;
const deliveredWithinMs = 180_000;

/** Single sends with one webhook endpoint, which takes everything at once. */
export const webhooks: Bench = {
  name: 'webhooks',
  measures: 'single sends at 64 connections with a webhook endpoint: deliveries per second, and how late they come',
  run: (options) =>
    withStage({ profile: options.profile }, async (stage) => {
      const receiver = startNode(['bench/load/receiver.ts'], {}, ['ignore', 'inherit', 'inherit', 'ipc']);
      try {
        const [{ url }] = (await once(receiver.process, 'message')) as [{ url: string }];
        await createEndpoint(stage, url);
        stage.meter('receiver', receiver);
        await stage.warmUp(planOf(options));
        await untilReceived(receiver, stage.warmUpMessages * eventsPerMessage);
        await ask(receiver, 'report');
        const runs: Run[] = [];
        for (let index = 0; index < options.runs; index += 1) runs.push(await runOnce(stage, receiver, options));
        printTable([rowOf(runs)]);
      } finally {
        await receiver.stop();
      }
    }),
};

function planOf({ seconds }: BenchOptions) {
  return { connections: 64, durationMs: seconds * 1_000, pauseMs: 0, work: { kind: 'send', to: '+1' } } as const;
}

type Run = Awaited<ReturnType<typeof runOnce>>;

async function runOnce(stage: Stage, receiver: Child, options: BenchOptions) {
  const { loads, usage, journalBytes } = await stage.run(planOf(options));
  const [sends] = loads;
  if (sends === undefined) throw new Error('a load without a result');
  const endedMs = performance.now();
  await untilReceived(receiver, sends.sent * eventsPerMessage);
  const receivedAfterMs = performance.now() - endedMs;
  await stage.settled();
  return { sends, usage, journalBytes, receivedAfterMs, received: await ask(receiver, 'report') };
}

function rowOf(runs: readonly Run[]): Row {
  const figure = (read: (run: Run) => number): number => medianOf(runs, read);
  return {
    case: '1 endpoint',
    'sends/s': integer(figure(({ sends }) => sends.requests / (sends.elapsedMs / 1_000))),
    'p50 ms': milliseconds(figure(({ sends }) => sends.latencyMs.p50)),
    'p99 ms': milliseconds(figure(({ sends }) => sends.latencyMs.p99)),
    'deliveries/s': integer(figure(({ received }) => received.deliveries / (received.elapsedMs / 1_000))),
    'lag p50 ms': milliseconds(figure(({ received }) => received.lagMs.p50)),
    'lag p99 ms': milliseconds(figure(({ received }) => received.lagMs.p99)),
    'all received after s': figure(({ receivedAfterMs }) => receivedAfterMs / 1_000).toFixed(1),
    repeated: integer(figure(({ received, sends }) => received.deliveries - sends.sent * eventsPerMessage)),
    ...usageColumns(runs, ({ sends }) => sends.sent),
    unexpected: unexpected(runs.map(({ sends }) => sends.statuses)),
  };
}

async function createEndpoint({ service, tenant }: Stage, url: string): Promise<void> {
  const { statusCode, body } = await request(`http://127.0.0.1:${service.port}/api/v1/webhooks/create`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.keys[0]}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url }),
  });
  if (statusCode !== 201) throw new Error(`no endpoint was created: ${statusCode} ${await body.text()}`);
  await body.dump();
}

async function ask(receiver: Child, question: 'count' | 'report'): Promise<Received> {
  receiver.process.send(question);
  const [received] = (await Promise.race([once(receiver.process, 'message'), receiver.lost])) as [Received];
  return received;
}

async function untilReceived(receiver: Child, expected: number): Promise<void> {
  const deadlineMs = performance.now() + deliveredWithinMs;
  for (;;) {
    const { deliveries } = await ask(receiver, 'count');
    if (deliveries >= expected) return;
    if (performance.now() > deadlineMs) {
      throw new Error(`${deliveries} of ${expected} deliveries came within ${deliveredWithinMs / 1_000} s`);
    }
    await delay(50);
  }
}
