// Telnyx Messaging API v2.
//
//   POST /v2/messages
//   Authorization: Bearer KEY…
//   {"from":"+15005550006","to":"+14155550123","text":"Hello","type":"SMS","encoding":"gsm7","webhook_url":"https://…",
//    "use_profile_webhooks":false}
//
//   200 {"data":{"record_type":"message","id":"40385f64-…","to":[{"phone_number":"+14155550123","status":"queued"}],"parts":1,…}}
//   400 {"errors":[{"code":"40310","title":"Invalid 'to' address","detail":"…","source":{"pointer":"/to"}}]}
//
//   GET /v2/messages/40385f64-…
//   200 {"data":{"id":"40385f64-…","direction":"outbound","to":[{…,"status":"delivered"}],"errors":[],…}}
//
//   POST {webhook_url}
//   Telnyx-Signature-Ed25519: base64(Ed25519(timestamp + "|" + body)), Telnyx-Timestamp: 1700000000 (seconds)
//   {"data":{"event_type":"message.finalized","id":"event's","payload":{"id":"40385f64-…","direction":"outbound",
//     "to":[{"phone_number":"+14155550123","status":"delivery_failed"}],"errors":[{"code":"40008","title":"…","detail":"…"}]}}}
import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { Type, type Static } from 'typebox';
import type { Clock } from '../lib/clock.ts';
import { Upstream, type HttpAnswer } from './http.ts';
import { lookUp } from './look-up.ts';
import type { Provider, Receipt, ReceiptReading, ReceiptRequest, SendRequest, SendResult } from './provider.ts';
import {
  asObject,
  parseObject,
  readCode,
  readText,
  resultOfError,
  resultOfFault,
  resultOfStatus,
  shorten,
  type ErrorRow,
} from './result.ts';
import { senderWithPlus } from './sender.ts';
import { baseUrlSchema, timeoutMsSchema } from './settings.ts';
import { telnyxErrors, telnyxFailedWithoutRefusal, telnyxOptOut } from './telnyx-errors.ts';

export const telnyxSettingsSchema = Type.Object(
  {
    baseUrl: baseUrlSchema('https://api.telnyx.com'),
    apiKey: Type.String({ minLength: 1, description: 'API key (v2).' }),
    publicKey: Type.String({
      pattern: '^[A-Za-z0-9+/]{43}=$',
      description: "The account's public key, 32 bytes in base64; verifies receipts.",
    }),
    messagingProfileId: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Messaging profile whose rules apply to every message; alphanumeric senders need one.',
      }),
    ),
    timeoutMs: timeoutMsSchema,
  },
  { additionalProperties: false, description: 'Telnyx Messaging API v2.' },
);

export type TelnyxSettings = Static<typeof telnyxSettingsSchema>;

const path = '/v2/messages';
const eventAgeMsMax = 300_000;

const eventTypes: ReadonlySet<unknown> = new Set(['message.sent', 'message.finalized']);

const receiptStates: ReadonlyMap<string, Receipt['state']> = new Map([
  ['scheduled', 'sent'],
  ['queued', 'sent'],
  ['sending', 'sent'],
  ['sent', 'sent'],
  ['webhook_delivered', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'delivered'],
  ['sending_failed', 'failed'],
  ['delivery_failed', 'failed'],
  ['cancelled', 'failed'],
  ['delivery_unconfirmed', 'undelivered'],
  ['expired', 'undelivered'],
]);

export function createTelnyxProvider(settings: TelnyxSettings, { clock }: { clock: Clock }): Provider {
  const upstream = new Upstream({
    baseUrl: settings.baseUrl,
    timeoutMs: settings.timeoutMs,
    headers: {
      accept: 'application/json',
      authorization: `Bearer ${settings.apiKey}`,
      'content-type': 'application/json',
    },
  });
  const publicKey = createPublicKey({
    format: 'jwk',
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(settings.publicKey, 'base64').toString('base64url') },
  });

  return {
    name: 'telnyx',
    async send(request) {
      const result = await upstream.post(path, JSON.stringify(contentOf(request, settings)));
      return result.kind === 'answer' ? readAnswer(result, clock) : resultOfFault(result);
    },
    readReceipts: (request) => readReceipts(request, publicKey, clock),
    lookUp: (id) => lookUp(upstream, `${path}/${encodeURIComponent(id)}`, clock, ({ data }) => receiptOf(data)),
    close: () => upstream.close(),
  };
}

function contentOf(
  { to, from, body, encoding, callbackUrl }: SendRequest,
  { messagingProfileId }: TelnyxSettings,
): Record<string, unknown> {
  return {
    from: senderWithPlus(from),
    to,
    text: body,
    type: 'SMS',
    // Named rather than `auto`, so that the upstream cuts and bills the segments that were priced.
    encoding,
    ...(messagingProfileId === undefined ? {} : { messaging_profile_id: messagingProfileId }),
    webhook_url: callbackUrl,
    use_profile_webhooks: false,
  };
}

function readAnswer(answer: HttpAnswer, clock: Clock): SendResult {
  const content = parseObject(answer.body);
  if (answer.status < 300) {
    const id = readText(asObject(content?.['data'])?.['id']);
    return id === undefined ? resultOfStatus(answer, clock) : { outcome: 'accepted', providerMessageId: id };
  }
  const error = firstOf(content?.['errors']);
  const code = readCode(error?.['code']);
  if (error === undefined || code === undefined) return resultOfStatus(answer, clock);
  return resultOfError(rowOf(code, error), answer, { code, message: textOf(error) }, clock);
}

function firstOf(list: unknown): Record<string, unknown> | undefined {
  return Array.isArray(list) ? asObject(list[0]) : undefined;
}

function textOf({ title, detail }: Record<string, unknown>): string | undefined {
  return readText(detail) ?? readText(title);
}

/** The row of a code. Where the request is what is wrong, the answer may point at the field, which says more than the code. */
function rowOf(code: string, error: Record<string, unknown>): ErrorRow | undefined {
  const row = telnyxErrors.get(code);
  if (code === '40300') {
    const text = `${readText(error['title']) ?? ''} ${readText(error['detail']) ?? ''}`;
    return /\bstop\b|\bblock rule\b/i.test(text) ? telnyxOptOut : row;
  }
  if (row?.class !== 'invalid_content') return row;
  const pointer = asObject(error['source'])?.['pointer'];
  if (pointer === '/to') return { ...row, class: 'invalid_recipient' };
  return pointer === '/from' ? { ...row, class: 'invalid_sender' } : row;
}

function readReceipts(request: ReceiptRequest, publicKey: KeyObject, clock: Clock): ReceiptReading {
  const forgery = findForgery(request, publicKey, clock);
  if (forgery !== undefined) return { ok: false, problem: 'forged', reason: forgery };

  const event = asObject(parseObject(request.rawBody.toString())?.['data']);
  const receipt = eventTypes.has(event?.['event_type']) ? receiptOf(event?.['payload']) : undefined;
  return receipt === undefined
    ? { ok: false, problem: 'malformed', reason: 'the body is not an event of an outbound message with a known status' }
    : { ok: true, receipts: [receipt] };
}

/** The state of a message, which has one recipient. */
function receiptOf(message: unknown): Receipt | undefined {
  const { id, direction, to, errors } = asObject(message) ?? {};
  const providerMessageId = readText(id);
  const status = readText(firstOf(to)?.['status']) ?? '';
  const state = receiptStates.get(status);
  if (providerMessageId === undefined || state === undefined || direction === 'inbound') return undefined;
  if (state === 'sent' || state === 'delivered') return { providerMessageId, state };

  const error = firstOf(errors) ?? {};
  const code = readCode(error['code']);
  const row = code === undefined ? undefined : rowOf(code, error);
  return {
    providerMessageId,
    state: code !== undefined && telnyxFailedWithoutRefusal.has(code) ? 'undelivered' : state,
    code: shorten(code ?? status),
    message: shorten(textOf(error) ?? row?.text ?? `Telnyx reports the message as ${status}`),
    ...(row?.optOut ? { optOut: true } : {}),
  };
}

/** Why an event cannot be Telnyx's own of these minutes, or `undefined` where it is. */
function findForgery({ headers, rawBody }: ReceiptRequest, publicKey: KeyObject, clock: Clock): string | undefined {
  const timestamp = headers['telnyx-timestamp'];
  if (typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp)) return 'there is no Telnyx-Timestamp';
  if (Math.abs(clock.now() - Number(timestamp) * 1_000) > eventAgeMsMax) {
    return 'Telnyx-Timestamp is more than 300 s from now';
  }
  const header = headers['telnyx-signature-ed25519'];
  const signature = Buffer.from(typeof header === 'string' ? header : '', 'base64');
  // Decoding is lenient; only one spelling of a signature is its own.
  if (signature.toString('base64') !== header) return 'there is no Telnyx-Signature-Ed25519 in base64';
  return verify(null, Buffer.concat([Buffer.from(`${timestamp}|`), rawBody]), publicKey, signature)
    ? undefined
    : 'Telnyx-Signature-Ed25519 does not match the body';
}
