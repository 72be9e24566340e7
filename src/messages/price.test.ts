import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pricePerSegment, type RateCard } from './price.ts';

const rateCard: RateCard = {
  defaultMicros: 10,
  byPrefix: new Map([
    ['+1', 1],
    ['+44', 44],
    ['+447', 447],
    ['+447700900123', 0],
  ]),
};

describe('the price of a segment', () => {
  it.each([
    ['+33612345678', 10],
    ['+14155550123', 1],
    ['+442079460000', 44],
    ['+447912345678', 447],
    ['+447700900123', 0],
    ['+4477009001234', 0],
    ['+4', 10],
  ])('to %s is %i: the longest prefix that matches counts', (recipient, price) => {
    expect(pricePerSegment(recipient, rateCard)).toBe(price);
  });

  it("is the route's own where it has one, even if the rate card has a longer prefix", () => {
    const rates = new Map([['+44', 5]]);
    expect(pricePerSegment('+447912345678', rateCard, rates)).toBe(5);
    expect(pricePerSegment('+14155550123', rateCard, rates)).toBe(1);
    expect(pricePerSegment('+33612345678', rateCard, rates)).toBe(10);
  });

  it('is that of the longest matching prefix of any rate card', () => {
    const digits = fc.string({ unit: fc.constantFrom('1', '2'), maxLength: 6 });
    fc.assert(
      fc.property(fc.dictionary(digits, fc.nat()), digits, fc.nat(), (prices, number, defaultMicros) => {
        const byPrefix = new Map(Object.entries(prices).map(([prefix, price]) => [`+${prefix}`, price]));
        const matching = [...byPrefix].filter(([prefix]) => `+${number}`.startsWith(prefix));
        const longest = matching.toSorted(([a], [b]) => b.length - a.length)[0];
        expect(pricePerSegment(`+${number}`, { defaultMicros, byPrefix })).toBe(longest?.[1] ?? defaultMicros);
      }),
    );
  });
});
