import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { segment } from './segments.ts';

const family = '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}\u200D\u{1F466}';

describe('segments', () => {
  it.each([
    ['160 septets fit one segment', 'a'.repeat(160), 'gsm7', 1],
    ['161 septets need two', 'a'.repeat(161), 'gsm7', 2],
    ['306 septets fill two', 'a'.repeat(306), 'gsm7', 2],
    ['307 septets need three', 'a'.repeat(307), 'gsm7', 3],
    ['80 extension characters fit one segment', '€'.repeat(80), 'gsm7', 1],
    ['81 extension characters need two', '€'.repeat(81), 'gsm7', 2],
    ['an escape is not split across segments', `${'a'.repeat(152)}€${'a'.repeat(152)}`, 'gsm7', 3],
    ['76 € + a + 76 € fill two', `${'€'.repeat(76)}a${'€'.repeat(76)}`, 'gsm7', 2],
    ['158 a + € fit one segment', `${'a'.repeat(158)}€`, 'gsm7', 1],
    ['159 a + € need two', `${'a'.repeat(159)}€`, 'gsm7', 2],
    ['70 UCS-2 units fit one segment', 'ж'.repeat(70), 'ucs2', 1],
    ['71 UCS-2 units need two', 'ж'.repeat(71), 'ucs2', 2],
    ['134 UCS-2 units fill two', 'ж'.repeat(134), 'ucs2', 2],
    ['135 UCS-2 units need three', 'ж'.repeat(135), 'ucs2', 3],
    ['35 surrogate pairs fit one segment', '😀'.repeat(35), 'ucs2', 1],
    ['36 surrogate pairs need two', '😀'.repeat(36), 'ucs2', 2],
    ['a surrogate pair is not split across segments', `${'ж'.repeat(66)}😀${'ж'.repeat(66)}`, 'ucs2', 3],
    ['a grapheme cluster may be split, a pair not', `${'ж'.repeat(60)}${family}${'ж'.repeat(60)}`, 'ucs2', 2],
    ['CR and LF are one septet each', `${'a'.repeat(158)}\r\n`, 'gsm7', 1],
    ['every extension character costs two septets', '|~[]{}^\\'.repeat(10), 'gsm7', 1],
  ] as const)('%s', (_guarantee, body, encoding, segments) => {
    expect(segment(body)).toEqual({ encoding, segments });
  });

  it.each(['ç', 'á', '`', '“', '’', '\u00a0', '\t', '\u001b', '\u0000', '\ufeff', '\u0391'])(
    '%j is outside the GSM alphabet and forces UCS-2',
    (character) => {
      expect(segment(`hello ${character}`).encoding).toBe('ucs2');
    },
  );

  it.each(['é', 'Ç', 'ß', 'Δ', '@', '$', '_', '\f', '€', '¡'])('%j is in the GSM alphabet', (character) => {
    expect(segment(`hello ${character}`).encoding).toBe('gsm7');
  });

  it('a longer body never needs fewer segments', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 400 }),
        fc.constantFrom('a', '€', 'ж', '😀'),
        (body, more) => {
          expect(segment(body + more).segments).toBeGreaterThanOrEqual(segment(body).segments);
        },
      ),
    );
  });
});
