import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reconnectDelayMs } from './reconnect.ts';
import { smppTiming } from './timing.ts';

const lost = { code: 'link_closed', message: 'gone' };
const refused = (status: number) => ({ code: 'refused', message: 'refused', status });
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('the wait before the next bind', () => {
  it('doubles from a second to a minute', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8, 2_000].map((failures) => reconnectDelayMs(lost, failures, smppTiming, 0.5));
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it('is spread by a fifth either way', () => {
    fc.assert(
      fc.property(random, (any) => {
        const waitMs = reconnectDelayMs(lost, 1, smppTiming, any);
        expect(waitMs).toBeGreaterThanOrEqual(800);
        expect(waitMs).toBeLessThanOrEqual(1_200);
      }),
    );
    expect(reconnectDelayMs(lost, 1, smppTiming, 0)).not.toBe(reconnectDelayMs(lost, 1, smppTiming, 0.9));
  });

  it.each([0x0d, 0x0e, 0x0f, 0x15, 0x53, 0x100])('is a minute at least after refused credentials (%i)', (status) => {
    fc.assert(
      fc.property(random, fc.integer({ min: 1, max: 50 }), (any, failures) => {
        expect(reconnectDelayMs(refused(status), failures, smppTiming, any)).toBeGreaterThanOrEqual(60_000);
      }),
    );
  });

  it('is half a minute to a minute while an old session holds the account', () => {
    fc.assert(
      fc.property(random, fc.integer({ min: 1, max: 50 }), (any, failures) => {
        const waitMs = reconnectDelayMs(refused(0x05), failures, smppTiming, any);
        expect(waitMs).toBeGreaterThanOrEqual(30_000);
        expect(waitMs).toBeLessThanOrEqual(60_000);
      }),
    );
  });

  it.each([0x58, 0x14, 0x08])('is an ordinary one after a passing refusal (%i)', (status) => {
    expect(reconnectDelayMs(refused(status), 1, smppTiming, 0.5)).toBe(1_000);
  });
});
