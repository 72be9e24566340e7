// A receipt is a deliver_sm whose text follows Appendix B of SMPP 3.4, more or less:
//
//   id:0123456789 sub:001 dlvrd:001 submit date:2601011200 done date:2601011201 stat:DELIVRD err:000 text:hello
//
// and whose optional parameters, where the carrier sets them, say the same more reliably.
import type { Receipt } from '../provider.ts';
import type { Tlvs } from './pdu.ts';
import { tag } from './tlv.ts';

type State = Receipt['state'];

/** What a receipt says, before anyone knows which message it is about. */
export type ReceiptReport = {
  /** Empty where the receipt names none. */
  messageId: string;
  state: State;
  /** The state as the carrier wrote it; empty where it wrote none. */
  stateName: string;
  /** The network's error; undefined where none is told. */
  errorCode: string | undefined;
};

const idLengthMax = 255;

/** message_state (SMPP 5.0, 4.7.15), with the name it has in a text. */
const stateNames = [
  'SCHEDULED',
  'ENROUTE',
  'DELIVRD',
  'EXPIRED',
  'DELETED',
  'UNDELIV',
  'ACCEPTD',
  'UNKNOWN',
  'REJECTD',
  'SKIPPED',
] as const;

/** Abbreviated as in Appendix B, and spelled out as some carriers do. */
const states: ReadonlyMap<string, State> = new Map([
  ['SCHEDULED', 'sent'],
  ['ENROUTE', 'sent'],
  ['ACCEPTD', 'sent'],
  ['ACCEPTED', 'sent'],
  ['BUFFERED', 'sent'],
  ['BUFFRED', 'sent'],
  ['DELIVRD', 'delivered'],
  ['DELIVERED', 'delivered'],
  ['EXPIRED', 'undelivered'],
  ['UNKNOWN', 'undelivered'],
  ['SKIPPED', 'undelivered'],
  ['DELETED', 'failed'],
  ['UNDELIV', 'failed'],
  ['UNDELIVERABLE', 'failed'],
  ['REJECTD', 'failed'],
  ['REJECTED', 'failed'],
  ['FAILED', 'failed'],
]);

const networks: ReadonlyMap<number, string> = new Map([
  [1, 'ansi136'],
  [2, 'is95'],
  [3, 'gsm'],
]);

/** Reads a receipt; what is in the optional parameters wins over the text. `acceptedIsDelivered`: ACCEPTD is this carrier's success. */
export function readReceipt(text: string, tlvs: Tlvs, acceptedIsDelivered: boolean): ReceiptReport {
  // From `text:` on the message itself is quoted, and may hold anything, receipts included.
  const quoteAt = text.search(/(?:^|\s)text:/i);
  const fields = quoteAt < 0 ? text : text.slice(0, quoteAt);
  const stateName = stateNameOf(tlvs.get(tag.messageState)) ?? fieldOf(fields, statePattern)?.toUpperCase() ?? '';
  const messageId = textOf(tlvs.get(tag.receiptedMessageId)) || fieldOf(fields, idPattern) || '';
  return {
    messageId: messageId.slice(0, idLengthMax),
    state: acceptedIsDelivered && stateName.startsWith('ACCEPT') ? 'delivered' : (states.get(stateName) ?? 'sent'),
    stateName,
    errorCode: networkErrorOf(tlvs.get(tag.networkErrorCode)) ?? textErrorOf(fields),
  };
}

// One blank after the colon is forgiven where the next word is a value and not the next field (`err: text:`).
const idPattern = /(?:^|\s)id:(?:(\S+)|\s(?!\w+:)(\S+))/i;
const statePattern = /(?:^|\s)stat:\s?([A-Za-z]+)(?![\w:])/i;
const errorPattern = /(?:^|\s)err:\s?(\w+)(?![\w:])/i;

function fieldOf(fields: string, pattern: RegExp): string | undefined {
  const found = pattern.exec(fields);
  return found?.[1] ?? found?.[2];
}

/** `err:000` is no error. */
function textErrorOf(fields: string): string | undefined {
  const code = fieldOf(fields, errorPattern);
  return code === undefined || /^0+$/.test(code) ? undefined : code;
}

function stateNameOf(value: Buffer | undefined): string | undefined {
  const [number] = value ?? [];
  return number === undefined ? undefined : stateNames[number];
}

function textOf(value: Buffer | undefined): string | undefined {
  return value?.toString('latin1').split('\0', 1)[0];
}

/** One octet for the kind of network, two for its code; a code of 0 is no error. */
function networkErrorOf(value: Buffer | undefined): string | undefined {
  if (value === undefined || value.length !== 3) return undefined;
  const code = value.readUInt16BE(1);
  const network = value.readUInt8(0);
  return code === 0 ? undefined : `${networks.get(network) ?? network}:${code}`;
}
