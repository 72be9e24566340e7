import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pace } from './pace.ts';
import { smppTiming } from './timing.ts';

describe('the rate', () => {
  it('is never more than was agreed, in any second', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.array(fc.integer({ min: 0, max: 40 })), (perSecond, steps) => {
        const pace = new Pace(perSecond, smppTiming);
        const written: number[] = [];
        let nowMs = 1_000_000;
        for (const step of steps) {
          nowMs += step;
          while (pace.take(nowMs) === 0) written.push(nowMs);
        }
        for (const startMs of written) {
          const inSecond = written.filter((atMs) => atMs >= startMs && atMs < startMs + 1_000).length;
          // A full bucket and what drips in during the second.
          expect(inSecond).toBeLessThanOrEqual(perSecond + Math.max(1, perSecond / 10));
        }
      }),
    );
  });

  it('is reached by who waits as long as told', () => {
    for (const perSecond of [0.5, 1, 7, 100]) {
      const pace = new Pace(perSecond, smppTiming);
      let nowMs = 0;
      let written = 0;
      while (nowMs < 100_000) {
        const waitMs = pace.take(nowMs);
        if (waitMs === 0) written += 1;
        nowMs += waitMs;
      }
      // Waits are whole milliseconds.
      expect(written).toBeGreaterThanOrEqual(perSecond * 99);
      expect(written).toBeLessThanOrEqual(perSecond * 101 + 1);
    }
  });

  it('has no limit where none was agreed', () => {
    const pace = new Pace(undefined, smppTiming);
    for (let count = 0; count < 1_000; count += 1) expect(pace.take(0)).toBe(0);
  });

  it('stays what it is when the clock is set back', () => {
    const pace = new Pace(1, smppTiming);
    expect(pace.take(1_000_000)).toBe(0);
    expect(pace.take(0)).toBe(1_000);
    expect(pace.take(1_000)).toBe(0);
  });
});

function writtenBetween(pace: Pace, fromMs: number, toMs: number): number {
  let written = 0;
  let nowMs = fromMs;
  while (nowMs < toMs) {
    const waitMs = pace.take(nowMs);
    if (waitMs === 0) written += 1;
    nowMs += waitMs;
  }
  return written;
}

describe('the rate of a throttled bind', () => {
  it('is half of what was agreed for a minute after the pause, and then what was agreed', () => {
    const pace = new Pace(10, smppTiming);
    pace.throttled(pace.period, 0);
    expect(pace.take(0)).toBe(smppTiming.pauseFirstMs);
    const slow = writtenBetween(pace, 1_000, 61_000);
    expect(slow).toBeGreaterThanOrEqual(300);
    expect(slow).toBeLessThanOrEqual(302);
    const usual = writtenBetween(pace, 61_000, 121_000);
    expect(usual).toBeGreaterThanOrEqual(598);
    expect(usual).toBeLessThanOrEqual(602);
  });

  it('has no limit where none was agreed', () => {
    const pace = new Pace(undefined, smppTiming);
    pace.throttled(pace.period, 0);
    for (let count = 0; count < 1_000; count += 1) expect(pace.take(1_000)).toBe(0);
  });
});

describe('the pause of a throttled bind', () => {
  it('doubles from a second to half a minute', () => {
    const pace = new Pace(undefined, smppTiming);
    let nowMs = 0;
    const pauses = [1, 2, 3, 4, 5, 6, 7].map(() => {
      pace.throttled(pace.period, nowMs);
      const pausedMs = pace.take(nowMs);
      nowMs += pausedMs;
      expect(pace.take(nowMs)).toBe(0);
      return pausedMs;
    });
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });

  it('is one, though a whole window was throttled', () => {
    const pace = new Pace(undefined, smppTiming);
    const { period } = pace;
    for (let count = 0; count < 10; count += 1) pace.throttled(period, count);
    expect(pace.pausedMs(0)).toBe(1_000);
    // Nor do answers to what was written before it make it longer once it has ended.
    pace.throttled(period, 1_001);
    expect(pace.pausedMs(1_001)).toBe(0);
  });

  it('is a first one again after the carrier took a message', () => {
    const pace = new Pace(undefined, smppTiming);
    pace.throttled(pace.period, 0);
    pace.throttled(pace.period, 1_000);
    expect(pace.pausedMs(1_000)).toBe(2_000);
    const earlier = pace.period - 1;
    pace.accepted(earlier);
    pace.throttled(pace.period, 3_000);
    expect(pace.pausedMs(3_000)).toBe(4_000);
    pace.accepted(pace.period);
    pace.throttled(pace.period, 7_000);
    expect(pace.pausedMs(7_000)).toBe(1_000);
  });
});
