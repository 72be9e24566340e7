import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldParts } from './fold-parts.ts';

describe('the state of a message over its parts', () => {
  it.each([
    [['delivered'], 'delivered'],
    [['delivered', 'delivered', 'delivered'], 'delivered'],
    [['delivered', 'sent'], 'sent'],
    [['undelivered', 'sent'], 'sent'],
    [['sent', 'failed'], 'failed'],
    [['delivered', 'failed'], 'failed'],
    [['undelivered', 'failed'], 'failed'],
    [['delivered', 'undelivered'], 'undelivered'],
    [['undelivered', 'undelivered'], 'undelivered'],
    [[], 'sent'],
  ] as const)('of %j is %s', (states, expected) => {
    expect(foldParts(states)).toBe(expected);
  });

  it('does not depend on the order of the parts, and never leaves a final state as more of them end', () => {
    const anyState = fc.constantFrom('sent', 'delivered', 'undelivered', 'failed');
    fc.assert(
      fc.property(fc.array(anyState, { minLength: 1 }), fc.nat(), anyState, (states, at, later) => {
        expect(foldParts(states.toReversed())).toBe(foldParts(states));
        const index = at % states.length;
        if (states[index] === 'sent' && foldParts(states) !== 'sent') {
          expect(foldParts(states.with(index, later))).toBe(foldParts(states));
        }
      }),
    );
  });
});
