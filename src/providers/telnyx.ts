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
import { Upstream, type HttpAdapterDependencies, type HttpAnswer } from './http.ts';
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
  type ErrorTable,
} from './result.ts';
import { senderWithPlus } from './sender.ts';
import { baseUrlSchema, timeoutMsSchema } from './settings.ts';

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

/** Telnyx's codes, the same for refused sends and for the errors of an event. */
export const telnyxErrors: ErrorTable = new Map([
  ['10011', { class: 'throttled', text: 'too many requests' }],
  ['40002', { class: 'throttled', text: 'held as spam for now' }],
  ['40011', { class: 'throttled', text: 'too many messages for the carrier' }],
  ['40016', { class: 'throttled', text: 'daily limit of T-Mobile reached' }],
  ['40018', { class: 'throttled', text: 'rate limit of AT&T exceeded' }],
  ['40318', { class: 'throttled', text: 'the queue is full' }],

  ['10007', { class: 'unavailable', text: 'unexpected error' }],
  ['10008', { class: 'unavailable', text: 'the request timed out' }],
  ['40006', { class: 'unavailable', text: 'the server of the recipient is not available' }],
  ['40320', { class: 'unavailable', text: 'the sender cannot be used for now' }],

  ['40001', { class: 'invalid_recipient', text: 'the recipient is a landline or has no route' }],
  ['40008', { class: 'invalid_recipient', text: 'undeliverable' }],
  ['40012', { class: 'invalid_recipient', text: 'invalid recipient' }],
  ['40301', { class: 'invalid_recipient', text: 'the recipient cannot receive this message' }],
  ['40310', { class: 'invalid_recipient', text: 'invalid recipient' }],
  ['40319', { class: 'invalid_recipient', text: 'the recipient cannot receive this message' }],

  ['40010', { class: 'invalid_sender', text: 'the sender is not registered for 10DLC' }],
  ['40013', { class: 'invalid_sender', text: 'invalid sender' }],
  ['40100', { class: 'invalid_sender', text: 'the sender cannot send this message' }],
  ['40150', { class: 'invalid_sender', text: 'the sender cannot send this message' }],
  ['40151', { class: 'invalid_sender', text: 'the sender cannot send this message' }],
  // Its other meaning is `telnyxOptOut`.
  ['40300', { class: 'invalid_sender', text: 'the sender is not assigned to a messaging profile' }],
  ['40305', { class: 'invalid_sender', text: 'invalid sender' }],
  ['40306', { class: 'invalid_sender', text: 'alphanumeric senders are not configured' }],
  ['40308', { class: 'invalid_sender', text: 'the sender cannot send this message' }],
  ['40315', { class: 'invalid_sender', text: 'the sender is unhealthy' }],
  ['40321', { class: 'invalid_sender', text: 'no usable number in the pool' }],
  ['40329', { class: 'invalid_sender', text: 'the toll-free number is not verified' }],

  ['10002', { class: 'invalid_content', text: 'invalid phone number' }],
  ['10003', { class: 'invalid_content', text: 'invalid URL' }],
  ['10004', { class: 'invalid_content', text: 'missing parameter' }],
  ['10015', { class: 'invalid_content', text: 'bad request' }],
  ['10016', { class: 'invalid_content', text: 'a phone number is not in E.164' }],
  ['40009', { class: 'invalid_content', text: 'invalid body' }],
  ['40304', { class: 'invalid_content', text: 'invalid content' }],
  ['40316', { class: 'invalid_content', text: 'no text' }],
  ['40317', { class: 'invalid_content', text: 'invalid content' }],

  ['40003', { class: 'blocked', text: 'blocked as spam' }],
  ['40004', { class: 'blocked', text: 'refused by the destination' }],
  ['40015', { class: 'blocked', text: "blocked by Telnyx's spam filter" }],
  ['40017', { class: 'blocked', text: 'refused by AT&T as spam' }],
  ['40309', { class: 'blocked', text: 'the region is not enabled for this profile' }],
  ['40322', { class: 'blocked', text: 'blocked for its content' }],

  ['20012', { class: 'billing', text: 'the account is not active' }],
  ['20100', { class: 'billing', text: 'the account has no credit' }],

  ['10005', { class: 'credentials', text: 'no such resource' }],
  ['10009', { class: 'credentials', text: 'authentication failed' }],
  ['10010', { class: 'credentials', text: 'the account may not do this' }],
  ['20001', { class: 'credentials', text: 'the API key is not accepted' }],
  ['20002', { class: 'credentials', text: 'the API key is not accepted' }],
  ['20003', { class: 'credentials', text: 'the API key is not accepted' }],
  ['20004', { class: 'credentials', text: 'the API key is not accepted' }],
  ['20005', { class: 'credentials', text: 'the API key is not accepted' }],
  ['20006', { class: 'credentials', text: 'the API key is not accepted' }],
  ['20013', { class: 'credentials', text: 'the account may not send' }],
  ['20014', { class: 'credentials', text: 'the account may not send' }],
  ['20015', { class: 'credentials', text: 'the account may not send' }],
  ['20016', { class: 'credentials', text: 'the account may not send' }],
  ['20017', { class: 'credentials', text: 'the account may not send' }],
  ['40311', { class: 'credentials', text: 'the messaging profile is not set up for this' }],
  ['40312', { class: 'credentials', text: 'the messaging profile is not set up for this' }],
  ['40313', { class: 'credentials', text: 'the messaging profile is not set up for this' }],
  ['40314', { class: 'credentials', text: 'the messaging profile is not set up for this' }],

  // How many segments a text may have depends on the destination (10, on some routes 25), so another upstream may take it.
  ['40302', { class: 'unsupported', text: 'the message has too many segments' }],
  ['40328', { class: 'unsupported', text: 'the message is too long' }],

  ['40005', { class: 'unknown', text: 'the message expired on its way' }],
  ['40014', { class: 'unknown', text: 'the message expired in the queue' }],
]);

/** 40300 where its text tells of a block rule: the recipient sent STOP. */
const telnyxOptOut: ErrorRow = { class: 'blocked', text: 'the recipient opted out', optOut: true };

/** Events of `sending_failed` and `delivery_failed` with these codes prove no refusal. */
const telnyxFailedWithoutRefusal: ReadonlySet<string> = new Set(['40005', '40006', '40014']);

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

export function createTelnyxProvider(
  settings: TelnyxSettings,
  { clock, connectionsMax }: HttpAdapterDependencies,
): Provider {
  const upstream = new Upstream({
    baseUrl: settings.baseUrl,
    timeoutMs: settings.timeoutMs,
    connectionsMax,
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
