import type { Message } from '../message.ts';
import type { ReceiptStatus } from '../scenario.ts';
import type { Report } from '../upstream.ts';
import { encodeGsm } from './alphabet.ts';
import { cString, tags, tlv } from './pdu.ts';

const FINAL_RECEIPT = 0x04;
const INTERMEDIATE_NOTIFICATION = 0x20;
const GSM_NETWORK = 3;
const INTERNATIONAL = 1;
const ISDN = 1;

const MODE_BITS = 0x03;
const ONLY_ON_FAILURE = 0x02;
const WITH_INTERMEDIATE = 0x10;

const wireStatuses: Record<ReceiptStatus, { stat: string; state: number; error: number }> = {
  sent: { stat: 'ENROUTE', state: 1, error: 0 },
  delivered: { stat: 'DELIVRD', state: 2, error: 0 },
  failed: { stat: 'UNDELIV', state: 5, error: 1 },
  expired: { stat: 'EXPIRED', state: 3, error: 27 },
};

/** Whether registered_delivery of the submit_sm asked for a receipt on this status. */
export function isReceiptWanted({ submission }: Message, status: ReceiptStatus): boolean {
  const registered = Number(submission.details?.['registeredDelivery']);
  if (status === 'sent') return (registered & WITH_INTERMEDIATE) !== 0;
  const mode = registered & MODE_BITS;
  return mode !== 0 && (mode !== ONLY_ON_FAILURE || status !== 'delivered');
}

/**
 * The body of a deliver_sm, from the subscriber to the sender: SMPP 3.4, 4.6.1, with the text of appendix B and the
 * parameters that say the same.
 *
 *   id:… sub:001 dlvrd:001 submit date:2601011200 done date:2601011201 stat:DELIVRD err:000 text:Hello
 */
export function encodeReceipt({ id, submission, acceptedAt }: Message, { status, at }: Report): Buffer[] {
  const { stat, state, error } = wireStatuses[status];
  const { to, from, text, reference, details } = submission;
  const delivered = status === 'delivered' ? '001' : '000';
  const dates = `submit date:${wireDate(acceptedAt)} done date:${wireDate(at)}`;
  const start = `id:${id} sub:001 dlvrd:${delivered} ${dates} stat:${stat} err:${String(error).padStart(3, '0')} text:`;
  // What is not in the default alphabet is left out, as carriers do.
  const content = Buffer.concat([Buffer.from(start, 'latin1'), encodeGsm(text.slice(0, 20)) ?? Buffer.alloc(0)]);
  const parameters = [
    tlv(tags.receiptedMessageId, cString(id)),
    tlv(tags.messageState, Buffer.of(state)),
    ...(error === 0 ? [] : [tlv(tags.networkErrorCode, Buffer.of(GSM_NETWORK, 0, error))]),
    ...(reference === undefined ? [] : [tlv(tags.userMessageReference, twoOctets(Number(reference)))]),
  ];
  return [
    cString(''),
    Buffer.of(INTERNATIONAL, ISDN),
    cString(to.slice(1)),
    Buffer.of(Number(details?.['sourceTon']), Number(details?.['sourceNpi'])),
    cString(from.replace(/^\+/, '')),
    Buffer.of(status === 'sent' ? INTERMEDIATE_NOTIFICATION : FINAL_RECEIPT, 0, 0),
    cString(''),
    cString(''),
    Buffer.of(0, 0, 0, 0, content.length),
    content,
    ...parameters,
  ];
}

function twoOctets(value: number): Buffer {
  return Buffer.of(value >> 8, value & 0xff);
}

/** `YYMMDDhhmm`, without a zone */
function wireDate(time: number): string {
  return new Date(time).toISOString().slice(2, 16).replaceAll(/[-T:]/g, '');
}
