import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageIdCandidates } from './message-id.ts';

function idsOf(id: string, format: Parameters<typeof messageIdCandidates>[1] = 'auto'): string[] {
  return messageIdCandidates(id, format).map((candidate) => candidate.id);
}

describe('the ids a receipt may mean', () => {
  // What submit_sm_resp said, and how the receipt spells it.
  it.each([
    ['the same', 'B1946AC9-2492', 'B1946AC9-2492'],
    ['in another case', 'a1b2c3d4', 'A1B2C3D4'],
    ['with zeros before it', '870928761', '0000000870928761'],
    ['without its zeros', '0000012345', '12345'],
    ['without the zeros of a hex number', '00A1B2C3', 'a1b2c3'],
    ['in decimal, ten digits', '33E95179', '0870928761'],
    ['in decimal, lower case at first', '33e95179', '870928761'],
    ['in decimal, padded hex at first', '000000000033e95179'.slice(-16), '870928761'],
    ['in hex', '870928761', '33E95179'],
    ['in hex, padded', '0870928761', '0000000033e95179'],
    ['beyond 2^53 in decimal', 'FFFFFFFFFFFFFFFF', '18446744073709551615'],
    ['beyond 2^53 in hex', '18446744073709551615', 'ffffffffffffffff'],
  ])('include it %s', (_title, answered, receipted) => {
    expect(idsOf(receipted)).toContain(answered);
  });

  it('begin with the id as it is, the only one that is certain, then its spellings from near to far', () => {
    expect(messageIdCandidates('0AB', 'auto')).toEqual([
      { id: '0AB', certain: true },
      { id: '0ab', certain: false },
      { id: 'ab', certain: false },
      { id: 'AB', certain: false },
      { id: '000000ab', certain: false },
      { id: '000000AB', certain: false },
      { id: '00000000ab', certain: false },
      { id: '00000000AB', certain: false },
      { id: '00000000000000ab', certain: false },
      { id: '00000000000000AB', certain: false },
      { id: '171', certain: false },
      { id: '00000171', certain: false },
      { id: '0000000171', certain: false },
      { id: '0000000000000171', certain: false },
    ]);
  });

  it('are no more than the format says', () => {
    expect(idsOf('255', 'as-is')).toEqual(['255']);
    expect(idsOf('255', 'resp-hex-dlr-dec')).toEqual(expect.arrayContaining(['ff', 'FF', '000000ff', '000000FF']));
    expect(idsOf('255', 'resp-hex-dlr-dec')).not.toContain('255');
    expect(idsOf('ff', 'resp-dec-dlr-hex')).toEqual(['255', '00000255', '0000000255', '0000000000000255']);
    expect(idsOf('FF', 'both-hex')).toEqual(expect.arrayContaining(['FF', 'ff', '000000ff']));
    expect(idsOf('FF', 'both-hex')).not.toContain('255');
  });

  it('are certain wherever a format is configured', () => {
    for (const format of ['as-is', 'resp-hex-dlr-dec', 'resp-dec-dlr-hex', 'both-hex'] as const) {
      expect(messageIdCandidates('255', format).every(({ certain }) => certain)).toBe(true);
    }
  });

  it.each(['resp-hex-dlr-dec', 'resp-dec-dlr-hex', 'both-hex'] as const)(
    'are the id itself where %s cannot read it',
    (format) => {
      expect(idsOf('no-number', format)).toEqual(['no-number']);
    },
  );

  it('are none where there is no id', () => {
    expect(messageIdCandidates('', 'auto')).toEqual([]);
  });

  it('are few and different whatever the id', () => {
    const anyId = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom(...Array.from('0123456789abcdefABCDEF')) }),
      fc.bigInt({ min: 0n }).map(String),
    );
    fc.assert(
      fc.property(
        anyId,
        fc.constantFrom('auto', 'as-is', 'resp-hex-dlr-dec', 'resp-dec-dlr-hex', 'both-hex'),
        (id, format) => {
          const ids = idsOf(id, format);
          expect(new Set(ids).size).toBe(ids.length);
          expect(ids.length).toBeLessThanOrEqual(30);
          if (id !== '' && format === 'auto') expect(ids[0]).toBe(id);
        },
      ),
    );
  });

  it('name every number again when its spelling is changed and changed back', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 63n }), (number) => {
        expect(idsOf(number.toString())).toContain(number.toString(16));
        expect(idsOf(number.toString(16))).toContain(number.toString());
      }),
    );
  });
});
