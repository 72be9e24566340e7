import { decoders, isSeptetCoding } from './alphabet.ts';
import { type Concatenation, readConcatenation } from './concatenation.ts';
import { BodyReader, commandStatus, MalformedBody, tags } from './pdu.ts';

export type Address = { readonly ton: number; readonly npi: number; readonly number: string };

/** One submit_sm: a message, or a part of one. */
export type Part = {
  readonly source: Address;
  /** Digits, in international form. */
  readonly destination: string;
  readonly text: string;
  readonly registeredDelivery: number;
  readonly userReference: number | undefined;
  readonly concatenation: Concatenation | undefined;
};

/** What was asked, or the status to refuse it with. */
export type SubmitReading = { readonly part: Part } | { readonly refusedWith: number; readonly destination?: string };

const INTERNATIONAL = 1;
const ALPHANUMERIC = 5;
const UDH_INDICATOR = 0x40;
const SEPTETS_MAX = 160;
const OCTETS_MAX = 140;
/** SAR parts leave room for the header that the SMSC makes of them. */
const SAR_HEADER_OCTETS = 6;

const RECIPIENT = /^[1-9]\d{6,14}$/;
const SHORT_NUMBER = /^\d{3,15}$/;
const NAME = /^[ -~]{1,11}$/;
const TIME = /^(?:\d{15}[+-]|\d{12}000R)?$/;

export function readSubmit(body: Buffer): SubmitReading {
  try {
    const fields = readFields(body);
    const refusedWith = fieldProblem(fields);
    const destination = fields.destination.number;
    return refusedWith === undefined ? readText(fields) : { refusedWith, destination };
  } catch (error) {
    if (error instanceof MalformedBody) return { refusedWith: error.status };
    throw error;
  }
}

type SubmitFields = ReturnType<typeof readFields>;

/** SMPP 3.4, 4.4.1. */
function readFields(body: Buffer) {
  const reader = new BodyReader(body);
  return {
    serviceType: reader.cString(6),
    source: readAddress(reader),
    destination: readAddress(reader),
    esmClass: reader.octet(),
    protocolId: reader.octet(),
    priority: reader.octet(),
    scheduleTime: reader.cString(17),
    validityPeriod: reader.cString(17),
    registeredDelivery: reader.octet(),
    replaceIfPresent: reader.octet(),
    dataCoding: reader.octet(),
    defaultMessageId: reader.octet(),
    shortMessage: reader.octets(reader.octet()),
    tlvs: reader.tlvs(),
  };
}

function readAddress(reader: BodyReader): Address {
  return { ton: reader.octet(), npi: reader.octet(), number: reader.cString(21) };
}

function fieldProblem(fields: SubmitFields): number | undefined {
  const { source, destination, esmClass, registeredDelivery } = fields;
  const checks: readonly [holds: boolean, status: number][] = [
    [source.npi <= 1, commandStatus.invalidSourceNpi],
    [source.ton <= 6, commandStatus.invalidSourceTon],
    [isSender(source), commandStatus.invalidSource],
    [destination.npi <= 1, commandStatus.invalidDestinationNpi],
    [destination.ton <= INTERNATIONAL, commandStatus.invalidDestinationTon],
    [RECIPIENT.test(destination.number), commandStatus.invalidDestination],
    // Bits 2 to 5 are the type of a message, and only an ordinary one is submitted.
    [(esmClass & 0x3c) === 0, commandStatus.invalidEsmClass],
    [fields.priority <= 3, commandStatus.invalidPriority],
    [TIME.test(fields.scheduleTime), commandStatus.invalidSchedule],
    [TIME.test(fields.validityPeriod), commandStatus.invalidExpiry],
    [registeredDelivery <= 0x1f && (registeredDelivery & 0x03) !== 0x03, commandStatus.invalidRegisteredDelivery],
    [fields.replaceIfPresent <= 1, commandStatus.invalidReplaceFlag],
    [decoders.has(fields.dataCoding), commandStatus.invalidDataCoding],
  ];
  return checks.find(([holds]) => !holds)?.[1];
}

function isSender({ ton, number }: Address): boolean {
  if (ton === ALPHANUMERIC) return NAME.test(number);
  return (ton === INTERNATIONAL ? RECIPIENT : SHORT_NUMBER).test(number);
}

function readText(fields: SubmitFields): SubmitReading {
  const { shortMessage, dataCoding, tlvs, esmClass, registeredDelivery } = fields;
  const destination = fields.destination.number;
  const refuse = (refusedWith: number) => ({ refusedWith, destination });

  const payload = tlvs.get(tags.messagePayload);
  if (payload !== undefined && shortMessage.length > 0) return refuse(commandStatus.invalidMessageLength);
  const content = payload ?? shortMessage;

  const header = readConcatenation(content, (esmClass & UDH_INDICATOR) !== 0, tlvs);
  if ('refusedWith' in header) return refuse(header.refusedWith);
  const octets = content.subarray(header.octets);
  const fits = payload !== undefined || fitsOneMessage(octets.length, header.octets || sarOctets(header), dataCoding);
  if (octets.length === 0 || !fits) return refuse(commandStatus.invalidMessageLength);

  const text = decoders.get(dataCoding)?.(octets);
  if (text === undefined) return refuse(commandStatus.invalidDataCoding);
  const userReference = tlvs.get(tags.userMessageReference);
  return {
    part: {
      source: fields.source,
      destination,
      text,
      registeredDelivery,
      userReference: userReference?.length === 2 ? userReference.readUInt16BE() : undefined,
      concatenation: header.concatenation,
    },
  };
}

function sarOctets({ concatenation }: { concatenation: Concatenation | undefined }): number {
  return concatenation === undefined ? 0 : SAR_HEADER_OCTETS;
}

/** A header takes whole octets of 140, and of septets so many as it covers. */
function fitsOneMessage(textOctets: number, headerOctets: number, dataCoding: number): boolean {
  if (!isSeptetCoding(dataCoding)) return textOctets + headerOctets <= OCTETS_MAX;
  return textOctets + Math.ceil((headerOctets * 8) / 7) <= SEPTETS_MAX;
}
