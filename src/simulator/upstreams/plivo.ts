import { createHmac, randomUUID } from 'node:crypto';
import { jsonAnswer, retryAfter, textAnswer } from '../answer.ts';
import {
  type Fields,
  findBreaches,
  isHttpUrl,
  isOneOf,
  isText,
  matches,
  optionalString,
  parseFields,
  type Rule,
} from '../fields.ts';
import type { Message } from '../message.ts';
import { isPhoneNumber, withPlus, withoutPlus } from '../phone-number.ts';
import type { ReceiptStatus } from '../scenario.ts';
import { isGsmText, segmentCount } from '../segments.ts';
import {
  isSuccess,
  type Reading,
  type Report,
  type Submission,
  type Upstream,
  type WireCallback,
  type WireRequest,
  type WireResponse,
} from '../upstream.ts';

const credentials = {
  authId: 'MANDG3ZJHLNTEYMGQ5YW',
  authToken: 'YzdiNGE2ZTk1ZDgxNDBmMmE3M2U5YzA1ZDhmMWI2',
};

const GSM_LENGTH_MAX = 1_600;
const UNICODE_LENGTH_MAX = 737;
const EXPIRY_SECONDS_MIN = 5;
const EXPIRY_SECONDS_MAX = 10_800;
const RATE_USD = 0.0055;

const MESSAGE_PATH = /^\/v1\/Account\/([^/]+)\/Message\/(?:([^/]+)\/)?$/;
const SENDER = /^(?:\+?\d{3,15}|(?=.*[A-Za-z])[A-Za-z0-9 ]{1,11})$/;
const POWERPACK_UUID = /^[0-9a-f-]{36}$/;
const URL_PARTS = /^([^?#]*)(?:\?([^#]*))?/;

const expectedAuthorization = `Basic ${btoa(`${credentials.authId}:${credentials.authToken}`)}`;

// How often and when is not documented.
const RETRY_DELAYS_MS = [1_000, 5_000, 25_000];

/** Message API v1, to one destination: JSON in and out, callbacks as signed forms or queries. */
export const plivo: Upstream<typeof credentials> = {
  credentials,
  nativePaths: ['/v1/Account/'],
  read,
  newMessageId: () => randomUUID(),
  accepted: ({ id }) => queued({ message_uuid: [id] }),

  refused({ to }, refusal) {
    if (refusal === 'invalid_recipient') return invalidNumber(to.slice(1));
    if (refusal === 'no_funds') return error(402, 'Insufficient Credit');
    // An opt-out is found out when the message is about to leave, and shows in the callback.
    return undefined;
  },

  throttled: (seconds) => retryAfter(seconds, error(429, 'Too many requests')),
  unavailable: () => error(503, 'Service unavailable'),
  callback: (message, report) =>
    message.submission.details?.['method'] === 'GET' ? queryCallback(message, report) : formCallback(message, report),
  callbackRetryDelayMs: (attempt, result) => (isSuccess(result) ? undefined : RETRY_DELAYS_MS[attempt - 1]),
};

/**
 * `X-Plivo-Signature-V3`: the URL, `?`, its query parameters sorted, and the form's parameters sorted, names and values
 * run together; a dot before the form where there is a query, and one before the nonce. Neither: no `?`.
 */
export function signPlivoCallback(
  authToken: string,
  url: string,
  nonce: string,
  form: Iterable<[string, string]> = [],
): string {
  const [, base = '', queryText = ''] = URL_PARTS.exec(url) ?? [];
  const query = sorted(new URLSearchParams(queryText), '=').join('&');
  const parameters = sorted(form, '').join('');
  let signed = base;
  if (query !== '' || parameters !== '') signed += `?${query}`;
  if (query !== '' && parameters !== '') signed += '.';
  return createHmac('sha256', authToken).update(`${signed}${parameters}.${nonce}`).digest('base64');
}

/** By name, then by value, as UTF-16. */
function sorted(parameters: Iterable<[string, string]>, separator: string): string[] {
  return [...parameters]
    .sort(([nameA, valueA], [nameB, valueB]) => {
      if (nameA !== nameB) return nameA < nameB ? -1 : 1;
      return valueA < valueB ? -1 : 1;
    })
    .map(([name, value]) => name + separator + value);
}

function read({ method, path, headers, body }: WireRequest): Reading {
  const [, authId, messageUuid] = MESSAGE_PATH.exec(path) ?? [];
  const authorised = headers.authorization === expectedAuthorization;
  if (method === 'POST' && authId !== undefined && messageUuid === undefined) return readSend(body, authorised, authId);

  if (!authorised) return { kind: 'answer', response: unauthorised() };
  if (authId !== credentials.authId || messageUuid === undefined || method !== 'GET') {
    return { kind: 'answer', response: error(404, 'not found') };
  }
  return {
    kind: 'poll',
    messageId: messageUuid,
    render: (message, status) =>
      message === undefined ? error(404, 'not found') : jsonAnswer(200, messageResource(message, status)),
  };
}

function readSend(body: string, authorised: boolean, authId: string): Reading {
  const fields = parseFields(body);
  const dst = optionalString(fields?.['dst']);
  const invalid = (response: WireResponse): Reading => ({ kind: 'invalid', to: dst && withPlus(dst), response });

  if (!authorised) return invalid(unauthorised());
  if (authId !== credentials.authId) return invalid(error(404, 'not found'));
  if (fields === undefined) return invalid(error(400, 'invalid json'));
  const wrong = problemWith(fields);
  if (wrong !== undefined) return invalid(error(400, wrong));
  // A number that is none is set aside, not refused, whether or not any other is left.
  if (dst !== undefined && !isPhoneNumber(dst)) return invalid(invalidNumber(dst));
  return { kind: 'send', submission: submissionOf(fields) };
}

type PlivoRule = Rule & { must: string };

const rules: readonly PlivoRule[] = [
  { name: 'src', holds: matches(SENDER), must: 'be a phone number, a short code or up to 11 letters and digits' },
  { name: 'powerpack_uuid', holds: matches(POWERPACK_UUID), must: 'be a uuid' },
  { name: 'dst', required: true, holds: matches(/^[^<]+$/), must: 'be one phone number' },
  { name: 'text', required: true, holds: isShortEnough, must: 'be shorter' },
  { name: 'type', holds: isOneOf('sms'), must: 'be sms' },
  { name: 'url', holds: isHttpUrl, must: 'be a url' },
  { name: 'method', holds: isOneOf('GET', 'POST'), must: 'be GET or POST' },
  { name: 'log', holds: isOneOf(true, false, 'true', 'false', 'content_only', 'number_only'), must: 'be a boolean' },
  {
    name: 'message_expiry',
    holds: (value) => Number(value) >= EXPIRY_SECONDS_MIN && Number(value) <= EXPIRY_SECONDS_MAX,
    must: `be from ${EXPIRY_SECONDS_MIN} to ${EXPIRY_SECONDS_MAX}`,
  },
];

function isShortEnough(value: unknown): boolean {
  return isText(value, GSM_LENGTH_MAX) && (value.length <= UNICODE_LENGTH_MAX || isGsmText(value));
}

function problemWith(fields: Fields): string | undefined {
  const { src, powerpack_uuid: powerpack, dst } = fields;
  if ((src === undefined) === (powerpack === undefined)) return 'one of src and powerpack_uuid is required';
  if (src !== undefined && src === dst) return 'src and dst cannot be same';
  const [breach] = findBreaches(rules, fields);
  if (breach === undefined) return undefined;
  return breach.missing ? `${breach.rule.name} parameter not present` : `${breach.rule.name} must ${breach.rule.must}`;
}

function submissionOf(fields: Fields): Submission {
  return {
    to: withPlus(String(fields['dst'])),
    from: optionalString(fields['src']) ?? String(fields['powerpack_uuid']),
    text: String(fields['text']),
    callbackUrl: optionalString(fields['url']),
    reference: undefined,
    details: { method: optionalString(fields['method']) ?? 'POST' },
  };
}

/** `undelivered` is what the carrier said; `failed` never left. */
const wireStatuses: Record<ReceiptStatus, { state: string; errorCode?: string }> = {
  sent: { state: 'sent' },
  delivered: { state: 'delivered' },
  failed: { state: 'undelivered', errorCode: '70' },
  expired: { state: 'failed', errorCode: '420' },
};
const optedOut = { state: 'failed', errorCode: '200' };

function wireStatusOf({ refusal }: Message, status: ReceiptStatus): { state: string; errorCode?: string } {
  return status === 'failed' && refusal === 'opted_out' ? optedOut : wireStatuses[status];
}

function queryCallback(message: Message, report: Report): WireCallback {
  const joint = report.callbackUrl.includes('?') ? '&' : '?';
  const url = report.callbackUrl + joint + new URLSearchParams(callbackParameters(message, report)).toString();
  return {
    method: 'GET',
    url,
    headers: signatureHeaders((nonce) => signPlivoCallback(credentials.authToken, url, nonce)),
  };
}

function formCallback(message: Message, report: Report): WireCallback {
  const form = Object.entries(callbackParameters(message, report));
  const sign = (nonce: string) => signPlivoCallback(credentials.authToken, report.callbackUrl, nonce, form);
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded', ...signatureHeaders(sign) };
  return { method: 'POST', url: report.callbackUrl, headers, body: new URLSearchParams(form).toString() };
}

/** The main account's token and the sending account's are one here. */
function signatureHeaders(sign: (nonce: string) => string): Record<string, string> {
  const nonce = randomUUID().replaceAll('-', '');
  const signature = sign(nonce);
  return {
    'X-Plivo-Signature-V3': signature,
    'X-Plivo-Signature-Ma-V3': signature,
    'X-Plivo-Signature-V3-Nonce': nonce,
  };
}

function callbackParameters(message: Message, { status, at }: Report): Record<string, string> {
  const { id, submission, acceptedAt } = message;
  const { state, errorCode } = wireStatusOf(message, status);
  const units = segmentCount(submission.text);
  return {
    MessageUUID: id,
    ParentMessageUUID: id,
    From: withoutPlus(submission.from),
    To: submission.to.slice(1),
    Type: 'sms',
    Status: state,
    Sequence: status === 'sent' ? '1' : '2',
    Units: String(units),
    TotalRate: RATE_USD.toFixed(5),
    TotalAmount: (RATE_USD * units).toFixed(5),
    MCC: '310',
    MNC: '150',
    PartInfo: `1 of ${units}`,
    MessageTime: wireDate(acceptedAt),
    QueuedTime: wireDate(acceptedAt),
    SentTime: wireDate(acceptedAt),
    ...(status !== 'sent' && { DeliveryReportTime: wireDate(at) }),
    ...(errorCode !== undefined && { ErrorCode: errorCode }),
  };
}

function messageResource(message: Message, status: ReceiptStatus | undefined): object {
  const { id, submission, acceptedAt } = message;
  const { state, errorCode } = status === undefined ? { state: 'queued' } : wireStatusOf(message, status);
  const units = segmentCount(submission.text);
  return {
    api_id: randomUUID(),
    message_uuid: id,
    message_state: state,
    message_direction: 'outbound',
    message_type: 'sms',
    message_time: wireDate(acceptedAt),
    from_number: withoutPlus(submission.from),
    to_number: submission.to.slice(1),
    units,
    total_rate: RATE_USD.toFixed(5),
    total_amount: (RATE_USD * units).toFixed(5),
    error_code: errorCode ?? null,
    resource_uri: `/v1/Account/${credentials.authId}/Message/${id}/`,
  };
}

/** `2026-01-01 12:00:00.123000+00:00` */
function wireDate(time: number): string {
  return new Date(time).toISOString().replace('T', ' ').replace('Z', '000+00:00');
}

function queued(fields: object): WireResponse {
  return jsonAnswer(202, { api_id: randomUUID(), message: 'message(s) queued', ...fields });
}

function invalidNumber(number: string): WireResponse {
  return queued({ message_uuid: [], invalid_number: [number] });
}

function unauthorised(): WireResponse {
  return textAnswer(401, 'Could not verify your access level for that URL.\nYou have to login with proper credentials');
}

function error(status: number, text: string): WireResponse {
  return jsonAnswer(status, { api_id: randomUUID(), error: text });
}
