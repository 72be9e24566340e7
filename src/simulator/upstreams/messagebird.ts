import { createHmac, hash, randomUUID } from 'node:crypto';
import { jsonAnswer, retryAfter, textAnswer } from '../answer.ts';
import {
  findBreaches,
  type Fields,
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
import { isPhoneNumber, withoutPlus, withPlus } from '../phone-number.ts';
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
  accessKey: 'q8Vn3LxT0mZr5WkJc2Yd7PbHs',
  signingKey: 'Jt5Rw9QzX2cVb7Nm4LkPs8Gd1HfYa6Ue',
};

const SEGMENTS_MAX = 9;
const REFERENCE_LENGTH_MAX = 255;
const TOKEN_SECONDS = 60;
const PRICE_EUR = 0.076;

const MESSAGES_PATH = /^\/messages(?:\/([^/]+))?$/;
const ORIGINATOR = /^(?:\+?\d{3,15}|[A-Za-z0-9 ]{1,11})$/;
const JWT_HEADER = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url');

const expectedAuthorization = `AccessKey ${credentials.accessKey}`;

// How often and when is not documented.
const RETRY_DELAYS_MS = [1_000, 5_000, 25_000];

/** The legacy REST API, type `sms` and one recipient: JSON in and out, callbacks as queries with a JWT over their URL. */
export const messagebird: Upstream<typeof credentials> = {
  credentials,
  nativePaths: ['/messages'],
  read,
  newMessageId: () => randomUUID().replaceAll('-', ''),
  accepted: (message) => jsonAnswer(201, messageResource(message, undefined)),

  refused(_submission, refusal) {
    if (refusal === 'invalid_recipient') return noRecipient();
    if (refusal === 'no_funds') return errorAnswer(422, 25, 'Not enough balance', null);
    // An opt-out is known to the carrier's side, and shows in the callback.
    return undefined;
  },

  throttled: (seconds) => retryAfter(seconds, textAnswer(429, 'Too Many Requests')),
  unavailable: () => errorAnswer(503, 99, 'internal error', null),

  callback(message, report) {
    const url = callbackUrl(message, report);
    const nbf = Math.floor(report.at / 1_000);
    const token = signMessagebirdCallback(credentials.signingKey, url, {
      nbf,
      exp: nbf + TOKEN_SECONDS,
      jti: randomUUID(),
    });
    return { method: 'GET', url, headers: { 'MessageBird-Signature-JWT': token } };
  },

  callbackRetryDelayMs: (attempt, result) => (isSuccess(result) ? undefined : RETRY_DELAYS_MS[attempt - 1]),
};

/** `MessageBird-Signature-JWT`: HS256 under the signing key, over claims that carry the SHA-256 of URL and body. */
export function signMessagebirdCallback(
  signingKey: string,
  url: string,
  { nbf, exp, jti }: { nbf: number; exp: number; jti: string },
  body = '',
): string {
  const claims = {
    iss: 'MessageBird',
    nbf,
    exp,
    jti,
    url_hash: hash('sha256', url, 'hex'),
    ...(body !== '' && { payload_hash: hash('sha256', body, 'hex') }),
  };
  const signed = `${JWT_HEADER}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  return `${signed}.${createHmac('sha256', signingKey).update(signed).digest('base64url')}`;
}

function read({ method, path, headers, body }: WireRequest): Reading {
  const isMessages = MESSAGES_PATH.exec(path);
  const messageId = isMessages?.[1];
  const authorised = headers.authorization === expectedAuthorization;
  if (isMessages && messageId === undefined && method === 'POST') return readSend(body, authorised);

  if (!authorised) return { kind: 'answer', response: unauthorised() };
  if (messageId === undefined || method !== 'GET') return { kind: 'answer', response: notFound() };
  return {
    kind: 'poll',
    messageId,
    render: (message, status) =>
      message === undefined ? notFound() : jsonAnswer(200, messageResource(message, status)),
  };
}

function readSend(body: string, authorised: boolean): Reading {
  const fields = parseFields(body);
  const to = onlyRecipient(fields?.['recipients']);
  const invalid = (response: WireResponse): Reading => ({ kind: 'invalid', to: to && withPlus(to), response });

  if (!authorised) return invalid(unauthorised());
  if (fields === undefined) return invalid(errorAnswer(400, 21, 'bad request', null));
  const [breach] = findBreaches(rules, fields);
  if (breach !== undefined) {
    const { name, must } = breach.rule;
    if (breach.missing) return invalid(errorAnswer(422, 9, `${name} is required`, name));
    return invalid(errorAnswer(422, 10, `${name} ${must}`, name));
  }
  if (!isPhoneNumber(to)) return invalid(noRecipient());
  return { kind: 'send', submission: submissionOf(fields, to) };
}

/** Numbers or strings in an array, or joined by commas. */
function onlyRecipient(value: unknown): string | undefined {
  const recipient = onlyItem(typeof value === 'string' ? value.split(',') : value);
  return typeof recipient === 'number' || typeof recipient === 'string' ? String(recipient) : undefined;
}

type MessagebirdRule = Rule & { must: string };

const rules: readonly MessagebirdRule[] = [
  { name: 'originator', required: true, holds: matches(ORIGINATOR), must: 'is invalid' },
  { name: 'recipients', required: true, holds: () => true, must: '' },
  { name: 'body', required: true, holds: (value) => isText(value, Infinity), must: 'is empty' },
  { name: 'body', holds: (value) => segmentCount(String(value)) <= SEGMENTS_MAX, must: 'is too long' },
  { name: 'type', holds: isOneOf('sms'), must: 'is invalid' },
  { name: 'datacoding', holds: isOneOf('plain', 'unicode', 'auto'), must: 'is invalid' },
  { name: 'reference', holds: (value) => isText(value, REFERENCE_LENGTH_MAX), must: 'is too long' },
  { name: 'reportUrl', holds: isHttpUrl, must: 'is invalid' },
  { name: 'validity', holds: isWholeNumber(1, 2 ** 31 - 1), must: 'is invalid' },
  { name: 'gateway', holds: isWholeNumber(0, 2 ** 31 - 1), must: 'is invalid' },
  { name: 'mclass', holds: isWholeNumber(0, 3), must: 'is invalid' },
];

function submissionOf(fields: Fields, to: string): Submission {
  const reference = optionalString(fields['reference']);
  return {
    to: withPlus(to),
    from: String(fields['originator']),
    text: String(fields['body']),
    // Without a reference the URL is ignored.
    callbackUrl: reference === undefined ? undefined : optionalString(fields['reportUrl']),
    reference,
    details: { datacoding: optionalString(fields['datacoding']) ?? 'plain' },
  };
}

type WireStatus = { status: string; reason: string; errorCode?: number };

const wireStatuses: Record<ReceiptStatus, WireStatus> = {
  sent: { status: 'sent', reason: 'successfully sent' },
  delivered: { status: 'delivered', reason: 'successfully delivered' },
  failed: { status: 'delivery_failed', reason: 'unknown subscriber', errorCode: 1 },
  expired: { status: 'expired', reason: 'unavailable subscriber', errorCode: 27 },
};

const laterRefusals: Partial<Record<Refusal, WireStatus>> = {
  opted_out: { status: 'delivery_failed', reason: 'opted out', errorCode: 103 },
};

function wireStatusOf({ refusal }: Message, status: ReceiptStatus): WireStatus {
  const refused = status === 'failed' && refusal !== undefined ? laterRefusals[refusal] : undefined;
  return refused ?? wireStatuses[status];
}

function callbackUrl(message: Message, report: Report): string {
  const { id, submission } = message;
  const { status, reason, errorCode } = wireStatusOf(message, report.status);
  const query = new URLSearchParams({
    datacoding: datacodingOf(submission),
    id,
    mccmnc: '20408',
    messageLength: String(submission.text.length),
    messagePartCount: String(segmentCount(submission.text)),
    ported: '0',
    'price[amount]': String(PRICE_EUR),
    'price[currency]': 'EUR',
    recipient: withoutPlus(submission.to),
    reference: submission.reference ?? '',
    status,
    statusDatetime: wireDate(report.at),
    ...(errorCode !== undefined && { statusErrorCode: String(errorCode) }),
    statusReason: reason,
  });
  const [base = ''] = report.callbackUrl.split('#');
  return `${base}${base.includes('?') ? '&' : '?'}${query.toString()}`;
}

function messageResource(message: Message, status: ReceiptStatus | undefined): object {
  const { id, submission, acceptedAt } = message;
  const wire = wireStatusOf(message, status ?? 'sent');
  return {
    id,
    href: `https://rest.messagebird.com/messages/${id}`,
    direction: 'mt',
    type: 'sms',
    originator: submission.from,
    body: submission.text,
    reference: submission.reference ?? null,
    validity: null,
    gateway: 10,
    typeDetails: {},
    datacoding: datacodingOf(submission),
    mclass: 1,
    scheduledDatetime: null,
    createdDatetime: wireDate(acceptedAt),
    recipients: {
      totalCount: 1,
      totalSentCount: 1,
      totalDeliveredCount: Number(status === 'delivered'),
      totalDeliveryFailedCount: Number(status === 'failed' || status === 'expired'),
      items: [
        {
          recipient: Number(withoutPlus(submission.to)),
          status: wire.status,
          statusDatetime: wireDate(acceptedAt),
          statusReason: wire.reason,
          statusErrorCode: wire.errorCode ?? null,
          messagePartCount: segmentCount(submission.text),
          messageLength: submission.text.length,
          mccmnc: '20408',
          price: { amount: PRICE_EUR, currency: 'EUR' },
        },
      ],
    },
  };
}

function datacodingOf({ text, details }: Submission): string {
  const asked = details?.['datacoding'] ?? 'plain';
  if (asked !== 'auto') return asked;
  return isGsmText(text) ? 'plain' : 'unicode';
}

/** `2022-10-12T18:46:22+00:00` */
function wireDate(time: number): string {
  return new Date(time).toISOString().replace(/\.\d{3}Z$/, '+00:00');
}

function unauthorised(): WireResponse {
  return errorAnswer(401, 2, 'Request not allowed (incorrect access_key)', 'access_key');
}

function notFound(): WireResponse {
  return errorAnswer(404, 20, 'message not found', null);
}

function noRecipient(): WireResponse {
  return errorAnswer(422, 9, 'no (correct) recipients found', 'recipients');
}

function errorAnswer(httpStatus: number, code: number, description: string, parameter: string | null): WireResponse {
  return jsonAnswer(httpStatus, { errors: [{ code, description, parameter }] });
}
