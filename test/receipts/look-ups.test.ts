import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPool } from '../../src/db/pool.ts';
import type { ReceiptPollerDeps } from '../../src/receipts/poller.ts';
import { redactNumber } from '../../src/retention/redaction.ts';
import { createTestClock, type TestClock } from '../helpers/clock.ts';
import { TestService, type TestAccount } from '../helpers/service.ts';
import { answer, ScriptedServer, type Script } from '../providers/scripted-server.ts';
import { TestPoller } from './poller.ts';

// Messages that nothing is reported of, and an upstream that keeps every question about them.

const hourMs = 3_600_000;
let clock: TestClock;
let service: TestService;
let upstream: ScriptedServer;

beforeEach(async () => {
  clock = createTestClock();
  service = await TestService.start({ clock });
  upstream = await ScriptedServer.start(stillOnItsWay);
  clock.advance(hourMs - (clock.now() % hourMs) + 60_000);
});
afterEach(async () => {
  await service.stop();
  await upstream.close();
});

const stillOnItsWay: Script = (socket, { path }) => {
  const sid = path.split('/').at(-1)?.replace('.json', '');
  return answer({ status: 200, body: JSON.stringify({ sid, status: 'sent' }) })(socket, {} as never);
};

function poller(limits?: ReceiptPollerDeps['limits']): TestPoller {
  return new TestPoller(service, clock, upstream.baseUrl, { limits });
}

/** The upstream's ids of `count` messages. */
async function silentMessages(account: TestAccount, count: number): Promise<string[]> {
  const recipients = Array.from({ length: count }, (_, index) => `+99901010${String(index).padStart(4, '0')}`);
  const { data } = await account.api.bulk({ recipients });
  return data.messages.map(({ provider_message_id: id }) => String(id));
}

/** What the upstream was asked about since the last time this was called. */
function askedAbout(): string[] {
  return upstream.requests.splice(0).map(({ path }) => String(path.split('/').at(-1)?.replace('.json', '')));
}

describe('upstreams are asked about a message', () => {
  it('five times, at growing ages, and never once it is three days old', async () => {
    const [sid] = await silentMessages(await service.account(), 1);
    const asking = poller();
    const hoursAsked: number[] = [];
    for (let hour = 1; hour <= 100; hour += 1) {
      clock.advance(hourMs);
      await asking.runToEnd();
      const asked = askedAbout();
      for (const id of asked) expect(id).toBe(sid);
      if (asked.length > 0) hoursAsked.push(hour);
    }
    expect(hoursAsked).toEqual([2, 5, 13, 25, 49]);
  });

  it('once in each round, however often, from however many processes and after which restart they look', async () => {
    const sids = await silentMessages(await service.account(), 30);
    clock.advance(2 * hourMs);
    const [first, second] = [poller({ messages: 7 }), poller({ messages: 7 })];
    await Promise.all([first.runToEnd(), second.runToEnd()]);
    await poller().runToEnd();
    await poller().runToEnd();
    expect(askedAbout().toSorted()).toEqual(sids.toSorted());
  });

  it('one process at a time', async () => {
    await silentMessages(await service.account(), 1);
    clock.advance(2 * hourMs);
    let answerNow: (() => void) | undefined;
    upstream.script = (socket, request) => {
      answerNow = () => stillOnItsWay(socket, request);
    };
    const running = poller().run();
    await expect.poll(() => upstream.requests.length).toBe(1);
    expect(await poller().runNow()).toBe('done');
    expect(upstream.requests).toHaveLength(1);
    answerNow?.();
    expect(await running).toBe('more');
  });

  it('of every account in each run, however many another one has', async () => {
    const [large, ...small] = await Promise.all(Array.from({ length: 4 }, () => service.account()));
    const [largeSids, ...smallSids] = await Promise.all([
      silentMessages(large as TestAccount, 60),
      ...small.map((account) => silentMessages(account, 1)),
    ]);
    clock.advance(2 * hourMs);
    const asking = poller({ messages: 20 });
    expect(await asking.run()).toBe('more');
    const asked = askedAbout();
    expect(asked.filter((sid) => largeSids.includes(sid))).toHaveLength(5);
    expect(asked).toEqual(expect.arrayContaining(smallSids.flat()));
  });

  it('of every account in turn, where there are more of them than a run takes', async () => {
    const accounts = await Promise.all(Array.from({ length: 5 }, () => service.account()));
    const sids = await Promise.all(accounts.map((account) => silentMessages(account, 4)));
    clock.advance(2 * hourMs);
    const asking = poller({ accounts: 2, messages: 2 });
    for (let run = 0; run < 3; run += 1) await asking.run();
    const asked = askedAbout();
    for (const own of sids) expect(asked.some((sid) => own.includes(sid))).toBe(true);
    await asking.runToEnd();
    expect([...asked, ...askedAbout()].toSorted()).toEqual(sids.flat().toSorted());
  });
});

describe('an upstream that says when to ask again', () => {
  it('is not asked before, and then about all that is left', async () => {
    const sids = await silentMessages(await service.account(), 40);
    clock.advance(2 * hourMs);
    upstream.script = (socket, request) =>
      upstream.requests.length <= 10
        ? stillOnItsWay(socket, request)
        : answer({ status: 429, headers: { 'retry-after': '600' }, body: '{}' })(socket, request);
    const asking = poller();
    await asking.runToEnd();
    const answered = upstream.requests.splice(0, 10).map(({ path }) => path);
    expect(upstream.requests.length).toBeLessThanOrEqual(4);
    askedAbout();
    upstream.script = stillOnItsWay;
    clock.advance(9 * 60_000);
    await asking.runToEnd();
    expect(askedAbout()).toEqual([]);
    clock.advance(61_000);
    await asking.runToEnd();
    const later = askedAbout();
    const together = [...answered.map((path) => String(path.split('/').at(-1)?.replace('.json', ''))), ...later];
    expect([...new Set(together)].toSorted()).toEqual(sids.toSorted());
  });

  it('does not keep the others of a run waiting that is over', async () => {
    await silentMessages(await service.account(), 40);
    clock.advance(2 * hourMs);
    upstream.script = (socket, request) => {
      clock.advance(10_000);
      return stillOnItsWay(socket, request);
    };
    expect(await poller().run()).toBe('more');
    expect(askedAbout().length).toBeLessThan(10);
  });
});

it('a message whose state makes no sense is passed over, and the others are asked about', async () => {
  const sids = await silentMessages(await service.account(), 20);
  clock.advance(2 * hourMs);
  upstream.script = (socket, request) =>
    request.path.includes(sids[3] ?? '')
      ? answer({ status: 200, body: 'what?' })(socket, request)
      : stillOnItsWay(socket, request);
  await poller().runToEnd();
  expect(askedAbout().toSorted()).toEqual(sids.toSorted());
});

it('a look for lost receipts that finds nothing is not repeated before something can have come due', async () => {
  const url = String(service.pool.options.connectionString);
  const pool = createPool({ url, maxConnections: 2, applicationName: 'poller', onError: () => undefined });
  let acquired = 0;
  pool.on('acquire', () => (acquired += 1));
  const asking = new TestPoller(service, clock, upstream.baseUrl, { pool });
  // The service's own look at its start may have the lock; whoever gets it asks once.
  for (let taken = 1; taken === 1;) {
    const before = acquired;
    await asking.runNow();
    taken = acquired - before;
  }
  const before = acquired;
  for (let minute = 0; minute < 50; minute += 1) {
    clock.advance(60_000);
    expect(await asking.runNow()).toBe('done');
  }
  await pool.end();
  expect(acquired).toBe(before);
});

it('nobody is asked about a message that was redacted', async () => {
  const account = await service.account();
  const sids = await silentMessages(account, 2);
  await redactNumber({ pool: service.pool, clock }, '+999010100001', 1_000);
  clock.advance(2 * hourMs);
  await poller().runToEnd();
  expect(askedAbout()).toEqual([sids[0]]);
});
