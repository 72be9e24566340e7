import fc from 'fast-check';
import smpp, { type PDU } from 'smpp';
import { describe, expect, it } from 'vitest';
import { segment } from '../../../src/messages/segments.ts';
import type { SendRequest } from '../../../src/providers/provider.ts';
import { encode } from '../../../src/providers/smpp/pdu.ts';
import { PartReferences } from '../../../src/providers/smpp/part-reference.ts';
import type { SmppSettings } from '../../../src/providers/smpp/settings.ts';
import { composeSubmits, divide, type Submit } from '../../../src/providers/smpp/submit.ts';
import { messageWith } from '../cases.ts';
import { settingsWith } from './create-provider.ts';

function partsOf(body: string): string[] {
  const { dataCoding, parts } = divide(body, segment(body).encoding, 'gsm');
  return parts.map((octets) => `${dataCoding}:${dataCoding === 8 ? octets.length / 2 : octets.length}`);
}

function compose(body: string, changes: Partial<SmppSettings> = {}, request: Partial<SendRequest> = {}): Submit[] {
  const { encoding } = segment(body);
  return composeSubmits(messageWith({ body, encoding, ...request }), 0x12ab, settingsWith(changes)) ?? [];
}

/** What the package reads of our octets. */
function readByPeer(submit: Submit): PDU {
  return new smpp.PDU(encode({ ...submit, sequence: 1 }));
}

const family = '👨‍👩‍👧‍👦';

/** Text of the letters that matter: one septet, two septets, none, a surrogate pair. */
const anyBody = fc.string({ unit: fc.constantFrom('a', '@', '€', '{', 'ж', '😀'), maxLength: 500, minLength: 1 });

describe('a body on the wire', () => {
  it.each([
    ['hello@€', 0, '68656c6c6f001b65'],
    ['$_Δ', 0, '021110'],
    ['{|}\\^~[]\f', 0, '1b281b401b291b2f1b141b3d1b3c1b3e1b0a'],
    ['hi 😀', 8, '006800690020d83dde00'],
    ['ж', 8, '0436'],
  ])('is %j with data_coding %d as %s', (body, dataCoding, octets) => {
    const [only, ...more] = compose(body);
    expect(more).toEqual([]);
    expect(only).toMatchObject({ dataCoding, esmClass: 0, registeredDelivery: 1 });
    expect(only?.shortMessage.toString('hex')).toBe(octets);
  });

  it('is one septet an octet for each of the 137 letters of GSM 03.38, as the peer reads them', () => {
    for (let code = 0; code < 0x1_0000; code += 1) {
      const letter = String.fromCharCode(code);
      if (code === 0x1b || segment(letter).encoding !== 'gsm7') continue;
      const [submit] = compose(letter);
      expect(submit && readByPeer(submit)['short_message']).toEqual({ message: letter });
    }
  });

  it.each([
    ['160 septets', 'a'.repeat(160), ['0:160']],
    ['161 septets', 'a'.repeat(161), ['0:153', '0:8']],
    ['306 septets', 'a'.repeat(306), ['0:153', '0:153']],
    ['307 septets', 'a'.repeat(307), ['0:153', '0:153', '0:1']],
    ['80 escapes', '€'.repeat(80), ['0:160']],
    ['81 escapes, one septet left empty', '€'.repeat(81), ['0:152', '0:10']],
    ['an escape at the end of a part', `${'a'.repeat(152)}€${'a'.repeat(152)}`, ['0:152', '0:153', '0:1']],
    ['an escape that just fits', `${'€'.repeat(76)}a${'€'.repeat(76)}`, ['0:153', '0:152']],
    ['158 septets and an escape', `${'a'.repeat(158)}€`, ['0:160']],
    ['159 septets and an escape', `${'a'.repeat(159)}€`, ['0:153', '0:8']],
    ['70 units', 'ж'.repeat(70), ['8:70']],
    ['71 units', 'ж'.repeat(71), ['8:67', '8:4']],
    ['135 units', 'ж'.repeat(135), ['8:67', '8:67', '8:1']],
    ['36 pairs, one unit left empty', '😀'.repeat(36), ['8:66', '8:6']],
    ['a pair at the end of a part', `${'ж'.repeat(66)}😀${'ж'.repeat(66)}`, ['8:66', '8:67', '8:1']],
    ['a family across parts', `${'ж'.repeat(60)}${family}${'ж'.repeat(60)}`, ['8:66', '8:65']],
  ])('is divided at the right place: %s', (_title, body, expected) => {
    expect(partsOf(body)).toEqual(expected);
  });

  it('has as many parts as it is billed for', () => {
    fc.assert(
      fc.property(anyBody, (body) => {
        expect(partsOf(body)).toHaveLength(segment(body).segments);
      }),
    );
  });

  it('is whole again when the peer puts the parts together', () => {
    fc.assert(
      fc.property(anyBody, (body) => {
        const read = compose(body).map(
          (submit) => (readByPeer(submit)['short_message'] as { message: string }).message,
        );
        expect(read.join('')).toBe(body);
        for (const part of read) expect(part.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('the parts of a long text', () => {
  const long = 'a'.repeat(307);

  it('carry a header by default: reference, count and number', () => {
    const parts = compose(long);
    expect(parts.map((part) => part.esmClass)).toEqual([0x40, 0x40, 0x40]);
    expect(parts.map((part) => part.shortMessage.subarray(0, 6).toString('hex'))).toEqual([
      '050003ab0301',
      '050003ab0302',
      '050003ab0303',
    ]);
    expect(parts.map((part) => part.shortMessage.length)).toEqual([159, 159, 7]);
  });

  it('carry SAR parameters where the bind wants them', () => {
    const parts = compose(long, { concat: 'sar' });
    expect(parts.map(({ esmClass, shortMessage }) => [esmClass, shortMessage.length])).toEqual([
      [0, 153],
      [0, 153],
      [0, 1],
    ]);
    for (const [index, part] of parts.entries()) {
      expect(readByPeer(part)).toMatchObject({
        sar_msg_ref_num: 0x12ab,
        sar_total_segments: 3,
        sar_segment_seqnum: index + 1,
      });
    }
  });

  it('are one message_payload where the bind wants that', () => {
    const [only, ...more] = compose(long, { concat: 'payload' });
    expect(more).toEqual([]);
    expect(only?.shortMessage).toHaveLength(0);
    expect(only && readByPeer(only)['message_payload']).toEqual({ message: long });
    // What fits one message needs no parameter.
    expect(compose('short', { concat: 'payload' })[0]?.tlvs).toBeUndefined();
  });

  it('are refused where there are more than can be numbered', () => {
    const { encoding } = segment('a');
    const request = messageWith({ body: 'a'.repeat(153 * 255 + 1), encoding });
    expect(composeSubmits(request, 0, settingsWith())).toBeUndefined();
    const huge = messageWith({ body: 'a'.repeat(70_000), encoding });
    expect(composeSubmits(huge, 0, settingsWith({ concat: 'payload' }))).toBeUndefined();
  });

  it('have a reference that counts up for each recipient, from a random start, and wraps', () => {
    const starts = [0.5, 65_534 / 65_536];
    const references = new PartReferences(() => starts.shift() ?? 0);
    expect([1, 2, 3].map(() => references.next('+1'))).toEqual([32_769, 32_770, 32_771]);
    expect([1, 2].map(() => references.next('+2'))).toEqual([65_535, 0]);
    expect(references.next('+1')).toBe(32_772);
  });
});

describe('a default alphabet that is not GSM 03.38', () => {
  it.each([
    ['latin1', 'é@ä_$', 0, 'e940e45f24'],
    ['latin1', '€', 8, '20ac'],
    ['latin1', 'Δ', 8, '0394'],
    ['ascii', 'a@_{', 0, '61405f7b'],
    ['ascii', 'é', 8, '00e9'],
  ] as const)('%s has %j with data_coding %d as %s', (defaultAlphabet, body, dataCoding, octets) => {
    const [only] = compose(body, { defaultAlphabet });
    expect(only?.dataCoding).toBe(dataCoding);
    expect(only?.shortMessage.toString('hex')).toBe(octets);
  });

  it('is divided by the septets it becomes on the radio', () => {
    const { parts } = divide('{'.repeat(81), 'gsm7', 'latin1');
    expect(parts.map((octets) => octets.length)).toEqual([76, 5]);
  });
});

describe('addresses', () => {
  it.each([
    ['an alphanumeric sender', 'HELIO', { source: 'HELIO', sourceTon: 5, sourceNpi: 0 }],
    ['a short code', '40404', { source: '40404', sourceTon: 3, sourceNpi: 0 }],
    ['a long number', '+15005550006', { source: '15005550006', sourceTon: 1, sourceNpi: 1 }],
    ['a long number without plus', '15005550006', { source: '15005550006', sourceTon: 1, sourceNpi: 1 }],
  ])('mark %s', (_title, from, expected) => {
    const [only] = compose('x', {}, { from });
    expect(only).toMatchObject({ ...expected, destination: '447700900123', destinationTon: 1, destinationNpi: 1 });
  });

  it('are marked as the bind says', () => {
    const addresses = {
      alphanumeric: { ton: 5, npi: 1 },
      shortCode: { ton: 6, npi: 0 },
      longCode: { ton: 2, npi: 8 },
      destination: { ton: 0, npi: 1 },
    };
    const kinds = ['HELIO', '40404', '+15005550006'].map((from) => compose('x', { addresses }, { from })[0]);
    expect(kinds.map((submit) => [submit?.sourceTon, submit?.sourceNpi])).toEqual([
      [5, 1],
      [6, 0],
      [2, 8],
    ]);
    expect(kinds[0]).toMatchObject({ destinationTon: 0, destinationNpi: 1 });
  });
});

describe('the validity period', () => {
  it.each([
    [undefined, ''],
    [60, '000000000100000R'],
    [86_400, '000001000000000R'],
    [2_591_999, '000029235959000R'],
  ])('of %s seconds is %j', (validitySeconds, expected) => {
    expect(compose('x', { validitySeconds })[0]?.validityPeriod).toBe(expected);
  });
});
