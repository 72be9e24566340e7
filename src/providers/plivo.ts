// Plivo Message API.
//
//   POST /v1/Account/{auth id}/Message/   (with the slash at the end)
//   Authorization: Basic base64(auth id:auth token)
//   {"src":"14155550000","dst":"254712345678","text":"Hello","url":"https://…","method":"POST"}
//
//   202 {"api_id":"984bc856-…","message":"message(s) queued","message_uuid":["6da4afba-…"]}
//   202 {"api_id":"984bc856-…","message":"…","message_uuid":[],"invalid_number":["254"]}   (nothing was taken)
//   400 {"api_id":"984bc856-…","error":"dst parameter is not valid"}
//
//   GET /v1/Account/{auth id}/Message/{uuid}/
//   200 {"api_id":"…","message_uuid":"6da4afba-…","message_state":"undelivered","error_code":"50",…}
//
//   POST {url}
//   X-Plivo-Signature-V3: base64(HMAC-SHA256(auth token, URL + "?" + query sorted + "." + fields sorted + "." + nonce)), several by commas
//   X-Plivo-Signature-Ma-V3: the same under the token of the main account
//   X-Plivo-Signature-V3-Nonce: 1234567890
//   MessageUUID=6da4afba-…&To=254712345678&From=14155550000&Status=failed&ErrorCode=200&Units=1&…
import { createHmac } from 'node:crypto';
import { Type, type Static } from 'typebox';
import type { Clock } from '../lib/clock.ts';
import { Upstream, type HttpAdapterDependencies, type HttpAnswer } from './http.ts';
import { lookUp, type LookUpReading } from './look-up.ts';
import type { Provider, Receipt, ReceiptReading, ReceiptRequest, SendRequest, SendResult } from './provider.ts';
import {
  parseObject,
  readCode,
  readText,
  resultOfError,
  resultOfFault,
  resultOfStatus,
  type ErrorRow,
} from './result.ts';
import { senderWithoutPlus } from './sender.ts';
import { baseUrlSchema, timeoutMsSchema } from './settings.ts';
import { isSameText, sortedFields } from './signature.ts';

export const plivoSettingsSchema = Type.Object(
  {
    baseUrl: baseUrlSchema('https://api.plivo.com'),
    authId: Type.String({ pattern: '^\\w+$', description: 'Auth ID of the account or subaccount.' }),
    authToken: Type.String({
      minLength: 1,
      description: 'Auth token of the same account; authenticates sends and verifies receipts.',
    }),
    timeoutMs: timeoutMsSchema,
  },
  { additionalProperties: false, description: 'Plivo Message API.' },
);

export type PlivoSettings = Static<typeof plivoSettingsSchema>;

/** 11 segments in either encoding; a body has no more GSM-7 characters than Plivo takes (1,600). */
const unicodeLengthMax = 737;

/** Plivo's message error codes, as they come with callbacks; the answer to a send has a text alone. */
export const plivoReceiptTexts: ReadonlyMap<string, string> = new Map([
  ['10', 'invalid message'],
  ['20', 'network error'],
  ['30', 'refused as spam'],
  ['40', 'invalid sender'],
  ['50', 'invalid recipient'],
  ['60', 'the message went in a loop'],
  ['70', 'the recipient cannot be reached for good'],
  ['80', 'the recipient cannot be reached for now'],
  ['90', 'no route to the recipient'],
  ['100', 'the carrier takes no such message'],
  ['110', 'the message is too long'],
  ['200', 'the recipient opted out'],
  ['201', 'a US toll-free number cannot send to Canada'],
  ['300', 'the message could not be dispatched'],
  ['420', 'the message expired in the queue'],
  ['450', 'the destination country is barred'],
  ['900', 'the account has no credit'],
  ['910', 'the account is disabled'],
  ['1000', 'unknown error'],
]);

const plivoOptOutCode = '200';

/** Callbacks of `undelivered` with these codes prove no refusal: errors that pass, an expiry, an unknown end. */
const plivoUndeliveredWithoutRefusal: ReadonlySet<string> = new Set(['20', '80', '420', '1000']);

/** The same for callbacks of `failed`. */
const plivoFailedWithoutRefusal: ReadonlySet<string> = new Set(['420', '1000']);

const receiptStates: ReadonlyMap<string, Receipt['state']> = new Map([
  ['queued', 'sent'],
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'delivered'],
  ['failed', 'failed'],
  ['undelivered', 'failed'],
  ['rejected', 'failed'],
]);

export function createPlivoProvider(
  settings: PlivoSettings,
  { clock, connectionsMax }: HttpAdapterDependencies,
): Provider {
  const { authId, authToken } = settings;
  const upstream = new Upstream({
    baseUrl: settings.baseUrl,
    timeoutMs: settings.timeoutMs,
    connectionsMax,
    headers: {
      accept: 'application/json',
      authorization: `Basic ${Buffer.from(`${authId}:${authToken}`).toString('base64')}`,
      'content-type': 'application/json',
    },
  });
  const path = `/v1/Account/${authId}/Message/`;

  return {
    name: 'plivo',
    async send(request) {
      if (request.encoding === 'ucs2' && request.body.length > unicodeLengthMax) return tooLong;
      const result = await upstream.post(path, JSON.stringify(contentOf(request)));
      return result.kind === 'answer' ? readAnswer(result, clock) : resultOfFault(result);
    },
    readReceipts: (request) => readReceipts(request, authToken),
    lookUp: (uuid) => lookUp(upstream, `${path}${encodeURIComponent(uuid)}/`, clock, readMessage),
    close: () => upstream.close(),
  };
}

const tooLong: SendResult = {
  outcome: 'retryable',
  reason: 'unsupported',
  code: 'text_too_long',
  message: `Plivo takes Unicode texts of up to ${unicodeLengthMax} characters`,
};

function contentOf({ to, from, body, callbackUrl }: SendRequest): Record<string, unknown> {
  return { src: senderWithoutPlus(from), dst: to.slice(1), text: body, url: callbackUrl, method: 'POST' };
}

function readAnswer(answer: HttpAnswer, clock: Clock): SendResult {
  const content = parseObject(answer.body);
  if (answer.status >= 300) {
    const text = readText(content?.['error']);
    if (text === undefined) return resultOfStatus(answer, clock);
    return resultOfError(rowOf(text, answer), answer, { code: `http_${answer.status}`, message: text }, clock);
  }
  const ids = content?.['message_uuid'];
  const id = readText(Array.isArray(ids) ? ids[0] : undefined);
  if (id !== undefined) return { outcome: 'accepted', providerMessageId: id };
  const invalid = content?.['invalid_number'];
  if (!Array.isArray(ids) || ids.length > 0 || !Array.isArray(invalid) || invalid.length === 0) {
    return resultOfStatus(answer, clock);
  }
  const error = { code: 'invalid_number', message: undefined };
  return resultOfError({ class: 'invalid_recipient', text: 'invalid recipient' }, answer, error, clock);
}

/** Plivo's errors have no codes: the status and the field that the text names are all there is. */
function rowOf(text: string, { status }: HttpAnswer): ErrorRow | undefined {
  if (/insufficient credit/i.test(text)) return { class: 'billing', text };
  // Keys that are wrong get a 401; a 403 is about the destination, which the account's geo permissions do not include.
  if (status === 403) return { class: 'blocked', text };
  if (status !== 400) return undefined;
  if (/\bdst\b|\bdestination\b/i.test(text)) return { class: 'invalid_recipient', text };
  return /\bsrc\b|\bsource\b|\bsender\b/i.test(text) ? { class: 'invalid_sender', text } : undefined;
}

function readReceipts(request: ReceiptRequest, authToken: string): ReceiptReading {
  const fields = new URLSearchParams(request.rawBody.toString());
  const forgery = findForgery(request, fields, authToken);
  if (forgery !== undefined) return { ok: false, problem: 'forged', reason: forgery };

  const receipt = receiptOf(fields.get('MessageUUID'), fields.get('Status'), fields.get('ErrorCode'));
  return receipt === undefined
    ? { ok: false, problem: 'malformed', reason: 'there is no MessageUUID or no Status of an outbound message' }
    : { ok: true, receipts: [receipt] };
}

function readMessage(content: Record<string, unknown>): LookUpReading {
  return receiptOf(content['message_uuid'], content['message_state'], content['error_code']);
}

function receiptOf(id: unknown, status: unknown, errorCode: unknown): Receipt | undefined {
  const providerMessageId = readText(id);
  const name = readText(status) ?? '';
  const state = receiptStates.get(name);
  if (providerMessageId === undefined || state === undefined) return undefined;
  if (state !== 'failed') return { providerMessageId, state };
  // `000` is no error.
  const code = /^[1-9]\d{0,4}$/.exec(readCode(errorCode) ?? '')?.[0];
  return {
    providerMessageId,
    state: isWithoutRefusal(name, code) ? 'undelivered' : 'failed',
    code: code ?? name,
    message: plivoReceiptTexts.get(code ?? '') ?? `Plivo reports the message as ${name}`,
    ...(code === plivoOptOutCode ? { optOut: true } : {}),
  };
}

function isWithoutRefusal(status: string, code: string | undefined): boolean {
  if (status === 'undelivered') return code === undefined || plivoUndeliveredWithoutRefusal.has(code);
  return status === 'failed' && code !== undefined && plivoFailedWithoutRefusal.has(code);
}

/** Why a callback cannot be Plivo's own, or `undefined` where it is. V2, which does not cover the body, does not count. */
function findForgery({ headers, url }: ReceiptRequest, fields: URLSearchParams, authToken: string): string | undefined {
  const nonce = headers['x-plivo-signature-v3-nonce'];
  if (typeof nonce !== 'string' || nonce === '') return 'there is no X-Plivo-Signature-V3-Nonce header';
  const expected = createHmac('sha256', authToken)
    .update(`${signedTextOf(url, fields)}.${nonce}`)
    .digest('base64');
  // Which of the two is under our token depends on whether ours is the main account.
  const signatures = [headers['x-plivo-signature-v3'], headers['x-plivo-signature-ma-v3']].flatMap((header) =>
    typeof header === 'string' ? header.split(',') : [],
  );
  return signatures.some((signature) => isSameText(signature.trim(), expected))
    ? undefined
    : 'neither X-Plivo-Signature-V3 nor X-Plivo-Signature-Ma-V3 matches the request';
}

function signedTextOf(url: string, fields: URLSearchParams): string {
  const [address = '', query = ''] = url.replace(/#.*/s, '').split(/\?(.*)/s);
  const parameters = sortedFields(new URLSearchParams(query)).map(([name, value]) => `${name}=${value}`);
  const content = sortedFields(fields).map(([name, value]) => name + value);
  const mark = parameters.length > 0 || content.length > 0 ? '?' : '';
  const dot = parameters.length > 0 && content.length > 0 ? '.' : '';
  return address + mark + parameters.join('&') + dot + content.join('');
}
