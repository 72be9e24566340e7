import { createHmac, hash, randomUUID } from 'node:crypto';
import { jsonAnswer, jsonHeaders, retryAfter } from '../answer.ts';
import {
  findBreaches,
  type Fields,
  isBoolean,
  isHttpUrl,
  isObject,
  isOneOf,
  isText,
  isWholeNumber,
  matches,
  optionalString,
  parseFields,
  type Rule,
} from '../fields.ts';
import type { Message } from '../message.ts';
import type { ReceiptStatus, Refusal } from '../scenario.ts';
import { segmentCount } from '../segments.ts';
import type { Reading, Submission, Upstream, WireRequest, WireResponse } from '../upstream.ts';

const credentials = {
  apiKey: 'a7c93e51',
  apiSecret: 'Tq4vXb8ZrM2nKd6W',
  signatureSecret: 'r5HnY2kVw8PzQj3LxC7mGd4TbS9fAe6UuN1oIi0E',
};

const TEXT_LENGTH_MAX = 1_000;
const CLIENT_REF_LENGTH_MAX = 100;
const TTL_SECONDS_MAX = 604_800;

const ERRORS = 'https://developer.vonage.com/api-errors';
const MESSAGES_PATH = '/v1/messages';
const RECORDS_PATH = '/v2/reports/records';
// A price per segment, as the `submitted` callback states it.
const PRICE_EUR = 0.0333;

const problemHeaders = { 'Content-Type': 'application/problem+json' };
const JWT_HEADER = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url');
const expectedAuthorization = `Basic ${btoa(`${credentials.apiKey}:${credentials.apiSecret}`)}`;

// Unanswered callbacks are tried for a day in truth; four times are enough to see that a receiver came back.
const RETRY_DELAYS_MS = [1_000, 5_000, 25_000];

/** Messages API v1, channel `sms`: JSON in and out, callbacks signed with a JWT; the Reports API's records of these messages. */
export const vonage: Upstream<typeof credentials> = {
  credentials,
  nativePaths: [MESSAGES_PATH, RECORDS_PATH],
  read,
  newMessageId: () => randomUUID(),
  accepted: (message) => ({
    status: 202,
    headers: jsonHeaders,
    body: `{"message_uuid":"${message.id}"}`,
  }),
  refused: (_submission, refusal) => refusals[refusal](),
  throttled: (seconds) =>
    retryAfter(
      seconds,
      problem(429, '/messages#1000', 'Throttled', 'The submission capacity of this account is exceeded.'),
    ),
  unavailable: () => problem(503, '/messages#1030', 'Internal error', 'The platform could not process the request.'),

  callback(message, { status, callbackUrl, at }) {
    const body = JSON.stringify(callbackBody(message, status, at));
    const token = signVonageCallback(credentials, body, { iat: Math.floor(at / 1000), jti: randomUUID() });
    return { method: 'POST', url: callbackUrl, headers: { ...jsonHeaders, Authorization: `Bearer ${token}` }, body };
  },

  callbackRetryDelayMs: (attempt, result) =>
    typeof result === 'number' && result >= 200 && result <= 205 ? undefined : RETRY_DELAYS_MS[attempt - 1],
};

/** The JWT of a callback: HS256 under the signature secret, over claims that carry the body's SHA-256. */
export function signVonageCallback(
  { apiKey, signatureSecret }: { apiKey: string; signatureSecret: string },
  body: string,
  { iat, jti }: { iat: number; jti: string },
): string {
  const claims = { iat, jti, iss: 'Vonage', payload_hash: hash('sha256', body, 'hex'), api_key: apiKey };
  const signed = `${JWT_HEADER}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  return `${signed}.${createHmac('sha256', signatureSecret).update(signed).digest('base64url')}`;
}

function read({ method, path, query, headers, body }: WireRequest): Reading {
  const authorised = headers.authorization === expectedAuthorization;
  if (path === MESSAGES_PATH && method === 'POST') return readSend(body, authorised);
  if (path === RECORDS_PATH && method === 'GET') return readPoll(query, authorised);
  return {
    kind: 'answer',
    response: problem(404, '#not-found', 'Not Found', 'The requested resource does not exist.'),
  };
}

function readSend(body: string, authorised: boolean): Reading {
  const fields = parseFields(body);
  const to = typeof fields?.['to'] === 'string' ? `+${fields['to']}` : undefined;
  if (!authorised) return { kind: 'invalid', to, response: unauthorised() };
  const invalid =
    fields === undefined ? [parameter('body', 'must be a JSON object')] : invalidParameters(rules, fields);
  if (fields === undefined || invalid.length > 0) return { kind: 'invalid', to, response: invalidParams(invalid) };
  return { kind: 'send', submission: submissionOf(fields) };
}

function readPoll(query: string, authorised: boolean): Reading {
  const fields = Object.fromEntries(new URLSearchParams(query));
  const id = fields['id'] ?? '';
  const response = authorised ? findQueryProblem(fields) : unauthorised();
  if (response !== undefined) return { kind: 'answer', response };
  return { kind: 'poll', messageId: id, render: (message, status) => recordsAnswer(id, message, status) };
}

type InvalidParameter = { name: string; reason: string };

type VonageRule = Rule & { reason: string };

/** Only `sms` of type `text`, and only v1 callbacks: the rest of the Messages API is not simulated. */
const rules: readonly VonageRule[] = [
  { name: 'channel', required: true, reason: 'must be `sms`', holds: isOneOf('sms') },
  { name: 'message_type', required: true, reason: 'must be `text`', holds: isOneOf('text') },
  {
    name: 'to',
    required: true,
    reason: 'must be 7 to 15 digits, without `+` or `00`',
    holds: matches(/^[1-9]\d{6,14}$/),
  },
  {
    name: 'from',
    required: true,
    reason: 'must be up to 15 digits, or up to 11 letters and digits',
    holds: matches(/^(?:\d{3,15}|[A-Za-z0-9 ]{1,11})$/),
  },
  {
    name: 'text',
    required: true,
    reason: `must be 1 to ${TEXT_LENGTH_MAX} characters`,
    holds: (value) => isText(value, TEXT_LENGTH_MAX),
  },
  {
    name: 'client_ref',
    reason: `must be 1 to ${CLIENT_REF_LENGTH_MAX} characters`,
    holds: (value) => isText(value, CLIENT_REF_LENGTH_MAX),
  },
  { name: 'webhook_url', reason: 'must be an HTTP URL', holds: isHttpUrl },
  { name: 'webhook_version', reason: 'must be `v1`', holds: isOneOf('v1') },
  {
    name: 'ttl',
    reason: `must be a whole number from 20 to ${TTL_SECONDS_MAX}`,
    holds: isWholeNumber(20, TTL_SECONDS_MAX),
  },
  { name: 'trusted_recipient', reason: 'must be a boolean', holds: isBoolean },
  {
    name: 'sms',
    reason: 'must be an object whose encoding_type is `text`, `unicode` or `auto`',
    holds: (value) => isObject(value) && isOneOf(undefined, 'text', 'unicode', 'auto')(value['encoding_type']),
  },
];

/** Only outbound messages, and only one of them by its id: the rest of the Reports API is not simulated. */
const recordsRules: readonly VonageRule[] = [
  { name: 'product', required: true, reason: 'must be `MESSAGES`', holds: isOneOf('MESSAGES') },
  { name: 'account_id', required: true, reason: 'must be an API key', holds: (value) => isText(value, 100) },
  { name: 'direction', required: true, reason: 'must be `outbound`', holds: isOneOf('outbound') },
  { name: 'id', required: true, reason: 'must be the UUID of a message', holds: (value) => isText(value, 100) },
];

function findQueryProblem(fields: Readonly<Record<string, string>>): WireResponse | undefined {
  const invalid = invalidParameters(recordsRules, fields);
  if (invalid.length > 0) return invalidParams(invalid);
  const foreign = Object.keys(fields).filter((name) => !recordsRules.some((rule) => rule.name === name));
  if (foreign.length > 0) {
    const detail = `When using id, the following parameters are not supported: [${foreign.join(', ')}]`;
    return problem(422, '/reports#invalid-filter', 'Invalid filter', detail);
  }
  return fields['account_id'] === credentials.apiKey
    ? undefined
    : problem(403, '#forbidden', 'Forbidden', 'User not authorized to query the requested data.');
}

function invalidParameters(among: readonly VonageRule[], fields: Fields): InvalidParameter[] {
  return findBreaches(among, fields).map(({ rule, missing }) =>
    parameter(rule.name, missing ? 'is required' : rule.reason),
  );
}

function parameter(name: string, reason: string): InvalidParameter {
  return { name, reason: `\`${name}\` ${reason}` };
}

function submissionOf(fields: Fields): Submission {
  return {
    to: `+${String(fields['to'])}`,
    from: String(fields['from']),
    text: String(fields['text']),
    callbackUrl: optionalString(fields['webhook_url']),
    reference: optionalString(fields['client_ref']),
  };
}

const refusals: Record<Refusal, () => WireResponse> = {
  invalid_recipient: () =>
    problem(
      422,
      '/messages#1170',
      'Invalid or missing MSISDN param',
      'The phone number in `to` is missing or invalid.',
    ),
  opted_out: () =>
    problem(422, '/messages#1240', 'Illegal number', 'The recipient has opted out of messages from this sender.'),
  no_funds: () =>
    problem(402, '#low-balance', 'Low balance', 'The balance of this account is too low for this request.'),
};

const wireStatuses: Record<ReceiptStatus, { status: string; error?: { code: string; detail: string } }> = {
  sent: { status: 'submitted' },
  delivered: { status: 'delivered' },
  failed: { status: 'rejected', error: { code: '1190', detail: 'Absent Subscriber Permanent' } },
  expired: { status: 'rejected', error: { code: '1360', detail: 'TTL was activated' } },
};

function callbackBody(message: Message, status: ReceiptStatus, now: number): object {
  const { to, from, text, reference } = message.submission;
  const { status: wireStatus, error } = wireStatuses[status];
  const segments = segmentCount(text);
  return {
    message_uuid: message.id,
    to: to.slice(1),
    from,
    timestamp: new Date(now).toISOString(),
    status: wireStatus,
    channel: 'sms',
    client_ref: reference,
    ...(status === 'sent' && {
      usage: { currency: 'EUR', price: (PRICE_EUR * segments).toFixed(4) },
      sms: { count_total: String(segments) },
    }),
    ...(error && {
      error: {
        type: `${ERRORS}/messages#${error.code}`,
        title: error.code,
        detail: error.detail,
        instance: message.id,
      },
    }),
  };
}

/** A message has one record, of the state it is in. */
function recordsAnswer(id: string, message: Message | undefined, status: ReceiptStatus | undefined): WireResponse {
  const records = message === undefined ? [] : [recordOf(message, status ?? 'sent')];
  return jsonAnswer(200, {
    request_id: randomUUID(),
    request_status: 'SUCCESS',
    account_id: credentials.apiKey,
    product: 'MESSAGES',
    direction: 'outbound',
    items_count: records.length,
    ...(message === undefined && { ids_not_found: id }),
    records,
  });
}

function recordOf({ id, submission, acceptedAt }: Message, status: ReceiptStatus): object {
  const { status: wireStatus, error } = wireStatuses[status];
  const price = (PRICE_EUR * segmentCount(submission.text)).toFixed(4);
  // `2024-02-02T13:50:00+00:00`
  const date = new Date(acceptedAt).toISOString().replace(/\.\d+Z$/, '+00:00');
  return {
    id,
    account_id: credentials.apiKey,
    message_id: id,
    client_ref: submission.reference ?? null,
    direction: 'outbound',
    from: submission.from,
    to: submission.to.slice(1),
    provider: 'sms',
    date_received: date,
    date_finalized: date,
    status: wireStatus,
    error_code: error?.code ?? '0',
    currency: 'EUR',
    estimated_price: price,
    total_price: price,
  };
}

function unauthorised(): WireResponse {
  return problem(401, '#unauthorized', 'Unauthorized', 'You did not provide correct credentials.');
}

function invalidParams(parameters: InvalidParameter[]): WireResponse {
  const detail = 'The value of one or more parameters is invalid.';
  return problem(422, '/messages#1150', 'Invalid params', detail, { invalid_parameters: parameters });
}

function problem(status: number, type: string, title: string, detail: string, more?: object): WireResponse {
  const body = { type: ERRORS + type, title, detail, instance: randomUUID().replaceAll('-', ''), ...more };
  return { status, headers: problemHeaders, body: JSON.stringify(body) };
}
