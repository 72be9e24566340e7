// Vonage Messages API v1.
//
//   POST /v1/messages
//   Authorization: Basic base64(api key:api secret)
//   {"channel":"sms","message_type":"text","to":"447700900000","from":"AcmeInc","text":"Hello","client_ref":"…",
//    "webhook_url":"https://…","webhook_version":"v1","sms":{"encoding_type":"text"}}
//
//   202 {"message_uuid":"aaaaaaaa-bbbb-cccc-dddd-0123456789ab"}
//   422 {"type":"https://developer.vonage.com/api-errors/messages#1150","title":"Invalid params",
//        "detail":"The value of one or more parameters is invalid.","instance":"…",
//        "invalid_parameters":[{"name":"to","reason":"…"}]}
//
//   GET https://api.nexmo.com/v2/reports/records?account_id=a1b2c3d&product=MESSAGES&direction=outbound&id=aaaaaaaa-…   (Reports API)
//   200 {"request_status":"SUCCESS","items_count":1,"records":[{"message_id":"aaaaaaaa-…","provider":"sms","status":"rejected",
//        "error_code":"1360","date_received":"2026-01-01T13:50:00+00:00","date_finalized":"2026-01-01T14:00:00+00:00",…}]}
//   200 {"request_status":"SUCCESS","items_count":0,"records":[],"ids_not_found":"aaaaaaaa-…"}   (several are joined by commas)
//
//   POST {webhook_url}
//   Authorization: Bearer JWT, HS256 under the account's signature secret, of
//     {"iat":1587494962,"jti":"…","iss":"Vonage","payload_hash":"hex SHA-256 of the body","api_key":"a1b2c3d"}
//   {"message_uuid":"…","to":"447700900000","from":"AcmeInc","timestamp":"2026-01-01T14:00:00.000Z","status":"rejected",
//    "error":{"type":"https://developer.vonage.com/api-errors/messages#1330","title":"1330","detail":"Unknown error"}}
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
} from './result.ts';
import { senderWithoutPlus } from './sender.ts';
import { baseUrlSchema, timeoutMsSchema } from './settings.ts';
import { isSameText, isTimely, readToken } from './signature.ts';
import { vonageErrors, vonageRejectedWithoutRefusal } from './vonage-errors.ts';

const defaultUrl = 'https://api.nexmo.com';

export const vonageSettingsSchema = Type.Object(
  {
    baseUrl: baseUrlSchema(
      defaultUrl,
      'Regions: api-eu, api-us, api-ap. Lost receipts are asked for at api.nexmo.com from every region.',
    ),
    apiKey: Type.String({ minLength: 1, description: 'API key of the account.' }),
    apiSecret: Type.String({ minLength: 1, description: 'API secret of the account; authenticates sends.' }),
    signatureSecret: Type.String({
      minLength: 1,
      description: "The account's signature secret (not the API secret); verifies receipts.",
    }),
    timeoutMs: timeoutMsSchema,
  },
  { additionalProperties: false, description: 'Vonage Messages API v1.' },
);

export type VonageSettings = Static<typeof vonageSettingsSchema>;

const path = '/v1/messages';
const reportsPath = '/v2/reports/records';
const textLengthMax = 1_000;

const bearerToken = /^Bearer (\S+)$/i;

/** Of callbacks and of the Reports API's records. */
const receiptStates: ReadonlyMap<unknown, Receipt['state']> = new Map([
  ['submitted', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'delivered'],
  ['rejected', 'failed'],
  ['undeliverable', 'undelivered'],
]);

export function createVonageProvider(
  settings: VonageSettings,
  { clock, connectionsMax }: HttpAdapterDependencies,
): Provider {
  const { apiKey, apiSecret } = settings;
  const options = {
    timeoutMs: settings.timeoutMs,
    connectionsMax,
    headers: {
      accept: 'application/json',
      authorization: `Basic ${Buffer.from(`${apiKey}:${apiSecret}`).toString('base64')}`,
      'content-type': 'application/json',
    },
  };
  const upstream = new Upstream({ ...options, baseUrl: settings.baseUrl });
  const reports = new Upstream({ ...options, baseUrl: reportsUrl(settings.baseUrl) });
  const question = `${reportsPath}?account_id=${encodeURIComponent(apiKey)}&product=MESSAGES&direction=outbound&id=`;

  return {
    name: 'vonage',
    async send(request) {
      if (request.body.length > textLengthMax) return tooLong;
      const result = await upstream.post(path, JSON.stringify(contentOf(request)));
      return result.kind === 'answer' ? readAnswer(result, clock) : resultOfFault(result);
    },
    readReceipts: (request) => readReceipts(request, settings, clock),
    lookUp: (uuid) =>
      lookUp(reports, question + encodeURIComponent(uuid), clock, (content) => readRecords(content, uuid)),
    async close() {
      await Promise.all([upstream.close(), reports.close()]);
    },
  };
}

/** The Reports API is documented at one host only, whichever region takes the messages; elsewhere a stand-in serves both. */
export function reportsUrl(baseUrl: string): string {
  return /\.(?:nexmo|vonage)\.com$/.test(new URL(baseUrl).hostname) ? defaultUrl : baseUrl;
}

const tooLong: SendResult = {
  outcome: 'retryable',
  reason: 'unsupported',
  code: 'text_too_long',
  message: `Vonage takes texts of up to ${textLengthMax} characters`,
};

function contentOf({ to, from, body, encoding, callbackUrl, ref }: SendRequest): Record<string, unknown> {
  return {
    channel: 'sms',
    message_type: 'text',
    to: to.slice(1),
    from: senderWithoutPlus(from),
    text: body,
    client_ref: ref,
    webhook_url: callbackUrl,
    webhook_version: 'v1',
    // Named rather than `auto`, so that the upstream cuts and bills the segments that were priced.
    sms: { encoding_type: encoding === 'gsm7' ? 'text' : 'unicode' },
  };
}

function readAnswer(answer: HttpAnswer, clock: Clock): SendResult {
  const content = parseObject(answer.body);
  if (answer.status < 300) {
    const id = readText(content?.['message_uuid']);
    return id === undefined ? resultOfStatus(answer, clock) : { outcome: 'accepted', providerMessageId: id };
  }
  const code = content && errorCodeOf(content);
  if (content === undefined || code === undefined) return resultOfStatus(answer, clock);
  const message = typeof content['detail'] === 'string' ? content['detail'] : undefined;
  return resultOfError(rowOf(code, content), answer, { code, message }, clock);
}

/** The fragment of `type`: a number, or a word of which the spelling varies (`low-balance`, `InvalidParams`). */
function errorCodeOf({ type, title }: Record<string, unknown>): string | undefined {
  const fragment = typeof type === 'string' ? type.split('#')[1] : undefined;
  if (fragment !== undefined && /^[\w-]{1,64}$/.test(fragment)) return fragment;
  return typeof title === 'string' && /^\d{4}$/.test(title) ? title : undefined;
}

/** The row of a code. Where an invalid parameter is what is wrong, the answer may name it, which says more than the code. */
function rowOf(code: string, content: Record<string, unknown>): ErrorRow | undefined {
  const row = vonageErrors.get(code.replaceAll(/[-_]/g, '').toLowerCase());
  if (row?.class !== 'invalid_content') return row;
  const parameters = content['invalid_parameters'];
  if (!Array.isArray(parameters) || parameters.length !== 1) return row;
  const name = asObject(parameters[0])?.['name'];
  if (name === 'to') return { ...row, class: 'invalid_recipient' };
  return name === 'from' ? { ...row, class: 'invalid_sender' } : row;
}

function readReceipts(request: ReceiptRequest, settings: VonageSettings, clock: Clock): ReceiptReading {
  const forgery = findForgery(request, settings, clock);
  if (forgery !== undefined) return { ok: false, problem: 'forged', reason: forgery };

  const content = parseObject(request.rawBody.toString());
  const providerMessageId = readText(content?.['message_uuid']);
  if (content === undefined || providerMessageId === undefined) {
    return { ok: false, problem: 'malformed', reason: 'the body is not a JSON object with a message_uuid' };
  }
  const problem = asObject(content['error']) ?? {};
  const detail = typeof problem['detail'] === 'string' ? problem['detail'] : undefined;
  const receipt = receiptOf(providerMessageId, content['status'], errorCodeOf(problem), detail);
  return receipt === undefined
    ? { ok: false, problem: 'malformed', reason: 'status is missing or not one of an outbound message' }
    : { ok: true, receipts: [receipt] };
}

function readRecords({ records, ids_not_found: missing }: Record<string, unknown>, id: string): LookUpReading {
  if (!Array.isArray(records)) return readText(missing)?.split(',').includes(id) ? 'not_found' : undefined;
  if (records.length === 0) return 'not_found';
  const own = records.map(asObject).flatMap((record) => {
    if (record?.['message_id'] !== id) return [];
    const receipt = receiptOf(id, record['status'], recordedCode(record['error_code']));
    const finalizedMs = Date.parse(readText(record['date_finalized']) ?? '') || 0;
    return receipt === undefined ? [] : [{ receipt, finalizedMs }];
  });
  return own.toSorted(compareRecorded)[0]?.receipt;
}

type Recorded = { receipt: Receipt; finalizedMs: number };

/** A message should have one record, of its current state; of several, a final one comes before any other, then the latest. */
function compareRecorded(one: Recorded, other: Recorded): number {
  const byFinality = Number(one.receipt.state === 'sent') - Number(other.receipt.state === 'sent');
  return byFinality || other.finalizedMs - one.finalizedMs;
}

/** A record holds `0` or nothing where there is no error. */
function recordedCode(value: unknown): string | undefined {
  return /^[1-9]\d{0,5}$/.exec(readCode(value) ?? '')?.[0];
}

function receiptOf(providerMessageId: string, status: unknown, code?: string, detail?: string): Receipt | undefined {
  const state = receiptStates.get(status);
  if (typeof status !== 'string' || state === undefined) return undefined;
  if (state === 'sent' || state === 'delivered') return { providerMessageId, state };
  const row = code === undefined ? undefined : vonageErrors.get(code);
  return {
    providerMessageId,
    state: code !== undefined && vonageRejectedWithoutRefusal.has(code) ? 'undelivered' : state,
    code: code ?? status,
    message: shorten(detail || row?.text || `Vonage reports the message as ${status}`),
    ...(row?.optOut ? { optOut: true } : {}),
  };
}

/** Why a callback cannot be Vonage's own about this account and this body, or `undefined` where it is. */
function findForgery({ headers, rawBody }: ReceiptRequest, settings: VonageSettings, clock: Clock): string | undefined {
  const { authorization } = headers;
  const token = typeof authorization === 'string' ? bearerToken.exec(authorization)?.[1] : undefined;
  if (token === undefined) return 'there is no bearer token in the Authorization header';
  const reading = readToken(token, settings.signatureSecret, ['HS256']);
  if ('forgery' in reading) return reading.forgery;

  const { claims } = reading;
  if (claims['iss'] !== 'Vonage') return 'the token was not issued by Vonage';
  if (claims['api_key'] !== settings.apiKey) return 'the token is about another account';
  const issuedAtMs = typeof claims['iat'] === 'number' ? claims['iat'] * 1_000 : Number.NaN;
  if (!isTimely(issuedAtMs, clock)) return 'the token is too old or from the future';
  const bodyHash = createHash('sha256').update(rawBody).digest('hex');
  if (!isSameText(claims['payload_hash'], bodyHash)) return 'the body is not the one that was signed';
  return undefined;
}
