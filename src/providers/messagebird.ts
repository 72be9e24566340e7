// MessageBird SMS API (the REST API from before the company was renamed Bird).
//
//   POST /messages
//   Authorization: AccessKey {access key}
//   {"originator":"MyBrand","recipients":["31612345678"],"body":"Hello","datacoding":"auto","type":"sms","reference":"…",
//    "reportUrl":"https://…"}
//
//   201 {"id":"e8077d803532c0b5937c639b60216938","reference":"…","recipients":{"totalCount":1,"items":[{"recipient":31612345678,
//         "status":"sent","statusDatetime":"…"}]},…}
//   422 {"errors":[{"code":9,"description":"no (correct) recipients found","parameter":"recipients"}]}
//
//   GET /messages/e8077d803532c0b5937c639b60216938
//   200 {"id":"…","recipients":{"items":[{"recipient":31612345678,"status":"delivery_failed","statusReason":"opted out",
//         "statusErrorCode":103,…}]},…}
//
//   GET {reportUrl}?id=e8077d80…&reference=…&recipient=31612345678&status=delivery_failed&statusReason=opted+out&statusErrorCode=103&…
//   MessageBird-Signature-JWT: JWT, HS256 (384, 512) under the signing key, of
//     {"iss":"MessageBird","nbf":1625479200,"exp":1625479260,"jti":"…","url_hash":"hex SHA-256 of the URL",
//      "payload_hash":"hex SHA-256 of the body, where there is one"}
import { createHash } from 'node:crypto';
import { Type, type Static } from 'typebox';
import type { Clock } from '../lib/clock.ts';
import { Upstream, type HttpAdapterDependencies, type HttpAnswer } from './http.ts';
import { lookUp, type LookUpReading } from './look-up.ts';
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
import { senderWithoutPlus } from './sender.ts';
import { baseUrlSchema, timeoutMsSchema } from './settings.ts';
import { isSameText, readToken } from './signature.ts';

export const messagebirdSettingsSchema = Type.Object(
  {
    baseUrl: baseUrlSchema('https://rest.messagebird.com'),
    accessKey: Type.String({ minLength: 1, description: 'Live access key; authenticates sends.' }),
    signingKey: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "The account's signing key (not the access key); verifies receipts, and unsigned ones are then refused. Without it the " +
          'unguessable URL alone proves a receipt.',
      }),
    ),
    timeoutMs: timeoutMsSchema,
  },
  { additionalProperties: false, description: 'MessageBird SMS API (rest.messagebird.com).' },
);

export type MessagebirdSettings = Static<typeof messagebirdSettingsSchema>;

const path = '/messages';
/** 1,377 GSM-7 characters. */
const segmentsMax = 9;
const clockToleranceMs = 5_000;

/** Codes of refused requests. 9, 10 and 21 name the parameter that is wrong, which says more. */
export const messagebirdErrors: ErrorTable = new Map([
  ['99', { class: 'unavailable', text: 'internal error' }],

  ['9', { class: 'invalid_content', text: 'missing parameter' }],
  ['10', { class: 'invalid_content', text: 'invalid parameter' }],
  ['21', { class: 'invalid_content', text: 'bad request' }],

  ['25', { class: 'billing', text: 'the account has no credit' }],

  ['2', { class: 'credentials', text: 'request not allowed: the access key is wrong' }],
  ['20', { class: 'credentials', text: 'no such resource' }],
]);

/** `statusErrorCode` of receipts about recipients who sent STOP. */
const messagebirdOptOutCode = '103';

const receiptStates: ReadonlyMap<string, Receipt['state']> = new Map([
  ['scheduled', 'sent'],
  ['sent', 'sent'],
  ['buffered', 'sent'],
  ['delivered', 'delivered'],
  ['delivery_failed', 'failed'],
  ['expired', 'undelivered'],
]);

export function createMessagebirdProvider(
  settings: MessagebirdSettings,
  { clock, connectionsMax }: HttpAdapterDependencies,
): Provider {
  const upstream = new Upstream({
    baseUrl: settings.baseUrl,
    timeoutMs: settings.timeoutMs,
    connectionsMax,
    headers: {
      accept: 'application/json',
      authorization: `AccessKey ${settings.accessKey}`,
      'content-type': 'application/json',
    },
  });

  return {
    name: 'messagebird',
    async send(request) {
      if (request.segments > segmentsMax) return tooLong;
      const result = await upstream.post(path, JSON.stringify(contentOf(request)));
      return result.kind === 'answer' ? readAnswer(result, clock) : resultOfFault(result);
    },
    readReceipts: (request) => readReceipts(request, settings, clock),
    lookUp: (id, recipient) =>
      lookUp(upstream, `${path}/${encodeURIComponent(id)}`, clock, (content) => readMessage(content, recipient)),
    close: () => upstream.close(),
  };
}

const tooLong: SendResult = {
  outcome: 'retryable',
  reason: 'unsupported',
  code: 'text_too_long',
  message: `MessageBird takes texts of up to ${segmentsMax} segments`,
};

function contentOf({ to, from, body, callbackUrl, ref }: SendRequest): Record<string, unknown> {
  return {
    originator: senderWithoutPlus(from),
    recipients: [to.slice(1)],
    body,
    // `plain`, the default, replaces what is not GSM-7.
    datacoding: 'auto',
    type: 'sms',
    // The URL counts for nothing without a reference.
    reference: ref,
    reportUrl: callbackUrl,
  };
}

function readAnswer(answer: HttpAnswer, clock: Clock): SendResult {
  const content = parseObject(answer.body);
  if (answer.status < 300) {
    const id = readText(content?.['id']);
    return id === undefined ? resultOfStatus(answer, clock) : { outcome: 'accepted', providerMessageId: id };
  }
  const errors = content?.['errors'];
  const error = Array.isArray(errors) ? asObject(errors[0]) : undefined;
  const code = readCode(error?.['code']);
  if (error === undefined || code === undefined) return resultOfStatus(answer, clock);
  const message = readText(error['description']);
  return resultOfError(rowOf(code, error['parameter']), answer, { code, message }, clock);
}

function rowOf(code: string, parameter: unknown): ErrorRow | undefined {
  const row = messagebirdErrors.get(code);
  if (row?.class !== 'invalid_content') return row;
  if (parameter === 'recipients' || parameter === 'recipient') return { ...row, class: 'invalid_recipient' };
  return parameter === 'originator' ? { ...row, class: 'invalid_sender' } : row;
}

function readReceipts(request: ReceiptRequest, { signingKey }: MessagebirdSettings, clock: Clock): ReceiptReading {
  const forgery = signingKey === undefined ? undefined : findForgery(request, signingKey, clock);
  if (forgery !== undefined) return { ok: false, problem: 'forged', reason: forgery };

  const [, query = ''] = request.url.split(/\?(.*)/s);
  const fields = new URLSearchParams(query);
  const receipt = receiptOf(fields.get('id'), {
    status: fields.get('status'),
    statusReason: fields.get('statusReason'),
    statusErrorCode: fields.get('statusErrorCode'),
  });
  if (receipt === undefined) {
    return { ok: false, problem: 'malformed', reason: 'the query has no id or no status that is known' };
  }
  const ref = readText(fields.get('reference'));
  return { ok: true, receipts: [ref === undefined ? receipt : { ...receipt, ref }] };
}

function readMessage({ id, recipients }: Record<string, unknown>, recipient: string): LookUpReading {
  const items = asObject(recipients)?.['items'];
  if (!Array.isArray(items)) return undefined;
  // Numbers are JSON numbers here.
  const item = items.map(asObject).find((candidate) => readCode(candidate?.['recipient']) === recipient.slice(1));
  return item === undefined ? 'not_found' : receiptOf(id, item);
}

function receiptOf(
  id: unknown,
  { status, statusReason, statusErrorCode }: Record<string, unknown>,
): Receipt | undefined {
  const providerMessageId = readText(id);
  const name = readText(status) ?? '';
  const state = receiptStates.get(name);
  if (providerMessageId === undefined || state === undefined) return undefined;
  if (state === 'sent' || state === 'delivered') return { providerMessageId, state };

  const reason = readText(statusReason);
  const code = /^[1-9]\d{0,5}$/.exec(readCode(statusErrorCode) ?? '')?.[0];
  return {
    providerMessageId,
    // No carrier said anything before the validity ran out.
    state: reason?.toLowerCase() === 'dlr not received' ? 'undelivered' : state,
    code: code ?? name,
    message: shorten(reason ?? `MessageBird reports the message as ${name}`),
    ...(code === messagebirdOptOutCode ? { optOut: true } : {}),
  };
}

/** Why a call cannot be MessageBird's own to this URL, or `undefined` where it is. */
function findForgery({ headers, url, rawBody }: ReceiptRequest, signingKey: string, clock: Clock): string | undefined {
  const token = headers['messagebird-signature-jwt'];
  if (typeof token !== 'string') return 'there is no MessageBird-Signature-JWT header';
  const reading = readToken(token, signingKey, ['HS256', 'HS384', 'HS512']);
  if ('forgery' in reading) return reading.forgery;

  const { iss, nbf, exp, jti, url_hash: urlHash, payload_hash: payloadHash } = reading.claims;
  if (iss !== 'MessageBird') return 'the token was not issued by MessageBird';
  if (typeof jti !== 'string' || jti === '') return 'the token has no id';
  if (typeof nbf !== 'number' || nbf * 1_000 > clock.now() + clockToleranceMs) return 'the token is not valid yet';
  if (typeof exp !== 'number' || exp * 1_000 <= clock.now() - clockToleranceMs) return 'the token has expired';
  if (!isSameText(urlHash, hashOf(url))) return 'the URL is not the one that was signed';
  const isBodySigned = rawBody.length === 0 ? payloadHash === undefined : isSameText(payloadHash, hashOf(rawBody));
  return isBodySigned ? undefined : 'the body is not the one that was signed';
}

function hashOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
