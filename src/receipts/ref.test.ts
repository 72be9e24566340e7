import { createSecretKey, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { providerNames } from '../providers/provider.ts';
import { decodeRef, encodeRef } from './ref.ts';

const key = createSecretKey(randomBytes(32));
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const anyRef = fc.record({ accountId: fc.uuid(), messageId: fc.uuid(), attempt: fc.nat({ max: 255 }) });

describe('a ref', () => {
  it('names its attempt, in few enough characters for every upstream', () => {
    fc.assert(
      fc.property(anyRef, (ref) => {
        const text = encodeRef(ref, 'twilio', key);
        expect(decodeRef(text, 'twilio', key)).toEqual(ref);
        expect(text).toMatch(/^[\w-]{58}$/);
      }),
    );
  });

  it('is not recognized with any one character changed', () => {
    fc.assert(
      fc.property(anyRef, fc.nat({ max: 57 }), fc.nat({ max: 62 }), (ref, position, shift) => {
        const text = encodeRef(ref, 'twilio', key);
        const other = alphabet[(alphabet.indexOf(text[position] ?? '') + 1 + shift) % 64] ?? '';
        expect(decodeRef(text.slice(0, position) + other + text.slice(position + 1), 'twilio', key)).toBeUndefined();
      }),
    );
  });

  it('is not recognized under another key', () => {
    fc.assert(
      fc.property(anyRef, (ref) => {
        expect(decodeRef(encodeRef(ref, 'twilio', createSecretKey(randomBytes(32))), 'twilio', key)).toBeUndefined();
      }),
      { numRuns: 20 },
    );
  });

  it('is not recognized as one of another provider', () => {
    fc.assert(
      fc.property(anyRef, fc.constantFrom(...providerNames), fc.constantFrom(...providerNames), (ref, own, other) => {
        const read = decodeRef(encodeRef(ref, own, key), other, key);
        expect(read).toEqual(own === other ? ref : undefined);
      }),
    );
  });

  it('is not recognized in arbitrary text, and none makes it throw', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.string({ unit: fc.constantFrom(...Array.from(alphabet)), minLength: 58, maxLength: 58 }),
        ),
        (text) => {
          expect(decodeRef(text, 'twilio', key)).toBeUndefined();
        },
      ),
    );
  });

  it('has one spelling only', () => {
    const text = encodeRef(
      {
        accountId: '01890a5d-ac96-774b-bcce-b302099a8057',
        messageId: '01890a5d-ac96-774b-bcce-b302099a8057',
        attempt: 0,
      },
      'twilio',
      key,
    );
    for (const spelling of [
      `${text}=`,
      `${text} `,
      text.replaceAll('-', '+').replaceAll('_', '/').concat('=='),
      `${text}A`,
    ]) {
      expect(decodeRef(spelling, 'twilio', key)).toBeUndefined();
    }
  });
});
