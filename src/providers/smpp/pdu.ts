// SMPP 3.4 PDUs (chapters 4 and 5): a header of four 32-bit numbers, the command's fields in order, then optional parameters (TLVs).
//
//   00000021 80000009 00000000 00000001  53 4d 53 43 00  0210 0001 34 …
//   length   command  status   sequence  system_id       tag  size value

type FieldKind = 'octet' | 'text' | 'octets';
type Field = readonly [name: string, kind: FieldKind];

const bindFields = [
  ['systemId', 'text'],
  ['password', 'text'],
  ['systemType', 'text'],
  ['interfaceVersion', 'octet'],
  ['addressTon', 'octet'],
  ['addressNpi', 'octet'],
  ['addressRange', 'text'],
] as const;

const addressFields = [
  ['serviceType', 'text'],
  ['sourceTon', 'octet'],
  ['sourceNpi', 'octet'],
  ['source', 'text'],
  ['destinationTon', 'octet'],
  ['destinationNpi', 'octet'],
  ['destination', 'text'],
  ['esmClass', 'octet'],
] as const;

const messageFields = [
  ...addressFields,
  ['protocolId', 'octet'],
  ['priority', 'octet'],
  ['scheduledAt', 'text'],
  ['validityPeriod', 'text'],
  ['registeredDelivery', 'octet'],
  ['replaceIfPresent', 'octet'],
  ['dataCoding', 'octet'],
  ['defaultMessageId', 'octet'],
  ['shortMessage', 'octets'],
] as const;

const dataFields = [...addressFields, ['registeredDelivery', 'octet'], ['dataCoding', 'octet']] as const;
const bindRespFields = [['systemId', 'text']] as const;
const messageRespFields = [['messageId', 'text']] as const;

const commands = {
  generic_nack: { id: 0x8000_0000, fields: [] },
  bind_receiver: { id: 0x01, fields: bindFields },
  bind_receiver_resp: { id: 0x8000_0001, fields: bindRespFields },
  bind_transmitter: { id: 0x02, fields: bindFields },
  bind_transmitter_resp: { id: 0x8000_0002, fields: bindRespFields },
  submit_sm: { id: 0x04, fields: messageFields },
  submit_sm_resp: { id: 0x8000_0004, fields: messageRespFields },
  deliver_sm: { id: 0x05, fields: messageFields },
  deliver_sm_resp: { id: 0x8000_0005, fields: messageRespFields },
  unbind: { id: 0x06, fields: [] },
  unbind_resp: { id: 0x8000_0006, fields: [] },
  bind_transceiver: { id: 0x09, fields: bindFields },
  bind_transceiver_resp: { id: 0x8000_0009, fields: bindRespFields },
  enquire_link: { id: 0x15, fields: [] },
  enquire_link_resp: { id: 0x8000_0015, fields: [] },
  data_sm: { id: 0x103, fields: dataFields },
  data_sm_resp: { id: 0x8000_0103, fields: messageRespFields },
} as const satisfies Record<string, { id: number; fields: readonly Field[] }>;

export type CommandName = keyof typeof commands;

type ValueOf = { octet: number; text: string; octets: Buffer };
type FieldsOf<List extends readonly Field[]> = { [Each in List[number] as Each[0]]: ValueOf[Each[1]] };

/** Optional parameters by tag, as they are on the wire. */
export type Tlvs = ReadonlyMap<number, Buffer>;

type PduByName = {
  [Name in CommandName]: { command: Name; status: number; sequence: number; tlvs?: Tlvs } & FieldsOf<
    (typeof commands)[Name]['fields']
  >;
};

export type Pdu = PduByName[CommandName];
export type PduOf<Name extends CommandName> = PduByName[Name];

/** What can be read of a PDU that is not one of ours, or broken: enough to answer it. */
export type Unreadable = {
  ok: false;
  problem: 'unknown_command' | 'malformed';
  isResponse: boolean;
  sequence: number;
};

export type Decoded = { ok: true; pdu: Pdu } | Unreadable;

const headerLength = 16;
const shortMessageLengthMax = 255;
const responseBit = 0x8000_0000;

const nameOfId = new Map<number, CommandName>(
  (Object.keys(commands) as CommandName[]).map((name) => [commands[name].id, name]),
);

export function isResponse(command: CommandName): boolean {
  return commands[command].id >= responseBit;
}

/** The PDU's octets. A response that refuses has no body. */
export function encode(pdu: Pdu): Buffer {
  const { id, fields } = commands[pdu.command];
  const pieces: Buffer[] = [Buffer.alloc(headerLength)];
  if (!isResponse(pdu.command) || pdu.status === 0) {
    const values = pdu as unknown as Record<string, ValueOf[FieldKind]>;
    for (const [name, kind] of fields) pieces.push(encodeField(kind, values[name]));
    for (const [tag, value] of pdu.tlvs ?? []) pieces.push(encodeTlvHead(tag, value.length), value);
  }
  const octets = Buffer.concat(pieces);
  octets.writeUInt32BE(octets.length, 0);
  octets.writeUInt32BE(id, 4);
  octets.writeUInt32BE(pdu.status, 8);
  octets.writeUInt32BE(pdu.sequence, 12);
  return octets;
}

function encodeField(kind: FieldKind, value: ValueOf[FieldKind] | undefined): Buffer {
  if (kind === 'octet') return Buffer.of(value as number);
  if (kind === 'text') {
    const text = value as string;
    if (text.includes('\0')) throw new RangeError('a text field of a PDU ends at its first NUL and cannot hold one');
    return Buffer.from(`${text}\0`, 'latin1');
  }
  const octets = value as Buffer;
  if (octets.length > shortMessageLengthMax) throw new RangeError(`a short_message of ${octets.length} octets`);
  return Buffer.concat([Buffer.of(octets.length), octets]);
}

function encodeTlvHead(tag: number, length: number): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(tag, 0);
  head.writeUInt16BE(length, 2);
  return head;
}

/** Reads one whole frame of at least a header. */
export function decode(frame: Buffer): Decoded {
  const id = frame.readUInt32BE(4);
  const status = frame.readUInt32BE(8);
  const sequence = frame.readUInt32BE(12);
  const command = nameOfId.get(id);
  const answers = id >= responseBit;
  if (command === undefined) return { ok: false, problem: 'unknown_command', isResponse: answers, sequence };

  const body = new Body(frame, headerLength, answers);
  const values: Record<string, ValueOf[FieldKind]> = {};
  for (const [name, kind] of commands[command].fields) {
    const value = body.read(kind);
    if (value === undefined) return { ok: false, problem: 'malformed', isResponse: answers, sequence };
    values[name] = value;
  }
  return { ok: true, pdu: { command, status, sequence, tlvs: body.readTlvs(), ...values } as unknown as Pdu };
}

/** Walks a body. Peers leave out the body of a response, or the NUL at its end, and mean nothing by it: `lenient` reads what is there. */
class Body {
  readonly #frame: Buffer;
  readonly #lenient: boolean;
  #offset: number;

  constructor(frame: Buffer, offset: number, lenient: boolean) {
    this.#frame = frame;
    this.#offset = offset;
    this.#lenient = lenient;
  }

  /** Undefined where the body ends inside the field. */
  read(kind: FieldKind): ValueOf[FieldKind] | undefined {
    if (kind === 'text') return this.#readText();
    const octet = this.#frame[this.#offset];
    if (octet === undefined) return undefined;
    this.#offset += 1;
    return kind === 'octet' ? octet : this.#readOctets(octet);
  }

  /** Parameters nobody here knows are kept like the others; a last one that is cut short is left out. */
  readTlvs(): Tlvs {
    const tlvs = new Map<number, Buffer>();
    while (this.#offset + 4 <= this.#frame.length) {
      const tag = this.#frame.readUInt16BE(this.#offset);
      const length = this.#frame.readUInt16BE(this.#offset + 2);
      this.#offset += 4;
      const value = this.#readOctets(length);
      if (value === undefined) break;
      tlvs.set(tag, value);
    }
    return tlvs;
  }

  #readText(): string | undefined {
    let end = this.#frame.indexOf(0, this.#offset);
    if (end < 0) {
      if (!this.#lenient) return undefined;
      end = this.#frame.length;
    }
    const text = this.#frame.toString('latin1', this.#offset, end);
    this.#offset = Math.min(end + 1, this.#frame.length);
    return text;
  }

  #readOctets(length: number): Buffer | undefined {
    const end = this.#offset + length;
    if (end > this.#frame.length) return undefined;
    const octets = this.#frame.subarray(this.#offset, end);
    this.#offset = end;
    return octets;
  }
}
