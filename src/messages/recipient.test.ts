import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isRecipient } from './recipient.ts';

it('a recipient is a plus sign and 7 to 15 digits of which the first is not 0', () => {
  for (let length = 0; length <= 20; length += 1) {
    expect(isRecipient(`+${'1'.repeat(length)}`)).toBe(length >= 7 && length <= 15);
  }
  fc.assert(
    fc.property(fc.integer({ min: 1_000_000, max: Number.MAX_SAFE_INTEGER }), (number) => {
      expect(isRecipient(`+${number}`)).toBe(String(number).length <= 15);
    }),
  );
});

it.each([
  '',
  '+',
  '1234567',
  '+0123456789',
  '+1 234567',
  '+1234567\n',
  '\n+1234567',
  '+１２３４５６７',
  '+-1234567',
  '++1234567',
])('%j is none', (text) => {
  expect(isRecipient(text)).toBe(false);
});
