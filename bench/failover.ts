import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { systemClock } from '../src/lib/clock.ts';
import type { Bench, BenchOptions } from './bench.ts';
import { ratePerSecond } from './harness/configuration.ts';
import { countAttempts } from './harness/database.ts';
import { integer, milliseconds, print, printTable, unexpected, type Row } from './harness/report.ts';
import { withStage, type Stage, type StagePlan } from './harness/stage.ts';
import type { LoadAnswer } from './load/plan.ts';
import { latencyOf } from './quantile.ts';

/** The first of the chain, so that every message meets it. */
const dead = 'twilio';
/** Each at the concurrency it has unless configured. */
const upstreams = { [dead]: { ratePerSecond }, vonage: { ratePerSecond }, infobip: { ratePerSecond } };

const messagesPerSecond = 200;
/** A whole time-out until the breaker can open, then pause, probe (a whole time-out again), pause and the next probe. */
const deadMs = 35_000;
/** Longer than the load lasts: the provider takes requests and never answers. */
const silenceMs = 60_000;
const watchEveryMs = 20;

/** Breakers see results, and a dead provider's come after 10 s: what callers feel until then, and from then on. */
export const failover: Bench = {
  name: 'failover',
  measures: `${messagesPerSecond} sends per second while the first of three providers is silent (time-outs at 10 s); one run, its messages by phase`,
  run: (options) =>
    withStage({ profile: options.profile, upstreams }, async (stage) => {
      await stage.warmUp(planOf(options.seconds * 1_000));
      const running = stage.run(planOf(options.seconds * 1_000 + deadMs));
      const story = tellStory(stage, options, running);
      const [{ loads }, { deadAtMs, openedAtMs, probes }] = await Promise.all([running, story]);
      await stage.settled();
      const [load] = loads;
      if (load === undefined) throw new Error('a load without a result');
      const dueMs = load.answers.map(({ dueAtMs }) => dueAtMs).sort((a, b) => a - b);
      const endAtMs = (dueMs.at(-1) ?? 0) + 1_000 / messagesPerSecond;
      const openAtMs = openedAtMs ?? endAtMs;
      printTable([
        await rowOf(stage, 'all three healthy', load.answers, dueMs[0] ?? 0, deadAtMs),
        await rowOf(stage, 'one silent, its breaker closed', load.answers, deadAtMs, openAtMs),
        await rowOf(stage, 'one silent, its breaker open', load.answers, openAtMs, endAtMs),
      ]);
      print(
        openedAtMs === undefined
          ? `  the breaker did not open within ${deadMs / 1_000} s`
          : `  the breaker opened after ${((openedAtMs - deadAtMs) / 1_000).toFixed(1)} s, and let ${probes} messages probe since then`,
        `  unexpected answers: ${unexpected([load.statuses]) || 'none'}; sends that found 2,500 unanswered: ${integer(load.unsent)}`,
      );
    }),
};

function planOf(durationMs: number): StagePlan {
  const work = { kind: 'send', to: '+1' } as const;
  return { connections: 2_500, durationMs, pauseMs: 0, everyMs: 1_000 / messagesPerSecond, work };
}

type Story = { deadAtMs: number; openedAtMs: number | undefined; probes: number };

/** Silences the provider while the load runs, and watches its breaker until the load ends. */
async function tellStory(stage: Stage, { seconds }: BenchOptions, load: Promise<unknown>): Promise<Story> {
  const ended = new AbortController();
  void load.catch(() => undefined).finally(() => ended.abort());
  const pause = (ms: number): Promise<void> => delay(ms, undefined, { signal: ended.signal }).catch(() => undefined);
  await pause(seconds * 1_000);
  await silence(stage);
  const story: Story = { deadAtMs: systemClock.now(), openedAtMs: undefined, probes: 0 };
  let before = 'closed';
  while (!ended.signal.aborted) {
    const state = await breakerOf(stage);
    if (state === 'open') story.openedAtMs ??= systemClock.now();
    if (state === 'half_open' && before !== 'half_open') story.probes += 1;
    before = state;
    await pause(watchEveryMs);
  }
  return story;
}

async function silence({ simulatorUrl }: Stage): Promise<void> {
  const { statusCode, body } = await request(`${simulatorUrl}/control/providers/${dead}`, {
    method: 'POST',
    body: JSON.stringify({ latencyMs: silenceMs }),
  });
  if (statusCode !== 200) throw new Error(`the simulator refused: ${statusCode} ${await body.text()}`);
  await body.dump();
}

async function breakerOf({ service, operatorToken }: Stage): Promise<string> {
  const { body } = await request(`http://127.0.0.1:${service.port}/operator/v1/providers`, {
    headers: { authorization: `Bearer ${operatorToken}` },
  });
  const { data } = (await body.json()) as { data: { data: Array<{ name: string; breaker: string }> } };
  return data.data.find(({ name }) => name === dead)?.breaker ?? '';
}

/** What became of the sends of one phase, by when each was due. */
async function rowOf(
  { database, tenant }: Stage,
  phase: string,
  answers: readonly LoadAnswer[],
  fromMs: number,
  untilMs: number,
): Promise<Row> {
  const ofPhase = answers.filter(({ dueAtMs }) => dueAtMs >= fromMs && dueAtMs < untilMs);
  const { p50, p99, max } = latencyOf(ofPhase.map(({ latencyMs }) => latencyMs));
  const { messages, attempts, failed } = await countAttempts(database.pool, tenant.accountId, fromMs, untilMs);
  return {
    phase,
    seconds: ((untilMs - fromMs) / 1_000).toFixed(1),
    sends: integer(ofPhase.length),
    'p50 ms': milliseconds(p50),
    'p99 ms': milliseconds(p99),
    'max ms': milliseconds(max),
    'attempts/message': (attempts / messages).toFixed(3),
    'answered pending': integer(ofPhase.filter(({ isPending }) => isPending).length),
    failed: integer(failed),
  };
}
