import { describe, expect, it } from 'vitest';
import { holdDeadlines, passDeadlines } from '../../test/helpers/deadlines.ts';
import { systemClock } from '../lib/clock.ts';
import { Pace } from './pace.ts';

/** A clock that stands still until it is moved: nothing refills by itself. */
function stillClock() {
  let nowMs = 1_000_000;
  return { now: () => nowMs, advance: (ms: number) => void (nowMs += ms) };
}

const send = (): Promise<string> => Promise.resolve('sent');

describe('a pace', () => {
  holdDeadlines();

  it('without a rate lets everything through at once', async () => {
    const pace = new Pace({ ratePerSecond: undefined, concurrencyMax: 1_000 }, stillClock());
    const results = await Promise.all(Array.from({ length: 500 }, () => pace.run(send)));
    expect(results.every((result) => result === 'sent')).toBe(true);
  });

  it("lets a second's worth through at once, makes a second's worth wait, and turns away what would wait longer", async () => {
    const pace = new Pace({ ratePerSecond: 20, concurrencyMax: 100 }, stillClock());
    const sentAt: number[] = [];
    const running = Array.from({ length: 60 }, () => pace.run(async () => void sentAt.push(Date.now())));
    const startedAt = Date.now();
    for (let passed = 0; passed < 20; passed += 1) await passDeadlines(50);
    const results = await Promise.all(running);
    expect(results.filter((result) => result === 'too_fast')).toHaveLength(20);
    const waits = sentAt.map((at) => at - startedAt);
    expect(waits).toEqual([...Array(20).fill(0), ...Array.from({ length: 20 }, (_, index) => 50 * (index + 1))]);
  });

  it('lets through again what time has refilled', async () => {
    const clock = stillClock();
    const pace = new Pace({ ratePerSecond: 2, concurrencyMax: 100 }, clock);
    const before = Array.from({ length: 10 }, () => pace.run(send));
    await passDeadlines(1_000);
    await Promise.all(before);
    clock.advance(10_000);
    expect(await Promise.all([pace.run(send), pace.run(send)])).toEqual(['sent', 'sent']);
  });

  it('takes what comes less often than once a second', async () => {
    const clock = stillClock();
    const pace = new Pace({ ratePerSecond: 0.5, concurrencyMax: 1 }, clock);
    expect(await pace.run(send)).toBe('sent');
    expect(await pace.run(send)).toBe('too_fast');
    clock.advance(2_000);
    expect(await pace.run(send)).toBe('sent');
  });

  it('has no more under way than it may', async () => {
    const pace = new Pace({ ratePerSecond: undefined, concurrencyMax: 3 }, systemClock);
    let underWay = 0;
    let most = 0;
    const slow = async (): Promise<void> => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay -= 1;
    };
    await Promise.all(Array.from({ length: 20 }, () => pace.run(slow)));
    expect(most).toBe(3);
  });

  it('turns away what finds thousands waiting', async () => {
    const pace = new Pace({ ratePerSecond: undefined, concurrencyMax: 1 }, systemClock);
    const release: Array<() => void> = [];
    const first = pace.run(() => new Promise<void>((resolve) => void release.push(resolve)));
    const waiting = Array.from({ length: 2_000 }, () => pace.run(send));
    // The places are taken in the turns that follow.
    await new Promise((resolve) => setImmediate(resolve));
    expect(await pace.run(send)).toBe('full');
    release[0]?.();
    await first;
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['sent']));
  });

  it('turns away who has waited a second for a place, and does not send for them any more', async () => {
    const pace = new Pace({ ratePerSecond: undefined, concurrencyMax: 1 }, systemClock);
    const { promise: silence, resolve: answer } = Promise.withResolvers<string>();
    const first = pace.run(() => silence);
    const sent: number[] = [];
    const waiting = [1, 2, 3].map((number) => pace.run(() => Promise.resolve(sent.push(number))));
    await passDeadlines(1_000);
    expect(await Promise.all(waiting)).toEqual(['full', 'full', 'full']);
    answer('sent');
    expect(await first).toBe('sent');
    expect(await pace.run(send)).toBe('sent');
    expect(sent).toEqual([]);
  });

  it('turns away at once when all places are taken and none came free for a second', async () => {
    const clock = stillClock();
    const pace = new Pace({ ratePerSecond: undefined, concurrencyMax: 1 }, clock);
    clock.advance(60_000);
    const { promise: silence, resolve: answer } = Promise.withResolvers<string>();
    const first = pace.run(() => silence);
    const early = pace.run(send);
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1_001);
    const late = await Promise.race([pace.run(send), early]);
    expect(late).toBe('full');
    answer('sent');
    expect(await Promise.all([first, early])).toEqual(['sent', 'sent']);
    expect(await pace.run(send)).toBe('sent');
  });

  it('lets who has patience wait for a place, however long none came free', async () => {
    const clock = stillClock();
    const pace = new Pace({ ratePerSecond: undefined, concurrencyMax: 1 }, clock);
    const { promise: silence, resolve: answer } = Promise.withResolvers<string>();
    const first = pace.run(() => silence);
    clock.advance(5_000);
    const hasty = await pace.run(send);
    const patient = pace.run(send, { patienceMs: 60_000 });
    await passDeadlines(60_999);
    answer('sent');
    expect([await first, hasty, await patient]).toEqual(['sent', 'full', 'sent']);
  });

  it('leaves who does not give way half of the wait for the rate', async () => {
    const pace = new Pace({ ratePerSecond: 20, concurrencyMax: 100 }, stillClock());
    const many = Array.from({ length: 60 }, () => pace.run(send, { givesWay: true }));
    const others = Array.from({ length: 20 }, () => pace.run(send));
    await passDeadlines(1_000);
    expect((await Promise.all(many)).filter((result) => result === 'sent')).toHaveLength(30);
    expect((await Promise.all(others)).filter((result) => result === 'sent')).toHaveLength(10);
  });

  it('leaves who does not give way a quarter of the places', async () => {
    const pace = new Pace({ ratePerSecond: undefined, concurrencyMax: 4 }, systemClock);
    const { promise: silence, resolve: answer } = Promise.withResolvers<string>();
    let underWay = 0;
    const many = Array.from({ length: 10 }, () =>
      pace.run(
        () => {
          underWay += 1;
          return silence;
        },
        { givesWay: true },
      ),
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(underWay).toBe(3);
    expect(await pace.run(send)).toBe('sent');
    answer('sent');
    expect(new Set(await Promise.all(many))).toEqual(new Set(['sent']));
  });

  it('gives who was turned away turns one after another, at its rate, none later than in a minute', () => {
    const pace = new Pace({ ratePerSecond: 10, concurrencyMax: 1 }, stillClock());
    expect([1, 2, 3].map(() => pace.takeTurn())).toEqual([1_100, 1_200, 1_300]);
    const turns = Array.from({ length: 1_000 }, () => pace.takeTurn());
    expect(Math.max(...turns)).toBe(60_000);
  });
});
