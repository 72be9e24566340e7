import type { AsyncOptOut, AsyncReceipt } from '../provider.ts';
import { shorten } from '../result.ts';
import { decodeGsm, decodeUcs2, type DefaultAlphabet } from './alphabet.ts';
import { messageIdCandidates } from './message-id.ts';
import type { PduOf, Tlvs } from './pdu.ts';
import { readReceipt } from './receipt.ts';
import type { SmppSettings } from './settings.ts';
import { tag } from './tlv.ts';

/** What a carrier hands to us: receipts, and messages that subscribers sent. */
export type DeliveryPdu = PduOf<'deliver_sm'> | PduOf<'data_sm'>;

export type Delivery =
  | { kind: 'receipt'; receipt: AsyncReceipt }
  | { kind: 'opt_out'; optOut: AsyncOptOut }
  /** Anything else a subscriber wrote; nobody here wants it. */
  | { kind: 'message' };

export type DeliverySettings = Pick<
  SmppSettings,
  'defaultAlphabet' | 'messageIdFormat' | 'optOutCodes' | 'acceptedIsDelivered'
>;

/** Bits 5 to 2 of esm_class (SMPP 3.4, 5.2.12). */
const messageType = { mask: 0x3c, receipt: 0x04, acknowledgement: 0x08, intermediate: 0x20 } as const;
const headerBit = 0x40;

/** Of a text that is kept; the longest receipt fits many times over. */
const textLengthMax = 2_000;
const tlvsMax = 32;
const tlvOctetsMax = 64;

const optOutWords: ReadonlySet<string> = new Set([
  'STOP',
  'STOPALL',
  'STOP ALL',
  'UNSUBSCRIBE',
  'CANCEL',
  'END',
  'QUIT',
  'OPTOUT',
  'OPT OUT',
  'OPT-OUT',
  'REVOKE',
  'ARRET',
]);

/** Reads what the carrier delivered. Never fails: what cannot be understood moves nothing. */
export function readDelivery(pdu: DeliveryPdu, settings: DeliverySettings): Delivery {
  const tlvs = pdu.tlvs ?? new Map<number, Buffer>();
  const octets = octetsOf(pdu, tlvs);
  if (isReceipt(pdu, tlvs)) {
    const text = decodeReceiptText(octets, pdu.dataCoding);
    return { kind: 'receipt', receipt: receiptOf(pdu, text, tlvs, settings) };
  }
  const keyword = optOutWordOf(decodeText(octets, pdu.dataCoding, settings.defaultAlphabet));
  return keyword === undefined
    ? { kind: 'message' }
    : {
        kind: 'opt_out',
        optOut: { recipient: withPlus(pdu.source), sender: pdu.destination, keyword },
      };
}

/** The text alone proves nothing: a subscriber can write `id:… stat:DELIVRD` too. Only the carrier sets esm_class and the parameters. */
function isReceipt({ esmClass }: DeliveryPdu, tlvs: Tlvs): boolean {
  switch (esmClass & messageType.mask) {
    case messageType.receipt:
    case messageType.acknowledgement:
    case messageType.intermediate:
      return true;
    default:
      return tlvs.has(tag.receiptedMessageId) && tlvs.has(tag.messageState);
  }
}

function receiptOf(pdu: DeliveryPdu, text: string, tlvs: Tlvs, settings: DeliverySettings): AsyncReceipt {
  const report = readReceipt(text, tlvs, settings.acceptedIsDelivered);
  const isIntermediate = (pdu.esmClass & messageType.mask) === messageType.intermediate;
  const state = isIntermediate ? 'sent' : report.state;
  const { messageId, stateName, errorCode } = report;
  return {
    providerMessageId: messageId,
    candidates: messageIdCandidates(messageId, settings.messageIdFormat),
    recipient: withPlus(pdu.source),
    state,
    ...(state === 'failed' || state === 'undelivered'
      ? { code: errorCode ?? stateName, message: shorten(`The carrier reports the message as ${stateName}`) }
      : {}),
    ...(errorCode !== undefined && settings.optOutCodes.includes(errorCode) ? { optOut: true } : {}),
    raw: JSON.stringify({
      esm_class: pdu.esmClass,
      source: pdu.source,
      destination: pdu.destination,
      text: text.slice(0, textLengthMax),
      tlvs: Object.fromEntries(
        Array.from(tlvs)
          .slice(0, tlvsMax)
          .map(([name, value]) => [name.toString(16).padStart(4, '0'), value.toString('hex', 0, tlvOctetsMax)]),
      ),
    }),
  };
}

/** The text is in the short message, or in message_payload when that is empty; a user data header before it is left out. */
function octetsOf(pdu: DeliveryPdu, tlvs: Tlvs): Buffer {
  const short = pdu.command === 'deliver_sm' ? pdu.shortMessage : Buffer.alloc(0);
  const octets = short.length > 0 ? short : (tlvs.get(tag.messagePayload) ?? short);
  const [headerLength] = octets;
  return (pdu.esmClass & headerBit) !== 0 && headerLength !== undefined ? octets.subarray(headerLength + 1) : octets;
}

/**
 * Receipts are ASCII whatever the alphabet of messages is. Only octets that ASCII text never has tell of one in GSM 03.38, where `_` and
 * `@`, which ids may hold, are 0x11 and 0x00.
 */
function decodeReceiptText(octets: Buffer, dataCoding: number): string {
  const end = octets.findLastIndex((octet) => octet !== 0) + 1;
  const text = octets.subarray(0, end);
  const isGsm = text.some((octet) => octet < 0x20 && octet !== 0x09 && octet !== 0x0a && octet !== 0x0d);
  return decodeText(dataCoding === 8 ? octets : text, dataCoding, isGsm ? 'gsm' : 'latin1');
}

function decodeText(octets: Buffer, dataCoding: number, alphabet: DefaultAlphabet): string {
  if (dataCoding === 8) return withoutNul(decodeUcs2(octets));
  if (dataCoding === 0 && alphabet === 'gsm') return withoutNul(decodeGsm(octets));
  return withoutNul(octets.toString('latin1'));
}

/** PostgreSQL's text cannot hold NUL. */
function withoutNul(text: string): string {
  return text.replaceAll('\0', '');
}

function optOutWordOf(text: string): string | undefined {
  const word = text
    .trim()
    .toUpperCase()
    .replace(/[.!\s]+$/, '')
    .replace(/\s+/g, ' ')
    .replace('ARRÊT', 'ARRET');
  return optOutWords.has(word) ? word : undefined;
}

function withPlus(address: string): string {
  return /^\d+$/.test(address) ? `+${address}` : address;
}
