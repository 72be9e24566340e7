import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { amountMax, toMicros } from './transfer.ts';

describe('an amount in micro-units', () => {
  test.each([
    [0.1, 100_000],
    [0.000001, 1],
    [1.005, 1_005_000],
    [-4.35, -4_350_000],
    [999_999_999.999999, 999_999_999_999_999],
    [amountMax, amountMax * 1_000_000],
  ])('%d is exactly %i', (amount, micros) => {
    expect(toMicros(amount)).toBe(micros);
  });

  test.each([0.0000001, 1.0000005, 0.1 + 0.2, 1e-300])('%d has more than six decimals', (amount) => {
    expect(toMicros(amount)).toBeUndefined();
  });

  test('any number of micro-units, written as a decimal, comes back as itself', () => {
    fc.assert(
      fc.property(fc.integer({ min: -amountMax * 1_000_000, max: amountMax * 1_000_000 }), (micros) => {
        const digits = String(Math.abs(micros)).padStart(7, '0');
        const decimal = `${micros < 0 ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`;
        expect(toMicros(JSON.parse(decimal) as number)).toBe(micros);
      }),
    );
  });
});
