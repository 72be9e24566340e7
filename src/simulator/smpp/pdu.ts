/** SMPP 3.4, section 4: header and fields of the PDUs that a carrier and its customers exchange. */
export const commandIds = {
  bindReceiver: 0x01,
  bindTransmitter: 0x02,
  submitSm: 0x04,
  deliverSm: 0x05,
  unbind: 0x06,
  bindTransceiver: 0x09,
  enquireLink: 0x15,
} as const;

/** Set in the command id of a response; alone it is that of a generic_nack. */
export const RESPONSE_BIT = 0x8000_0000;

export const commandStatus = {
  ok: 0x00,
  invalidMessageLength: 0x01,
  invalidCommandLength: 0x02,
  invalidCommandId: 0x03,
  notBoundForThis: 0x04,
  alreadyBound: 0x05,
  invalidPriority: 0x06,
  invalidRegisteredDelivery: 0x07,
  systemError: 0x08,
  invalidSource: 0x0a,
  invalidDestination: 0x0b,
  invalidPassword: 0x0e,
  invalidSystemId: 0x0f,
  invalidEsmClass: 0x43,
  invalidSourceTon: 0x48,
  invalidSourceNpi: 0x49,
  invalidDestinationTon: 0x50,
  invalidDestinationNpi: 0x51,
  invalidReplaceFlag: 0x54,
  throttled: 0x58,
  invalidSchedule: 0x61,
  invalidExpiry: 0x62,
  permanentError: 0x65,
  invalidOptionalParameters: 0xc0,
  missingOptionalParameter: 0xc3,
  invalidOptionalParameter: 0xc4,
  invalidDataCoding: 0x104,
  /** This carrier's own, from the range SMPP leaves to vendors: there is no standard one. */
  outOfFunds: 0x40b,
} as const;

export const tags = {
  receiptedMessageId: 0x1e,
  userMessageReference: 0x0204,
  sarReference: 0x020c,
  sarTotal: 0x020e,
  sarSequence: 0x020f,
  interfaceVersion: 0x0210,
  networkErrorCode: 0x0423,
  messagePayload: 0x0424,
  messageState: 0x0427,
} as const;

export const HEADER_OCTETS = 16;
/** A message_payload of 64 KiB is the largest that SMPP allows; nobody sends one here. */
export const PDU_OCTETS_MAX = 64 * 1024;

export type Pdu = {
  readonly commandId: number;
  readonly status: number;
  readonly sequence: number;
  readonly body: Buffer;
};

export function encodePdu(commandId: number, status: number, sequence: number, body: readonly Buffer[] = []): Buffer {
  const header = Buffer.allocUnsafe(HEADER_OCTETS);
  const bodyOctets = body.reduce((octets, field) => octets + field.length, 0);
  header.writeUInt32BE(HEADER_OCTETS + bodyOctets, 0);
  header.writeUInt32BE(commandId, 4);
  header.writeUInt32BE(status, 8);
  header.writeUInt32BE(sequence, 12);
  return Buffer.concat([header, ...body]);
}

export function cString(text: string): Buffer {
  return Buffer.from(`${text}\0`, 'latin1');
}

export function tlv(tag: number, value: Buffer): Buffer {
  const header = Buffer.allocUnsafe(4);
  header.writeUInt16BE(tag, 0);
  header.writeUInt16BE(value.length, 2);
  return Buffer.concat([header, value]);
}

/** Fields that end before they should, or go on after it. */
export class MalformedBody extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`The body of a PDU is malformed (status ${status}).`);
    this.status = status;
  }
}

/** Reads a body from its start, field by field. */
export class BodyReader {
  readonly #body: Buffer;
  #at = 0;

  constructor(body: Buffer) {
    this.#body = body;
  }

  /** `octetsMax` includes the terminating NUL, as the specification counts. */
  cString(octetsMax: number): string {
    const end = this.#body.indexOf(0, this.#at);
    if (end === -1 || end - this.#at >= octetsMax) throw new MalformedBody(commandStatus.invalidCommandLength);
    const text = this.#body.toString('latin1', this.#at, end);
    this.#at = end + 1;
    return text;
  }

  octet(): number {
    return this.octets(1)[0] ?? 0;
  }

  octets(count: number): Buffer {
    if (this.#at + count > this.#body.length) throw new MalformedBody(commandStatus.invalidCommandLength);
    const octets = this.#body.subarray(this.#at, this.#at + count);
    this.#at += count;
    return octets;
  }

  /** The optional parameters, which take up the rest. */
  tlvs(): ReadonlyMap<number, Buffer> {
    const values = new Map<number, Buffer>();
    while (this.#at < this.#body.length) {
      if (this.#at + 4 > this.#body.length) throw new MalformedBody(commandStatus.invalidOptionalParameters);
      const tag = this.#body.readUInt16BE(this.#at);
      const octets = this.#body.readUInt16BE(this.#at + 2);
      this.#at += 4;
      if (this.#at + octets > this.#body.length) throw new MalformedBody(commandStatus.invalidOptionalParameters);
      values.set(tag, this.octets(octets));
    }
    return values;
  }
}
