import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readDelivery, type Delivery, type DeliveryPdu } from './delivery.ts';
import type { PduOf } from './pdu.ts';
import type { SmppSettings } from './settings.ts';
import { tag } from './tlv.ts';
import { settingsWith } from '../../../test/providers/smpp/create-provider.ts';

const text =
  'id:0123456789 sub:001 dlvrd:001 submit date:2601011200 done date:2601011201 stat:DELIVRD err:000 text:hello';

function pduWith(changes: Partial<PduOf<'deliver_sm'>>): PduOf<'deliver_sm'> {
  return {
    command: 'deliver_sm',
    status: 0,
    sequence: 1,
    serviceType: '',
    sourceTon: 1,
    sourceNpi: 1,
    source: '447700900123',
    destinationTon: 5,
    destinationNpi: 0,
    destination: 'HELIO',
    esmClass: 0x04,
    protocolId: 0,
    priority: 0,
    scheduledAt: '',
    validityPeriod: '',
    registeredDelivery: 0,
    replaceIfPresent: 0,
    dataCoding: 0,
    defaultMessageId: 0,
    shortMessage: Buffer.from(text),
    tlvs: new Map(),
    ...changes,
  };
}

function read(changes: Partial<PduOf<'deliver_sm'>>, settings: Partial<SmppSettings> = {}): Delivery {
  return readDelivery(pduWith(changes), settingsWith(settings));
}

function receipt(changes: Partial<PduOf<'deliver_sm'>>, settings: Partial<SmppSettings> = {}) {
  const delivery = read(changes, settings);
  if (delivery.kind !== 'receipt') throw new Error(`read as ${delivery.kind}`);
  return delivery.receipt;
}

const utf16 = (value: string) => Buffer.from(value, 'utf16le').swap16();

describe('a receipt', () => {
  it('names the id, its candidates, the recipient, and itself', () => {
    const { raw, candidates, ...told } = receipt({});
    expect(told).toEqual({ providerMessageId: '0123456789', recipient: '+447700900123', state: 'delivered' });
    expect(candidates[0]).toEqual({ id: '0123456789', certain: true });
    expect(JSON.parse(raw)).toEqual({
      esm_class: 4,
      source: '447700900123',
      destination: 'HELIO',
      text,
      tlvs: {},
    });
  });

  it.each([
    ['ASCII as the default alphabet', { shortMessage: Buffer.from('id:a_b@c stat:DELIVRD') }],
    ['GSM 03.38 as the default alphabet', { shortMessage: Buffer.from('id:a\u0011b\u0000c stat:DELIVRD') }],
    ['ASCII (1)', { dataCoding: 1, shortMessage: Buffer.from('id:a_b@c stat:DELIVRD') }],
    ['Latin-1 (3)', { dataCoding: 3, shortMessage: Buffer.from('id:a_b@c stat:DELIVRD') }],
    ['UCS-2 (8)', { dataCoding: 8, shortMessage: utf16('id:a_b@c stat:DELIVRD') }],
    ['with NULs after its end', { shortMessage: Buffer.from('id:a_b@c stat:DELIVRD\0\0') }],
    [
      'in message_payload',
      {
        shortMessage: Buffer.alloc(0),
        tlvs: new Map([[tag.messagePayload, Buffer.from('id:a_b@c stat:DELIVRD')]]),
      },
    ],
    [
      'after a header',
      { esmClass: 0x44, shortMessage: Buffer.from('\u0005\0\u0003\u0001\u0001\u0001id:a_b@c stat:DELIVRD') },
    ],
  ])('is read in %s', (_title, changes) => {
    expect(receipt(changes)).toMatchObject({ providerMessageId: 'a_b@c', state: 'delivered' });
  });

  it.each([
    ['a final receipt', 0x04, 'delivered'],
    ['a delivery acknowledgement', 0x08, 'delivered'],
    ['an intermediate notification', 0x20, 'sent'],
    ['a receipt with a mode and a reply path', 0x87, 'delivered'],
  ])('is told by esm_class: %s', (_title, esmClass, state) => {
    expect(receipt({ esmClass }).state).toBe(state);
  });

  it('may come as data_sm with its text in message_payload', () => {
    const { shortMessage, ...rest } = pduWith({});
    const pdu = { ...rest, command: 'data_sm', tlvs: new Map([[tag.messagePayload, shortMessage]]) } as DeliveryPdu;
    expect(readDelivery(pdu, settingsWith())).toMatchObject({
      kind: 'receipt',
      receipt: { providerMessageId: '0123456789', state: 'delivered' },
    });
  });

  it('is told by its parameters where the carrier leaves esm_class alone', () => {
    const tlvs = new Map([
      [tag.receiptedMessageId, Buffer.from('55\0')],
      [tag.messageState, Buffer.of(2)],
    ]);
    expect(receipt({ esmClass: 0, tlvs, shortMessage: Buffer.alloc(0) })).toMatchObject({
      providerMessageId: '55',
      state: 'delivered',
    });
  });

  it('says why it failed', () => {
    expect(receipt({ shortMessage: Buffer.from('id:1 stat:UNDELIV err:01A') })).toMatchObject({
      state: 'failed',
      code: '01A',
      message: 'The carrier reports the message as UNDELIV',
    });
    expect(receipt({ shortMessage: Buffer.from('id:1 stat:EXPIRED err:000') })).toMatchObject({
      state: 'undelivered',
      code: 'EXPIRED',
    });
    expect(receipt({})).not.toHaveProperty('code');
  });

  it('tells of an opt-out by the codes the bind lists', () => {
    const shortMessage = Buffer.from('id:1 stat:REJECTD err:0666');
    expect(receipt({ shortMessage }, { optOutCodes: ['0666'] }).optOut).toBe(true);
    expect(receipt({ shortMessage })).not.toHaveProperty('optOut');
  });

  it('spells its ids as the bind says', () => {
    const { candidates } = receipt(
      { shortMessage: Buffer.from('id:255 stat:DELIVRD') },
      { messageIdFormat: 'resp-hex-dlr-dec' },
    );
    expect(candidates).toContainEqual({ id: 'ff', certain: true });
  });

  it('keeps no more than a bounded part of what came', () => {
    const tlvs = new Map(Array.from({ length: 5_000 }, (_, index) => [index, Buffer.alloc(12, 1)] as const));
    tlvs.set(tag.messagePayload, Buffer.alloc(60_000, 'x'));
    expect(receipt({ shortMessage: Buffer.alloc(0), tlvs }).raw.length).toBeLessThan(8_192);
  });

  it('holds nothing that PostgreSQL cannot', () => {
    const shortMessage = utf16('id:1\u00002\ud800 stat:DELIVRD');
    const { providerMessageId, raw, candidates } = receipt({ dataCoding: 8, shortMessage });
    for (const value of [providerMessageId, raw, ...candidates.map(({ id }) => id)]) {
      expect(value).not.toContain('\0');
      expect(value.isWellFormed()).toBe(true);
    }
  });
});

function says(words: string, changes: Partial<PduOf<'deliver_sm'>> = {}): Delivery {
  return read({ esmClass: 0, destination: '40404', shortMessage: Buffer.from(words), ...changes });
}

describe('a message from a subscriber', () => {
  it.each(['STOP', 'stop', ' Stop. ', 'STOP ALL', 'StopAll', 'UNSUBSCRIBE', 'cancel', 'End', 'QUIT!', 'opt-out'])(
    'that says %j opts out',
    (words) => {
      expect(says(words)).toMatchObject({
        kind: 'opt_out',
        optOut: { recipient: '+447700900123', sender: '40404' },
      });
    },
  );

  it('opts out in UCS-2, and after a header', () => {
    expect(says('', { dataCoding: 8, shortMessage: utf16('Arrêt') })).toMatchObject({ kind: 'opt_out' });
    const shortMessage = Buffer.from('\u0005\0\u0003\u0001\u0001\u0001STOP');
    expect(says('', { esmClass: 0x40, shortMessage })).toMatchObject({ kind: 'opt_out' });
  });

  it.each(['please stop sending', 'bus stop', 'hello', '', 'the end is near'])('that says %j does not', (words) => {
    expect(says(words)).toEqual({ kind: 'message' });
  });

  it('is never a receipt, whatever it says', () => {
    expect(says(text)).toEqual({ kind: 'message' });
    expect(says(text, { esmClass: 0x10 })).toEqual({ kind: 'message' });
  });

  it('is read in the alphabet of the bind', () => {
    const shortMessage = Buffer.from('ARR\u00caT', 'latin1');
    expect(read({ esmClass: 0, shortMessage }, { defaultAlphabet: 'latin1' })).toMatchObject({ kind: 'opt_out' });
    // É is 0x1F in GSM 03.38, which has no Ê.
    expect(read({ esmClass: 0, shortMessage })).toEqual({ kind: 'message' });
  });
});

it('there is a reading of any delivery whatever', () => {
  const octets = fc.uint8Array({ maxLength: 255 }).map((bytes) => Buffer.from(bytes));
  const changes = fc.record({
    esmClass: fc.nat(255),
    dataCoding: fc.nat(255),
    source: fc.string(),
    shortMessage: octets,
    tlvs: fc
      .array(fc.tuple(fc.oneof(fc.constantFrom(...Object.values(tag)), fc.nat(0xffff)), octets))
      .map((pairs) => new Map<number, Buffer>(pairs)),
  });
  fc.assert(
    fc.property(changes, (any) => {
      expect(['receipt', 'opt_out', 'message']).toContain(read(any).kind);
    }),
    { numRuns: 1_000 },
  );
});
