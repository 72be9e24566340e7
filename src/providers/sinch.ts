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
import { Upstream, type HttpAnswer } from './http.ts';
import { lookUp } from './look-up.ts';
import type { Provider, Receipt, ReceiptReading, ReceiptRequest, SendRequest, SendResult } from './provider.ts';
import { parseObject, readText, resultOfError, resultOfFault, resultOfStatus, type ErrorRow } from './result.ts';
import { senderWithoutPlus } from './sender.ts';
import { baseUrlSchema, timeoutMsSchema } from './settings.ts';
import { isSameText, isTimely } from './signature.ts';
import {
  sinchAbortedWithoutRefusal,
  sinchCodesWithoutOutcome,
  sinchErrors,
  sinchReceiptTexts,
} from './sinch-errors.ts';

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

export function createSinchProvider(settings: SinchSettings, { clock }: { clock: Clock }): Provider {
  const upstream = new Upstream({
    baseUrl: settings.baseUrl,
    timeoutMs: settings.timeoutMs,
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
