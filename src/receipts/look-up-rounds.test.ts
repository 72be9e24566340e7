import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { advancePlaces, hoursInRounds, nextHourMs } from './look-up-rounds.ts';

const hourMs = 3_600_000;
const anyTime = fc.integer({ min: Date.parse('2026-01-01T00:00:00Z'), max: Date.parse('2030-01-01T00:00:00Z') });

function roundOf(createdMs: number, nowMs: number): number | undefined {
  const hour = createdMs - (createdMs % hourMs);
  return hoursInRounds(nowMs).find((each) => each.hourMs === hour)?.round;
}

describe('the rounds', () => {
  it.each([
    ['0:59 after the end of its hour', 1 * hourMs - 60_000, undefined],
    ['an hour', 1 * hourMs, 1],
    ['3:59', 4 * hourMs - 60_000, 1],
    ['4 hours', 4 * hourMs, 2],
    ['12 hours', 12 * hourMs, 3],
    ['a day', 24 * hourMs, 4],
    ['two days', 48 * hourMs, 5],
    ['71 hours', 71 * hourMs, 5],
    ['71:01', 71 * hourMs + 60_000, undefined],
  ])('an hour is asked about %s: %#', (_age, afterEndMs, round) => {
    const hour = Date.parse('2026-11-20T09:00:00Z');
    expect(roundOf(hour + 17 * 60_000, hour + hourMs + afterEndMs)).toBe(round);
  });

  it('ask about no message that is younger than an hour or older than 72', () => {
    fc.assert(
      fc.property(anyTime, fc.integer({ min: 0, max: 100 * hourMs }), (nowMs, ageMs) => {
        const round = roundOf(nowMs - ageMs, nowMs);
        if (round !== undefined) expect(ageMs).toBeGreaterThanOrEqual(hourMs);
        if (round !== undefined) expect(ageMs).toBeLessThanOrEqual(72 * hourMs);
        if (ageMs >= 2 * hourMs && ageMs <= 71 * hourMs) expect(round).toBeGreaterThan(0);
      }),
    );
  });

  it('are the same until the next full hour', () => {
    fc.assert(
      fc.property(anyTime, (nowMs) => {
        const rounds = hoursInRounds(nowMs).map(({ round }) => round);
        expect(hoursInRounds(nextHourMs(nowMs)).length).toBeGreaterThanOrEqual(rounds.length);
        const oldest = nowMs - 72 * hourMs;
        const later = hoursInRounds(nextHourMs(nowMs) - 1).filter((each) => each.hourMs >= oldest);
        expect(hoursInRounds(nowMs).slice(0, later.length)).toEqual(later);
      }),
    );
  });
});

describe('the places after some messages', () => {
  const messages = [
    { id: '01', provider: 'twilio' },
    { id: '02', provider: 'plivo' },
    { id: '03', provider: 'twilio' },
    { id: '04', provider: 'plivo' },
  ];
  const start = { twilio: '00', plivo: '00' };

  it('are behind the last of them', () => {
    expect(advancePlaces(start, messages, [true, true, true, true], false)).toEqual({ twilio: '04', plivo: '04' });
  });

  it('are gone where there are no more', () => {
    expect(advancePlaces(start, messages, [true, true, true, true], true)).toEqual({});
    expect(advancePlaces(start, [], [], true)).toEqual({});
  });

  it('are before the first that could not be asked about, for its upstream alone', () => {
    expect(advancePlaces(start, messages, [true, true, false, true], true)).toEqual({ twilio: '02' });
    expect(advancePlaces(start, messages, [true, false, true, false], false)).toEqual({ twilio: '04', plivo: '01' });
    expect(advancePlaces(start, messages, [false, true, true, true], true)).toEqual({ twilio: '00' });
  });

  it('never go back', () => {
    expect(advancePlaces({ twilio: '00', plivo: '03' }, messages, [true, true, false, false], false)).toEqual({
      twilio: '02',
      plivo: '03',
    });
  });
});
