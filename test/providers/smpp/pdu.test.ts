import fc from 'fast-check';
import smpp from 'smpp';
import { describe, expect, it } from 'vitest';
import { decode, encode, type CommandName, type Pdu, type PduOf } from '../../../src/providers/smpp/pdu.ts';

const octet = fc.integer({ min: 0, max: 255 });
const text = fc.string({
  unit: fc.integer({ min: 1, max: 0xff }).map((code) => String.fromCharCode(code)),
  maxLength: 65,
});
const octets = (maxLength: number) => fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes));
const tlvs = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 0xffff }), octets(300)), { maxLength: 5 })
  .map((pairs) => new Map(pairs));

const address = {
  serviceType: text,
  sourceTon: octet,
  sourceNpi: octet,
  source: text,
  destinationTon: octet,
  destinationNpi: octet,
  destination: text,
  esmClass: octet,
};
const message = {
  ...address,
  protocolId: octet,
  priority: octet,
  scheduledAt: text,
  validityPeriod: text,
  registeredDelivery: octet,
  replaceIfPresent: octet,
  dataCoding: octet,
  defaultMessageId: octet,
  shortMessage: octets(255),
};
const bind = {
  systemId: text,
  password: text,
  systemType: text,
  interfaceVersion: octet,
  addressTon: octet,
  addressNpi: octet,
  addressRange: text,
};

const fieldsOf: Record<CommandName, Record<string, fc.Arbitrary<unknown>>> = {
  generic_nack: {},
  bind_receiver: bind,
  bind_receiver_resp: { systemId: text },
  bind_transmitter: bind,
  bind_transmitter_resp: { systemId: text },
  bind_transceiver: bind,
  bind_transceiver_resp: { systemId: text },
  submit_sm: message,
  submit_sm_resp: { messageId: text },
  deliver_sm: message,
  deliver_sm_resp: { messageId: text },
  data_sm: { ...address, registeredDelivery: octet, dataCoding: octet },
  data_sm_resp: { messageId: text },
  unbind: {},
  unbind_resp: {},
  enquire_link: {},
  enquire_link_resp: {},
};

const anyPdu = fc.oneof(
  ...(Object.keys(fieldsOf) as CommandName[]).map((command) =>
    fc.record({
      command: fc.constant(command),
      status: fc.constant(0),
      sequence: fc.integer({ min: 0, max: 0x7fff_ffff }),
      tlvs,
      ...fieldsOf[command],
    }),
  ),
) as fc.Arbitrary<Pdu>;

const submit: PduOf<'submit_sm'> = {
  command: 'submit_sm',
  status: 0,
  sequence: 2,
  serviceType: '',
  sourceTon: 5,
  sourceNpi: 0,
  source: 'HELIO',
  destinationTon: 1,
  destinationNpi: 1,
  destination: '447700900123',
  esmClass: 0,
  protocolId: 0,
  priority: 0,
  scheduledAt: '',
  validityPeriod: '',
  registeredDelivery: 1,
  replaceIfPresent: 0,
  dataCoding: 0,
  defaultMessageId: 0,
  shortMessage: Buffer.from('68656c6c6f001b65', 'hex'),
};

describe('PDUs', () => {
  it('come back from the wire as they were', () => {
    fc.assert(
      fc.property(anyPdu, (pdu) => {
        expect(decode(encode(pdu))).toEqual({ ok: true, pdu });
      }),
    );
  });

  it('are octet for octet what SMPP 3.4 says', () => {
    expect(encode(submit).toString('hex')).toBe(
      [
        '0000003a 00000004 00000000 00000002',
        '00 05 00 48454c494f00 01 01 34343737303039303031323300',
        '00 00 00 00 00 01 00 00 00',
        '08 68656c6c6f001b65',
      ]
        .join('')
        .replaceAll(' ', ''),
    );
    expect(encode({ command: 'enquire_link', status: 0, sequence: 0x7fff_ffff }).toString('hex')).toBe(
      '0000001000000015000000007fffffff',
    );
    expect(encode({ command: 'generic_nack', status: 3, sequence: 9 }).toString('hex')).toBe(
      '00000010800000000000000300000009',
    );
    expect(
      encode({
        command: 'bind_transceiver',
        status: 0,
        sequence: 1,
        systemId: 'helio',
        password: 'secret',
        systemType: '',
        interfaceVersion: 0x34,
        addressTon: 0,
        addressNpi: 0,
        addressRange: '',
      }).toString('hex'),
    ).toBe('0000002200000009000000000000000168656c696f00736563726574000034000000');
  });

  it('have no body where they refuse', () => {
    const refusal: Pdu = { command: 'submit_sm_resp', status: 0x0b, sequence: 5, messageId: 'never sent' };
    expect(encode(refusal).toString('hex')).toBe('00000010800000040000000b00000005');
    expect(decode(encode(refusal))).toMatchObject({ ok: true, pdu: { status: 0x0b, messageId: '' } });
  });

  it('refuse to write a text that would end early, or a message that has no length', () => {
    expect(() => encode({ ...submit, source: 'HE\0LIO' })).toThrow(RangeError);
    expect(() => encode({ ...submit, shortMessage: Buffer.alloc(256) })).toThrow(RangeError);
  });
});

describe('PDUs and the npm package smpp', () => {
  it('agree on a submit_sm', () => {
    const read = new smpp.PDU(encode({ ...submit, tlvs: new Map([[0x020c, Buffer.of(0x12, 0x34)]]) }));
    expect(read).toMatchObject({
      command: 'submit_sm',
      sequence_number: 2,
      source_addr_ton: 5,
      source_addr: 'HELIO',
      dest_addr_ton: 1,
      dest_addr_npi: 1,
      destination_addr: '447700900123',
      registered_delivery: 1,
      data_coding: 0,
      short_message: { message: 'hello@€' },
      sar_msg_ref_num: 0x1234,
    });
  });

  it('agree on UCS-2', () => {
    const shortMessage = Buffer.from('006800690020d83dde00', 'hex');
    const read = new smpp.PDU(encode({ ...submit, dataCoding: 8, shortMessage }));
    expect(read['short_message']).toEqual({ message: 'hi 😀' });
  });

  it.each(['deliver_sm', 'data_sm'] as const)('agree on a %s with parameters', (command) => {
    const written = new smpp.PDU(command, {
      sequence_number: 7,
      esm_class: 4,
      source_addr_ton: 1,
      source_addr: '447700900123',
      destination_addr: 'HELIO',
      data_coding: 0,
      receipted_message_id: 'A1B2',
      message_state: 2,
      ...(command === 'deliver_sm' ? { short_message: Buffer.from('id:A1B2 stat:DELIVRD') } : {}),
    });
    const decoded = decode(written.toBuffer());
    expect(decoded).toMatchObject({
      ok: true,
      pdu: { command, sequence: 7, esmClass: 4, sourceTon: 1, source: '447700900123', destination: 'HELIO' },
    });
    const pdu = decoded.ok ? decoded.pdu : undefined;
    expect(pdu?.tlvs).toEqual(
      new Map([
        [0x001e, Buffer.from('A1B2\0')],
        [0x0427, Buffer.of(2)],
      ]),
    );
  });

  it('agree on every answer', () => {
    for (const command of ['bind_transceiver_resp', 'bind_transmitter_resp', 'bind_receiver_resp'] as const) {
      const written = new smpp.PDU(command, { sequence_number: 3, system_id: 'SMSC', sc_interface_version: 0x34 });
      expect(decode(written.toBuffer())).toEqual({
        ok: true,
        pdu: { command, status: 0, sequence: 3, systemId: 'SMSC', tlvs: new Map([[0x0210, Buffer.of(0x34)]]) },
      });
    }
    for (const command of ['deliver_sm_resp', 'data_sm_resp'] as const) {
      const read = new smpp.PDU(encode({ command, status: 0, sequence: 8, messageId: '' }));
      expect(read).toMatchObject({ command, command_status: 0, sequence_number: 8, message_id: '' });
    }
  });
});

function header(length: number, id: number): Buffer {
  const octetsOfHeader = Buffer.alloc(length);
  octetsOfHeader.writeUInt32BE(length, 0);
  octetsOfHeader.writeUInt32BE(id, 4);
  octetsOfHeader.writeUInt32BE(6, 12);
  return octetsOfHeader;
}

describe('PDUs of careless peers', () => {
  it.each([
    ['no body at all', '', ''],
    ['an id without its NUL', '3132', '12'],
    ['an empty id', '00', ''],
    ['octets after the id', '313200ffff', '12'],
  ])('are read where an answer has %s', (_title, body, messageId) => {
    const frame = Buffer.concat([header(16, 0x8000_0004), Buffer.from(body, 'hex')]);
    expect(decode(frame)).toMatchObject({ ok: true, pdu: { command: 'submit_sm_resp', sequence: 6, messageId } });
  });

  it('keep the parameters before one that is cut short', () => {
    const whole = encode({
      command: 'data_sm_resp',
      status: 0,
      sequence: 1,
      messageId: 'a',
      tlvs: new Map([
        [1, Buffer.of(1)],
        [2, Buffer.of(2, 2)],
      ]),
    });
    const cut = decode(whole.subarray(0, -1));
    expect(cut).toMatchObject({ ok: true, pdu: { tlvs: new Map([[1, Buffer.of(1)]]) } });
  });

  it.each([
    ['a request cut inside a text', encode(submit).subarray(0, 22)],
    ['a request cut inside its octets', encode(submit).subarray(0, -1)],
    ['a request without a body', header(16, 0x05)],
  ])('are malformed as %s', (_title, frame) => {
    expect(decode(frame)).toMatchObject({ ok: false, problem: 'malformed', isResponse: false });
  });

  it.each([
    [0x0000_0003, false],
    [0x8000_0003, true],
    [0xffff_ffff, true],
  ])('are unknown with the command 0x%s', (id, isResponse) => {
    expect(decode(header(16, id))).toEqual({ ok: false, problem: 'unknown_command', isResponse, sequence: 6 });
  });

  it('have a reading whatever their octets', () => {
    const ids = [0x01, 0x02, 0x04, 0x05, 0x06, 0x09, 0x15, 0x103, 0x8000_0000, 0x8000_0004, 0x8000_0009];
    const anyFrame = fc.tuple(fc.oneof(fc.constantFrom(...ids), fc.nat(0xffff_ffff)), octets(400)).map(([id, body]) => {
      return Buffer.concat([header(16, id), body]);
    });
    fc.assert(
      fc.property(anyFrame, (frame) => {
        expect(decode(frame)).toHaveProperty('ok');
      }),
      { numRuns: 2_000 },
    );
  });
});
