import { createPrivateKey, hash, type KeyObject, randomUUID, sign } from 'node:crypto';
import { jsonAnswer, jsonHeaders, retryAfter } from '../answer.ts';
import {
  type Fields,
  findBreaches,
  isBoolean,
  isHttpUrl,
  isOneOf,
  isText,
  matches,
  optionalString,
  parseFields,
  type Rule,
} from '../fields.ts';
import type { Message } from '../message.ts';
import type { ReceiptStatus, Refusal } from '../scenario.ts';
import { isGsmText, segmentCount } from '../segments.ts';
import {
  isSuccess,
  type Reading,
  type Report,
  type Submission,
  type Upstream,
  type WireRequest,
  type WireResponse,
} from '../upstream.ts';

const credentials = {
  apiKey: 'KEY018F3A6C2D9B7E4F5A10C8D2E6B39F74_vQ8zLm3KxT5nWc1RpY7dGh',
  publicKey: 'C7fNgcYhQngo3VockMmdIyrNk2u2M2BNkP09sNP5njs=',
  messagingProfileId: '40017d2c-8f5b-4e6a-9c31-b2d7f0a85e19',
};

/** The key behind `publicKey`, as the demo account's side of the portal holds it. */
const signingKey = createPrivateKey({
  key: Buffer.from('MC4CAQAwBQYDK2VwBCIEIL8TmhWM8Rz7eSmz+1cqYV1yrFMbga2iq5YSeSEPWqWi', 'base64'),
  format: 'der',
  type: 'pkcs8',
});

const MESSAGES_PATH = /^\/v2\/messages(?:\/([^/]+))?$/;
const RECIPIENT = /^\+[1-9]\d{6,14}$/;
const NUMBER_SENDER = /^(?:\+[1-9]\d{6,14}|\d{3,8})$/;
const ALPHANUMERIC_SENDER = /^(?=.*[A-Za-z])[A-Za-z0-9 ]{1,11}$/;
const RATE_USD = 0.004;

// Three attempts in all; the waits between them are not documented.
const RETRY_DELAYS_MS = [1_000, 5_000];

/** API v2, type `SMS`: JSON in and out, events signed with Ed25519. */
export const telnyx: Upstream<typeof credentials> = {
  credentials,
  nativePaths: ['/v2/messages'],
  read,
  newMessageId: () => randomUUID(),
  accepted: (message) => jsonAnswer(200, { data: messageResource(message, undefined, message.acceptedAt) }),
  refused: (_submission, refusal) => refusals[refusal](),
  throttled: (seconds) =>
    retryAfter(seconds, error(429, '10011', 'Too many requests', 'The rate limit of this account is exceeded.')),
  unavailable: () => error(503, '10007', 'Unexpected error', 'An unexpected error occurred.'),

  callback(message, report) {
    const body = JSON.stringify(event(message, report));
    const timestamp = String(Math.floor(report.at / 1_000));
    return {
      method: 'POST',
      url: report.callbackUrl,
      headers: {
        ...jsonHeaders,
        'telnyx-signature-ed25519': signTelnyxEvent(signingKey, timestamp, body),
        'telnyx-timestamp': timestamp,
      },
      body,
    };
  },

  callbackRetryDelayMs: (attempt, result) => (isSuccess(result) ? undefined : RETRY_DELAYS_MS[attempt - 1]),
};

/** `telnyx-signature-ed25519`: over timestamp and body, joined by a bar. */
export function signTelnyxEvent(key: KeyObject, timestamp: string, body: string): string {
  return sign(null, Buffer.from(`${timestamp}|${body}`), key).toString('base64');
}

function read({ method, path, headers, body }: WireRequest): Reading {
  const isMessages = MESSAGES_PATH.exec(path);
  const messageId = isMessages?.[1];
  const authorised = headers.authorization === `Bearer ${credentials.apiKey}`;
  if (isMessages && messageId === undefined && method === 'POST') return readSend(body, authorised);

  if (!authorised) return { kind: 'answer', response: unauthorised() };
  if (messageId === undefined || method !== 'GET') return { kind: 'answer', response: notFound() };
  return {
    kind: 'poll',
    messageId,
    render: (message, status) =>
      message === undefined
        ? notFound()
        : jsonAnswer(200, { data: messageResource(message, status, message.acceptedAt) }),
  };
}

function readSend(body: string, authorised: boolean): Reading {
  const fields = parseFields(body);
  const to = optionalString(fields?.['to']);
  const invalid = (response: WireResponse): Reading => ({ kind: 'invalid', to, response });

  if (!authorised) return invalid(unauthorised());
  if (fields === undefined) return invalid(error(400, '10015', 'Bad Request', 'The body is not a JSON object.'));
  const wrong = problemWith(fields);
  return wrong === undefined ? { kind: 'send', submission: submissionOf(fields) } : invalid(wrong);
}

type TelnyxRule = Rule & { code: string; title: string };

const badRequest = { code: '10015', title: 'Bad Request' };

const rules: readonly TelnyxRule[] = [
  { name: 'to', required: true, code: '40310', title: "Invalid 'to' address", holds: matches(RECIPIENT) },
  {
    name: 'from',
    code: '40305',
    title: "Invalid 'from' address",
    holds: (value) => [NUMBER_SENDER, ALPHANUMERIC_SENDER].some((form) => matches(form)(value)),
  },
  {
    name: 'messaging_profile_id',
    code: '40312',
    title: 'Messaging profile not found',
    holds: isOneOf(credentials.messagingProfileId),
  },
  {
    name: 'text',
    required: true,
    code: '40316',
    title: 'No content provided',
    holds: (value) => isText(value, Infinity),
  },
  { name: 'type', ...badRequest, holds: isOneOf('SMS') },
  { name: 'encoding', ...badRequest, holds: isOneOf('auto', 'gsm7', 'ucs2') },
  { name: 'webhook_url', ...badRequest, holds: isHttpUrl },
  { name: 'webhook_failover_url', ...badRequest, holds: isHttpUrl },
  { name: 'use_profile_webhooks', ...badRequest, holds: isBoolean },
  { name: 'auto_detect', ...badRequest, holds: isBoolean },
];

function problemWith(fields: Fields): WireResponse | undefined {
  const { from, text, encoding, messaging_profile_id: profile } = fields;
  const [breach] = findBreaches(rules, fields);
  if (breach !== undefined) {
    const { name, code, title } = breach.rule;
    return error(400, code, title, `The value of '${name}' is ${breach.missing ? 'missing' : 'invalid'}.`, name);
  }
  if (from === undefined && profile === undefined) {
    return error(400, '40305', "Invalid 'from' address", "'from' or a messaging profile is required.", 'from');
  }
  if (profile === undefined && !matches(NUMBER_SENDER)(from)) {
    const detail = 'An alphanumeric sender needs a messaging profile.';
    return error(400, '40306', 'Alphanumeric sender ID not configured', detail, 'from');
  }
  if (encoding === 'gsm7' && !isGsmText(String(text))) {
    return error(400, '40317', 'Invalid content', 'The text cannot be encoded as GSM-7.', 'text');
  }
  return undefined;
}

function submissionOf(fields: Fields): Submission {
  return {
    to: String(fields['to']),
    from: optionalString(fields['from']) ?? '',
    text: String(fields['text']),
    // Without profile webhooks there is nowhere else to call.
    callbackUrl: optionalString(fields['webhook_url']),
    reference: undefined,
  };
}

const refusals: Record<Refusal, () => WireResponse> = {
  invalid_recipient: () =>
    error(400, '40310', "Invalid 'to' address", "The 'to' address is not a valid phone number.", 'to'),
  opted_out: () =>
    error(403, '40300', 'Blocked due to STOP message', 'The recipient has sent a STOP message to this profile.', 'to'),
  no_funds: () => error(403, '20100', 'Insufficient Funds', 'The balance of this account is too low.'),
};

type WireStatus = { status: string; error?: { code: string; title: string } };

const wireStatuses: Record<ReceiptStatus, WireStatus> = {
  sent: { status: 'sent' },
  delivered: { status: 'delivered' },
  failed: { status: 'delivery_failed', error: { code: '40008', title: 'Undeliverable' } },
  expired: { status: 'delivery_failed', error: { code: '40005', title: 'Message expired during transmission' } },
};

function event(message: Message, { status, callbackUrl, attempt, at }: Report): object {
  return {
    data: {
      event_type: status === 'sent' ? 'message.sent' : 'message.finalized',
      id: eventId(message, status),
      occurred_at: wireDate(at),
      payload: messageResource(message, status, at),
      record_type: 'event',
    },
    meta: { attempt, delivered_to: callbackUrl },
  };
}

/** The same at each repetition, so that a receiver can tell one. */
function eventId({ id }: Message, status: ReceiptStatus): string {
  return hash('md5', `${id} ${status}`, 'hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function messageResource(message: Message, status: ReceiptStatus | undefined, at: number): object {
  const { to, from, text, callbackUrl } = message.submission;
  const wire: WireStatus = status === undefined ? { status: 'queued' } : wireStatuses[status];
  const parts = segmentCount(text);
  const final = status !== undefined && status !== 'sent';
  return {
    record_type: 'message',
    direction: 'outbound',
    id: message.id,
    type: 'SMS',
    messaging_profile_id: credentials.messagingProfileId,
    from: { phone_number: from, carrier: '', line_type: '' },
    to: [{ phone_number: to, status: wire.status, carrier: 'SIMULATED', line_type: 'Wireless' }],
    text,
    encoding: isGsmText(text) ? 'GSM-7' : 'UCS-2',
    parts,
    cost: final ? { amount: (RATE_USD * parts).toFixed(4), currency: 'USD' } : null,
    tags: [],
    errors: wire.error === undefined ? [] : [{ ...wire.error, detail: wire.error.title }],
    webhook_url: callbackUrl ?? null,
    webhook_failover_url: null,
    valid_until: wireDate(message.acceptedAt + 60 * 60 * 1_000),
    received_at: wireDate(message.acceptedAt),
    sent_at: status === undefined ? null : wireDate(message.acceptedAt),
    completed_at: final ? wireDate(at) : null,
  };
}

/** `2026-01-01T00:00:00.000+00:00` */
function wireDate(time: number): string {
  return new Date(time).toISOString().replace('Z', '+00:00');
}

function unauthorised(): WireResponse {
  return error(401, '10009', 'Authentication failed', 'The API key is not valid.');
}

function notFound(): WireResponse {
  return error(404, '10005', 'Resource not found', 'The requested resource or URL could not be found.');
}

function error(status: number, code: string, title: string, detail: string, field?: string): WireResponse {
  const meta = { url: `https://developers.telnyx.com/docs/overview/errors/${code}` };
  const source = field !== undefined && { source: { pointer: `/${field}` } };
  return jsonAnswer(status, { errors: [{ code, title, detail, ...source, meta }] });
}
