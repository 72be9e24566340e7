import { senderFormOf } from '../../senders/sender-form.ts';
import type { SendRequest } from '../provider.ts';
import { senderWithoutPlus } from '../sender.ts';
import { defaultLetters, ucs2Letters, type DefaultAlphabet, type Letter } from './alphabet.ts';
import type { PduOf, Tlvs } from './pdu.ts';
import type { SmppSettings } from './settings.ts';
import { tag } from './tlv.ts';

/** A submit_sm before the link gives it a number. */
export type Submit = Omit<PduOf<'submit_sm'>, 'sequence'>;

/** A body as it is submitted: one part, or several of which none divides a character. */
export type Division = { dataCoding: number; parts: Buffer[] };

/** Septets, and UTF-16 units, of a message alone and of a part that shares its 140 octets with the header of a concatenation. */
const capacity = { default: { alone: 160, part: 153 }, ucs2: { alone: 70, part: 67 } } as const;

const dataCoding = { default: 0, ucs2: 8 } as const;
const esmClass = { plain: 0x00, withHeader: 0x40 } as const;
/** A part's number and the parts' count are one octet each. */
const partsMax = 255;
/** An optional parameter's length is two octets. */
const payloadLengthMax = 0xffff;

/** Divides a body by the encoding it is billed in; only a default alphabet that lacks one of its characters makes it UCS-2 instead. */
export function divide(body: string, encoding: SendRequest['encoding'], alphabet: DefaultAlphabet): Division {
  const letters = encoding === 'gsm7' ? defaultLetters(body, alphabet) : undefined;
  return letters === undefined
    ? { dataCoding: dataCoding.ucs2, parts: fill(ucs2Letters(body), capacity.ucs2) }
    : { dataCoding: dataCoding.default, parts: fill(letters, capacity.default) };
}

/** What does not fit whole into the rest of one part starts the next. */
function fill(letters: readonly Letter[], { alone, part }: { alone: number; part: number }): Buffer[] {
  const size = letters.reduce((sum, letter) => sum + letter.size, 0);
  const room = size <= alone ? alone : part;
  const parts: number[][] = [[]];
  let left = room;
  for (const letter of letters) {
    if (letter.size > left) {
      parts.push([]);
      left = room;
    }
    left -= letter.size;
    parts.at(-1)?.push(...letter.octets);
  }
  return parts.map((octets) => Buffer.from(octets));
}

/**
 * The submit_sm of every part, in order. `reference` (16 bits) ties the parts together at the handset. Undefined where the text is longer
 * than SMPP can say.
 */
export function composeSubmits(request: SendRequest, reference: number, settings: SmppSettings): Submit[] | undefined {
  const division = divide(request.body, request.encoding, settings.defaultAlphabet);
  const envelope = envelopeOf(request, division.dataCoding, settings);
  const { parts } = division;
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return [{ ...envelope, shortMessage: only }];
  if (settings.concat === 'payload') {
    const payload = Buffer.concat(parts);
    return payload.length > payloadLengthMax
      ? undefined
      : [{ ...envelope, tlvs: new Map([[tag.messagePayload, payload]]) }];
  }
  if (parts.length > partsMax) return undefined;
  return parts.map((octets, index) => {
    const place = { reference, total: parts.length, number: index + 1 };
    return settings.concat === 'udh'
      ? { ...envelope, esmClass: esmClass.withHeader, shortMessage: Buffer.concat([headerOf(place), octets]) }
      : { ...envelope, shortMessage: octets, tlvs: sarOf(place) };
  });
}

type Place = { reference: number; total: number; number: number };

/** User data header: five octets follow, information element 0 (concatenation, 8-bit reference) of three (3GPP TS 23.040, 9.2.3.24.1). */
function headerOf({ reference, total, number }: Place): Buffer {
  return Buffer.of(0x05, 0x00, 0x03, reference & 0xff, total, number);
}

function sarOf({ reference, total, number }: Place): Tlvs {
  return new Map([
    [tag.sarReference, Buffer.of((reference >> 8) & 0xff, reference & 0xff)],
    [tag.sarTotal, Buffer.of(total)],
    [tag.sarNumber, Buffer.of(number)],
  ]);
}

function envelopeOf({ to, from }: SendRequest, coding: number, settings: SmppSettings): Submit {
  const { addresses, serviceType, validitySeconds } = settings;
  const source = sourceKind(from, addresses);
  return {
    command: 'submit_sm',
    status: 0,
    serviceType,
    sourceTon: source.ton,
    sourceNpi: source.npi,
    source: senderWithoutPlus(from),
    destinationTon: addresses.destination.ton,
    destinationNpi: addresses.destination.npi,
    destination: to.replace(/^\+/, ''),
    esmClass: esmClass.plain,
    protocolId: 0,
    priority: 0,
    scheduledAt: '',
    validityPeriod: validitySeconds === undefined ? '' : relativeTime(validitySeconds),
    // A receipt for the final state, good or bad.
    registeredDelivery: 1,
    replaceIfPresent: 0,
    dataCoding: coding,
    defaultMessageId: 0,
    shortMessage: Buffer.alloc(0),
  };
}

function sourceKind(from: string, addresses: SmppSettings['addresses']): { ton: number; npi: number } {
  switch (senderFormOf(from)) {
    case 'short_code':
      return addresses.shortCode;
    case 'long_code':
      return addresses.longCode;
    default:
      return addresses.alphanumeric;
  }
}

/** `YYMMDDhhmmss000R` (SMPP 3.4, 7.1.1.2), in days and less: months have no fixed length. */
function relativeTime(seconds: number): string {
  const fields = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3_600) % 24,
    Math.floor(seconds / 60) % 60,
    seconds % 60,
  ];
  return `0000${fields.map((field) => String(field).padStart(2, '0')).join('')}000R`;
}
