import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fingerprintOf } from './idempotency.ts';

it('requests have the same fingerprint exactly when operation and content are the same', () => {
  const content = fc.tuple(
    fc.array(fc.string(), { maxLength: 3 }),
    fc.string(),
    fc.option(fc.integer()),
    fc.option(fc.string()),
  );
  const operation = fc.constantFrom('send', 'bulk');
  fc.assert(
    fc.property(operation, content, operation, content, (first, a, second, b) => {
      const isSame = first === second && JSON.stringify(a) === JSON.stringify(b);
      expect(fingerprintOf(first, a).equals(fingerprintOf(second, b))).toBe(isSame);
    }),
  );
  expect(fingerprintOf('send', [['ab'], 'c']).equals(fingerprintOf('send', [['a'], 'bc']))).toBe(false);
});
