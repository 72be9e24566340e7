// Sinch SMS API (XMS), batches of one recipient.
//
//   POST /xms/v1/{service plan id}/batches
//   Authorization: Bearer {API token}
//   {"to":["447700900000"],"from":"Acme","body":"Hello","type":"mt_text","delivery_report":"per_recipient_final",
//    "callback_url":"https://…","client_reference":"…"}
//
//   201 {"id":"01FC66621XXXXX119Z8PMV1QPQ","to":["447700900000"],"from":"Acme","canceled":false,"body":"Hello",…}
//   400 {"code":"syntax_invalid_parameter_format","text":"'foo' is not a valid identifier"}
//
//   GET /xms/v1/{service plan id}/batches/{id}/delivery_report/447700900000
//   200 {"type":"recipient_delivery_report_sms","batch_id":"…","recipient":"447700900000","code":401,"status":"Dispatched",…}
//
//   POST {callback_url}, unsigned unless HMAC was arranged with the account manager:
//   X-Sinch-Webhook-Signature: base64(HMAC-SHA256(secret, body + "." + nonce + "." + timestamp))
//   X-Sinch-Webhook-Signature-Nonce, X-Sinch-Webhook-Signature-Timestamp (seconds)
//   {"type":"recipient_delivery_report_sms","batch_id":"01FC66621XXXXX119Z8PMV1QPQ","recipient":"+447700900000","code":402,
//    "status":"Aborted","at":"2022-08-30T08:16:08.930Z","client_reference":"…"}
import { createHmac } from 'node:crypto';
import { Type, type Static } from 'typebox';
import type { Clock } from '../lib/clock.ts';
import { Upstream, type HttpAdapterDependencies, type HttpAnswer } from './http.ts';
import { lookUp } from './look-up.ts';
import type { Provider, Receipt, ReceiptReading, ReceiptRequest, SendRequest, SendResult } from './provider.ts';
import {
  parseObject,
  readText,
  resultOfError,
  resultOfFault,
  resultOfStatus,
  type ErrorRow,
  type ErrorTable,
} from './result.ts';
import { senderWithoutPlus } from './sender.ts';
import { baseUrlSchema, timeoutMsSchema } from './settings.ts';
import { isSameText, isTimely } from './signature.ts';

export const sinchSettingsSchema = Type.Object(
  {
    baseUrl: baseUrlSchema('https://us.sms.api.sinch.com', 'The region of the service plan: us, eu, br, ca or au.'),
    servicePlanId: Type.String({ pattern: '^[\\w-]+$', description: 'Service plan ID.' }),
    apiToken: Type.String({ minLength: 1, description: 'API token of the service plan.' }),
    webhookSecret: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Secret under which Sinch signs receipts, where that was arranged; unsigned ones are then refused. Without it the ' +
          'unguessable URL alone proves a receipt.',
      }),
    ),
    timeoutMs: timeoutMsSchema,
  },
  { additionalProperties: false, description: 'Sinch SMS API (XMS batches).' },
);

export type SinchSettings = Static<typeof sinchSettingsSchema>;

/** Codes of refused batches. What is wrong with a number, a sender or the credit mostly shows only in the receipt. */
export const sinchErrors: ErrorTable = new Map([
  ['syntax_invalid_json', { class: 'invalid_content', text: 'the request is not valid JSON' }],
  ['syntax_constraint_violation', { class: 'invalid_content', text: 'the request breaks a rule of the API' }],
  ['syntax_invalid_parameter_format', { class: 'invalid_content', text: 'a field has a wrong format' }],

  ['missing_callback_url', { class: 'credentials', text: 'the service plan has no callback URL' }],
  ['unknown_campaign', { class: 'credentials', text: 'the campaign does not match the sender' }],
  ['unknown_group', { class: 'credentials', text: 'the group is not known' }],
]);

/** Codes of delivery reports: from 400 to 418 Sinch's own, the others those of carriers. */
const sinchReceiptTexts: ReadonlyMap<unknown, string> = new Map([
  ...coded('unknown subscriber, or without this service', 1, 2, 10, 11),
  ...coded('unidentified subscriber', 5),
  ...coded('unknown error', 6),
  ...coded('illegal subscriber', 9),
  ...coded('barred', 12, 13),
  ...coded('absent subscriber', 27, 28, 29, 160),
  ...coded('error of the switching centre', 30),
  ...coded('the handset is busy', 31),
  ...coded('the handset has no memory left', 32, 33, 40),
  ...coded('system failure', 34, 35, 36, 37, 38, 39),
  ...coded('error of the signalling network', 140, 200, 201, 202, 203, 204, 205),
  ...coded('permanent error', 69),
  ...coded('refused by the carrier', 206),
  ...coded('cancelled by the carrier', 207),
  ...coded('blocked by the carrier', 300),
  ...coded('permanent error of the carrier', 301, 303, 305),
  ...coded('temporary error of the carrier', 302, 304),
  ...coded('the network is congested', 999),

  ...coded('refused by the screening of 10DLC', 15, 62),
  ...coded('the 10DLC campaign is not active', 60),
  ...coded('quota of the 10DLC campaign exceeded', 64),

  ...coded('no route to the recipient', 402),
  ...coded('internal error', 403),
  ...coded('temporary failure', 404),
  ...coded('a parameter of the template is missing', 405),
  ...coded('expired before it reached the carrier', 406),
  ...coded('cancelled before it reached the carrier', 407),
  ...coded('refused by Sinch', 408),
  ...coded('no default sender', 410),
  ...coded('the message has too many parts', 411),
  ...coded('the region is not enabled for this account', 412),
  ...coded('the account is blocked, perhaps for want of credit', 413),
  ...coded('invalid media', 414),
  ...coded('the receipt was refused', 415),
  ...coded('the receipt was of an unsupported kind', 416),
  ...coded('the receipt did not reach Sinch', 417),
  ...coded('the receipt was not understood', 418),
]);

function coded(text: string, ...codes: number[]): Array<[number, string]> {
  return codes.map((code) => [code, text]);
}

/** Reports of `Aborted` with these codes prove no refusal: a failure that passes, an expiry. */
const sinchAbortedWithoutRefusal: ReadonlySet<unknown> = new Set([404, 406]);

/** Reports with these codes tell of a receipt that told nothing, whatever their status. */
const sinchCodesWithoutOutcome: ReadonlySet<unknown> = new Set([415, 416, 417, 418]);

const receiptStates: ReadonlyMap<string, Receipt['state']> = new Map([
  ['Queued', 'sent'],
  ['Dispatched', 'sent'],
  ['Delivered', 'delivered'],
  ['Aborted', 'failed'],
  ['Cancelled', 'failed'],
  ['Deleted', 'failed'],
  ['Failed', 'failed'],
  ['Rejected', 'failed'],
  ['Expired', 'undelivered'],
  ['Unknown', 'undelivered'],
]);

export function createSinchProvider(
  settings: SinchSettings,
  { clock, connectionsMax }: HttpAdapterDependencies,
): Provider {
  const upstream = new Upstream({
    baseUrl: settings.baseUrl,
    timeoutMs: settings.timeoutMs,
    connectionsMax,
    headers: {
      accept: 'application/json',
      authorization: `Bearer ${settings.apiToken}`,
      'content-type': 'application/json',
    },
  });
  const path = `/xms/v1/${settings.servicePlanId}/batches`;

  return {
    name: 'sinch',
    async send(request) {
      const result = await upstream.post(path, JSON.stringify(contentOf(request)));
      return result.kind === 'answer' ? readAnswer(result, request, clock) : resultOfFault(result);
    },
    readReceipts: (request) => readReceipts(request, settings, clock),
    lookUp: (id, recipient) =>
      lookUp(upstream, `${path}/${encodeURIComponent(id)}/delivery_report/${recipient.slice(1)}`, clock, receiptOf),
    close: () => upstream.close(),
  };
}

function contentOf({ to, from, body, callbackUrl, ref }: SendRequest): Record<string, unknown> {
  return {
    to: [to.slice(1)],
    from: senderWithoutPlus(from),
    body,
    type: 'mt_text',
    delivery_report: 'per_recipient_final',
    callback_url: callbackUrl,
    client_reference: ref,
  };
}

function readAnswer(answer: HttpAnswer, request: SendRequest, clock: Clock): SendResult {
  const content = parseObject(answer.body);
  if (answer.status < 300) {
    const id = readText(content?.['id']);
    return id !== undefined ? { outcome: 'accepted', providerMessageId: id } : resultOfStatus(answer, clock);
  }
  const code = readText(content?.['code']);
  if (code === undefined) return resultOfStatus(answer, clock);
  const message = readText(content?.['text']);
  return resultOfError(rowOf(code, message ?? '', request), answer, { code, message }, clock);
}

/** The row of a code. A wrong format is told by the field's name or by the value alone. */
function rowOf(code: string, text: string, { to, from }: SendRequest): ErrorRow | undefined {
  const row = sinchErrors.get(code);
  if (row === undefined || code !== 'syntax_invalid_parameter_format') return row;
  if (namesField(text, 'to') || text.includes(to.slice(1))) return { ...row, class: 'invalid_recipient' };
  if (namesField(text, 'from') || text.includes(senderWithoutPlus(from))) return { ...row, class: 'invalid_sender' };
  return row;
}

/** Quoted, indexed, before a colon or after the word: "to" and "from" are also plain English. */
function namesField(text: string, name: string): boolean {
  return new RegExp(`['"\`]${name}\\b|\\b${name}(?:\\[|:)|\\b(?:field|parameter) ${name}\\b`, 'i').test(text);
}

function readReceipts(request: ReceiptRequest, settings: SinchSettings, clock: Clock): ReceiptReading {
  const forgery =
    settings.webhookSecret === undefined ? undefined : findForgery(request, settings.webhookSecret, clock);
  if (forgery !== undefined) return { ok: false, problem: 'forged', reason: forgery };

  const content = parseObject(request.rawBody.toString());
  const receipt = content && receiptOf(content);
  if (content === undefined || receipt === undefined) {
    return { ok: false, problem: 'malformed', reason: 'the body is not the delivery report of a recipient' };
  }
  const ref = readText(content['client_reference']);
  return { ok: true, receipts: [ref === undefined ? receipt : { ...receipt, ref }] };
}

function receiptOf(content: Record<string, unknown>): Receipt | undefined {
  if (content['type'] !== 'recipient_delivery_report_sms') return undefined;
  const providerMessageId = readText(content['batch_id']);
  const status = readText(content['status']) ?? '';
  const reported = receiptStates.get(status);
  if (providerMessageId === undefined || reported === undefined) return undefined;
  if (reported === 'sent' || reported === 'delivered') return { providerMessageId, state: reported };
  const code = content['code'];
  const isWithoutRefusal =
    sinchCodesWithoutOutcome.has(code) || (status === 'Aborted' && sinchAbortedWithoutRefusal.has(code));
  return {
    providerMessageId,
    state: isWithoutRefusal ? 'undelivered' : reported,
    code: typeof code === 'number' && code > 0 ? String(code) : status,
    message: sinchReceiptTexts.get(code) ?? `Sinch reports the message as ${status}`,
  };
}

/** Why a callback cannot be Sinch's own, or `undefined` where it is. */
function findForgery({ headers, rawBody }: ReceiptRequest, secret: string, clock: Clock): string | undefined {
  const nonce = headers['x-sinch-webhook-signature-nonce'];
  const timestamp = headers['x-sinch-webhook-signature-timestamp'];
  if (typeof nonce !== 'string' || typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp)) {
    return 'the nonce or the timestamp of the signature is missing';
  }
  const hmac = createHmac('sha256', secret).update(rawBody).update(`.${nonce}.${timestamp}`).digest('base64');
  if (!isSameText(headers['x-sinch-webhook-signature'], hmac)) {
    return 'X-Sinch-Webhook-Signature is missing or does not match the body';
  }
  return isTimely(Number(timestamp) * 1_000, clock) ? undefined : 'the signature is too old or from the future';
}
