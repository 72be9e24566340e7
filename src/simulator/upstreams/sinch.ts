import { createHmac, randomBytes } from 'node:crypto';
import { jsonAnswer, jsonHeaders, retryAfter } from '../answer.ts';
import {
  type Breach,
  type Fields,
  findBreaches,
  isBoolean,
  isHttpUrl,
  isOneOf,
  isText,
  isWholeNumber,
  matches,
  onlyItem,
  optionalString,
  parseFields,
  type Rule,
} from '../fields.ts';
import type { Message } from '../message.ts';
import { isPhoneNumber, withPlus } from '../phone-number.ts';
import type { ReceiptStatus, Refusal } from '../scenario.ts';
import { segmentCount } from '../segments.ts';
import type { Reading, Submission, Upstream, WireRequest, WireResponse } from '../upstream.ts';

const credentials = {
  servicePlanId: '4f1c7a0e93b84d6f8a25c0d9e7b3164a',
  apiToken: 'b6e20d47f3914a8cb5d17e02c9f8346a',
  webhookSecret: 'uV3mQz8KfR1xTn6Wc2Yp',
};

const BODY_LENGTH_MAX = 2_000;
const CLIENT_REFERENCE_LENGTH_MAX = 128;
const EXPIRY_MS = 3 * 24 * 60 * 60 * 1_000;

const BATCH_PATH = /^\/xms\/v1\/([^/]+)\/batches(?:\/([^/]+)(\/delivery_report(?:\/[^/]+)?)?)?$/;
const SENDER = /^(?:\+?\d{3,15}|[A-Za-z0-9 ]{1,11})$/;
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?$/;
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

// 5 s, doubled up to a day in truth; these are the first.
const RETRY_DELAYS_MS = [5_000, 10_000, 20_000];

/** XMS batches, of type `mt_text` and to one recipient: JSON in and out, callbacks signed by arrangement. */
export const sinch: Upstream<typeof credentials> = {
  credentials,
  nativePaths: ['/xms/v1/'],
  read,
  newMessageId: newBatchId,
  accepted: (message) => jsonAnswer(201, batch(message)),
  // An opt-out or an empty account shows only in the delivery report.
  refused: ({ to }, refusal) => (refusal === 'invalid_recipient' ? invalidFormat(to) : undefined),
  throttled: (seconds) => retryAfter(seconds, error(429, 'too_many_requests', 'Too many requests')),
  unavailable: () => error(503, 'service_unavailable', 'The service is unavailable'),
  reportsOn: ({ details }, status) => status !== 'sent' || details?.['deliveryReport'] === 'per_recipient',

  callback(message, { status, callbackUrl, at }) {
    const kind = message.submission.details?.['deliveryReport'] ?? '';
    const report = kind.startsWith('per_recipient')
      ? recipientReport(message, status, at)
      : batchReport(message, status, kind === 'full');
    const body = JSON.stringify(report);
    const stamp = { nonce: newBatchId(), timestamp: String(Math.floor(at / 1_000)) };
    return {
      method: 'POST',
      url: callbackUrl,
      headers: {
        ...jsonHeaders,
        'x-sinch-webhook-signature': signSinchCallback(credentials.webhookSecret, body, stamp),
        'x-sinch-webhook-signature-nonce': stamp.nonce,
        'x-sinch-webhook-signature-timestamp': stamp.timestamp,
        'x-sinch-webhook-signature-algorithm': 'HmacSHA256',
      },
      body,
    };
  },

  callbackRetryDelayMs(attempt, result) {
    const retried = typeof result !== 'number' || result >= 500 || result === 429;
    return retried ? RETRY_DELAYS_MS[attempt - 1] : undefined;
  },
};

/** `x-sinch-webhook-signature`: HMAC-SHA256 over body, nonce and timestamp, joined by dots. */
export function signSinchCallback(
  secret: string,
  body: string,
  { nonce, timestamp }: { nonce: string; timestamp: string },
): string {
  return createHmac('sha256', secret).update(`${body}.${nonce}.${timestamp}`).digest('base64');
}

function read({ method, path, query, headers, body }: WireRequest): Reading {
  const [, servicePlanId, batchId, report] = BATCH_PATH.exec(path) ?? [];
  const sending = method === 'POST' && servicePlanId !== undefined && batchId === undefined;
  const authorised = headers.authorization === `Bearer ${credentials.apiToken}`;
  const elsewhere = servicePlanId !== credentials.servicePlanId;
  if (sending) return readSend(body, authorised ? elsewhere && notFound() : unauthorised());

  if (!authorised) return { kind: 'answer', response: unauthorised() };
  if (elsewhere || method !== 'GET' || batchId === undefined) return { kind: 'answer', response: notFound() };
  return {
    kind: 'poll',
    messageId: batchId,
    render(message, status) {
      if (message === undefined) return notFound();
      if (report === undefined) return jsonAnswer(200, batch(message));
      if (report === '/delivery_report') {
        return jsonAnswer(200, batchReport(message, status, new URLSearchParams(query).get('type') === 'full'));
      }
      const asked = report.slice('/delivery_report/'.length).replace(/^(?:\+|%2[Bb])/, '');
      if (`+${asked}` !== message.submission.to) return notFound();
      return jsonAnswer(200, recipientReport(message, status, message.acceptedAt));
    },
  };
}

function readSend(body: string, denied: WireResponse | false): Reading {
  const fields = parseFields(body);
  const to = optionalString(onlyItem(fields?.['to']));
  const invalid = (response: WireResponse): Reading => ({ kind: 'invalid', to: to && withPlus(to), response });

  if (denied) return invalid(denied);
  if (fields === undefined) return invalid(error(400, 'syntax_invalid_json', 'The body is not a JSON object'));
  const [breach] = findBreaches(rules, fields);
  if (breach !== undefined) return invalid(breachAnswer(breach, fields));
  const wantsReport = ![undefined, 'none'].includes(optionalString(fields['delivery_report']));
  if (wantsReport && fields['callback_url'] === undefined) {
    return invalid(
      error(403, 'missing_callback_url', 'No callback URL is given, and none is set for the service plan'),
    );
  }
  return { kind: 'send', submission: submissionOf(fields, wantsReport) };
}

/** `format`: what does not hold is a value of the wrong form, and not one missing or out of bounds. */
type SinchRule = Rule & { must: string; format?: true };

const rules: readonly SinchRule[] = [
  { name: 'to', required: true, holds: (value) => typeof onlyItem(value) === 'string', must: 'hold one recipient' },
  { name: 'to', holds: (value) => isPhoneNumber(onlyItem(value)), must: 'be a phone number', format: true },
  { name: 'from', required: true, holds: matches(SENDER), must: 'be a valid sender', format: true },
  {
    name: 'body',
    required: true,
    holds: (value) => isText(value, BODY_LENGTH_MAX),
    must: `have a length from 1 to ${BODY_LENGTH_MAX}`,
  },
  { name: 'type', holds: isOneOf('mt_text'), must: 'be mt_text' },
  {
    name: 'delivery_report',
    holds: isOneOf('none', 'summary', 'full', 'per_recipient', 'per_recipient_final'),
    must: 'be a kind of delivery report',
    format: true,
  },
  { name: 'callback_url', holds: (value) => isHttpUrl(value) && value.length <= 2_048, must: 'be a URL', format: true },
  {
    name: 'client_reference',
    holds: (value) => isText(value, CLIENT_REFERENCE_LENGTH_MAX),
    must: `have a length from 1 to ${CLIENT_REFERENCE_LENGTH_MAX}`,
  },
  { name: 'expire_at', holds: matches(ISO_TIME), must: 'be a time', format: true },
  { name: 'max_number_of_message_parts', holds: isWholeNumber(1, 255), must: 'be a positive number' },
  { name: 'flash_message', holds: isBoolean, must: 'be a boolean' },
];

function breachAnswer({ rule, missing }: Breach<SinchRule>, fields: Fields): WireResponse {
  if (missing) return error(400, 'syntax_constraint_violation', `The property '${rule.name}' is required`);
  if (rule.name === 'to' && rule.format) return invalidFormat(String(onlyItem(fields['to'])));
  const code = rule.format ? 'syntax_invalid_parameter_format' : 'syntax_constraint_violation';
  return error(400, code, `The property '${rule.name}' must ${rule.must}`);
}

function submissionOf(fields: Fields, wantsReport: boolean): Submission {
  return {
    to: withPlus(String(onlyItem(fields['to']))),
    from: String(fields['from']),
    text: String(fields['body']),
    callbackUrl: wantsReport ? optionalString(fields['callback_url']) : undefined,
    reference: optionalString(fields['client_reference']),
    details: {
      deliveryReport: optionalString(fields['delivery_report']) ?? 'none',
      expireAt: optionalString(fields['expire_at']) ?? '',
      partsAreReported: String(fields['max_number_of_message_parts'] !== undefined),
    },
  };
}

/** The form of a ULID; the time in it is not told. */
function newBatchId(): string {
  return `01${Array.from(randomBytes(24), (byte) => CROCKFORD[byte % 32]).join('')}`;
}

type WireStatus = { status: string; code: number };

const wireStatuses: Record<ReceiptStatus, WireStatus> = {
  sent: { status: 'Dispatched', code: 401 },
  delivered: { status: 'Delivered', code: 0 },
  failed: { status: 'Failed', code: 1 },
  expired: { status: 'Expired', code: 406 },
};

/** A recipient that opted out is blocked by the carrier; a batch that cannot be paid for never leaves. */
const laterRefusals: Record<Refusal, WireStatus> = {
  invalid_recipient: { status: 'Aborted', code: 402 },
  opted_out: { status: 'Deleted', code: 300 },
  no_funds: { status: 'Aborted', code: 413 },
};

function wireStatusOf(message: Message, status: ReceiptStatus | undefined): WireStatus {
  if (status === undefined) return { status: 'Queued', code: 400 };
  return status === 'failed' && message.refusal ? laterRefusals[message.refusal] : wireStatuses[status];
}

function recipientReport(message: Message, status: ReceiptStatus | undefined, at: number): object {
  const { to, text, reference, details } = message.submission;
  return {
    type: 'recipient_delivery_report_sms',
    batch_id: message.id,
    recipient: to,
    ...wireStatusOf(message, status),
    at: new Date(at).toISOString(),
    operator_status_at: new Date(at).toISOString(),
    client_reference: reference,
    ...(details?.['partsAreReported'] === 'true' && { number_of_message_parts: segmentCount(text) }),
  };
}

function batchReport(message: Message, status: ReceiptStatus | undefined, full: boolean): object {
  const { to, reference } = message.submission;
  const counted = { ...wireStatusOf(message, status), count: 1, ...(full && { recipients: [to.slice(1)] }) };
  return {
    type: 'delivery_report_sms',
    batch_id: message.id,
    total_message_count: 1,
    statuses: [counted],
    client_reference: reference,
  };
}

function batch({ id, submission, acceptedAt }: Message): object {
  const { to, from, text, callbackUrl, reference, details } = submission;
  const createdAt = new Date(acceptedAt).toISOString();
  return {
    id,
    to: [to.slice(1)],
    from,
    canceled: false,
    body: text,
    type: 'mt_text',
    created_at: createdAt,
    modified_at: createdAt,
    delivery_report: details?.['deliveryReport'],
    expire_at: details?.['expireAt'] || new Date(acceptedAt + EXPIRY_MS).toISOString(),
    callback_url: callbackUrl,
    client_reference: reference,
    flash_message: false,
  };
}

function invalidFormat(to: string): WireResponse {
  return error(400, 'syntax_invalid_parameter_format', `Property 'to': '${to}' is not a valid phone number`);
}

function unauthorised(): WireResponse {
  return { status: 401, headers: {}, body: '' };
}

function notFound(): WireResponse {
  return { status: 404, headers: {}, body: '' };
}

function error(status: number, code: string, text: string): WireResponse {
  return jsonAnswer(status, { code, text });
}
