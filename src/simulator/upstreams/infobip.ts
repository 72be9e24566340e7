import { randomInt } from 'node:crypto';
import { jsonAnswer, jsonHeaders, retryAfter } from '../answer.ts';
import {
  asObject,
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
  apiKey: '7c1e5a93d84f20b6ce3197af05d2684b-9e40f7a1-6b52-4d8c-a3e7-12f90c5d8b64',
};

const TEXT_LENGTH_MAX = 4_000;
const MESSAGE_ID_LENGTH_MAX = 200;
const CALLBACK_DATA_LENGTH_MAX = 4_000;
const PRICE_EUR = 0.0452;

const MESSAGES_PATH = '/sms/3/messages';
const REPORTS_PATH = '/sms/3/reports';
const LOGS_PATH = '/sms/3/logs';

// Waits of a minute and a minute times n² in truth; here seconds stand for the minutes.
const RETRY_DELAYS_MS = [2_000, 5_000, 10_000];

/** SMS API v3: JSON in and out, callbacks without any signature. One message to one destination in a request. */
export const infobip: Upstream<typeof credentials> = {
  credentials,
  nativePaths: ['/sms/3/'],
  read,
  newMessageId: ({ messageId }) => messageId ?? newNumericId(),
  accepted: ({ id, submission }) => sendAnswer(id, submission, statuses.PENDING_ACCEPTED),
  refused: (submission, refusal) => turnedDown(submission, refusals[refusal]),
  duplicate: (submission) => turnedDown(submission, statuses.DUPLICATE),
  throttled: (seconds) => retryAfter(seconds, problem(429, 'E429', 'Too many requests', 'Try again later')),
  unavailable: () => problem(503, 'E503', 'Service unavailable', 'Try again later'),
  reportsOn: ({ details }, status) => status !== 'sent' || details?.['intermediateReport'] === 'true',
  callback: (message, { status, callbackUrl, at }) => ({
    method: 'POST',
    url: callbackUrl,
    headers: jsonHeaders,
    body: JSON.stringify({ results: [report(message, status, at)] }),
  }),
  callbackRetryDelayMs: (attempt, result) => (result === 200 ? undefined : RETRY_DELAYS_MS[attempt - 1]),
};

function read(request: WireRequest): Reading {
  const { method, path } = request;
  const authorised = request.headers.authorization === `App ${credentials.apiKey}`;
  if (path === MESSAGES_PATH && method === 'POST') return readSend(request.body, authorised);
  if (!authorised) return { kind: 'answer', response: unauthorised() };
  if (method === 'GET' && (path === REPORTS_PATH || path === LOGS_PATH)) return readPoll(path, request.query);
  return { kind: 'answer', response: problem(404, 'E404', 'Not found', 'Check the URL') };
}

function readSend(body: string, authorised: boolean): Reading {
  const fields = parseFields(body);
  const message = asObject(onlyItem(fields?.['messages']));
  const destination = asObject(onlyItem(message?.['destinations']));
  const to = optionalString(destination?.['to']);
  const invalid = (response: WireResponse): Reading => ({ kind: 'invalid', to: to && withPlus(to), response });

  if (!authorised) return invalid(unauthorised());
  if (fields === undefined) return invalid(badRequest([{ property: 'body', violation: 'must be a JSON object' }]));
  const violations = findViolations(fields, message, destination);
  if (violations.length > 0 || !message || !destination) return invalid(badRequest(violations));

  const submission = submissionOf(fields, message, destination);
  // These two are looked at only after the request was taken, so the answer is a 200 like any other.
  if (!isPhoneNumber(to)) return invalid(turnedDown(submission, statuses.REJECTED_DESTINATION));
  if (submission.text.length > TEXT_LENGTH_MAX) return invalid(turnedDown(submission, statuses.MESSAGE_TOO_LONG));
  return { kind: 'send', submission };
}

/** Reports hand out each final status once; logs show a message as it is, as often as they are asked. */
function readPoll(path: string, query: string): Reading {
  const messageId = new URLSearchParams(query).get('messageId') ?? '';
  return {
    kind: 'poll',
    messageId,
    render(message, status) {
      const once = path === REPORTS_PATH;
      const final = status !== undefined && status !== 'sent';
      const withheld = once && (!final || message?.reportFetched === true);
      if (message === undefined || withheld) return jsonAnswer(200, { results: [] });
      message.reportFetched ||= once;
      return jsonAnswer(200, { results: [report(message, status, message.acceptedAt)] });
    },
  };
}

type InfobipRule = Rule & { violation: string };
type Violation = { property: string; violation: string };

const messageRules: readonly InfobipRule[] = [
  { name: 'sender', holds: matches(/^(?:\+?\d{3,15}|[A-Za-z0-9 ]{1,11})$/), violation: 'must be a valid sender' },
];
const destinationRules: readonly InfobipRule[] = [
  { name: 'to', required: true, holds: (value) => isText(value, 64), violation: 'length must be from 1 to 64' },
  {
    name: 'messageId',
    holds: (value) => isText(value, MESSAGE_ID_LENGTH_MAX),
    violation: `length must be from 1 to ${MESSAGE_ID_LENGTH_MAX}`,
  },
];
const contentRules: readonly InfobipRule[] = [
  { name: 'text', required: true, holds: (value) => isText(value, Infinity), violation: 'must not be empty' },
];
const webhookRules: readonly InfobipRule[] = [
  { name: 'contentType', holds: isOneOf('application/json'), violation: 'must be application/json' },
  {
    name: 'callbackData',
    holds: (value) => isText(value, CALLBACK_DATA_LENGTH_MAX),
    violation: `length must be from 1 to ${CALLBACK_DATA_LENGTH_MAX}`,
  },
];
const deliveryRules: readonly InfobipRule[] = [
  { name: 'url', holds: isHttpUrl, violation: 'must be an HTTP URL' },
  { name: 'intermediateReport', holds: isBoolean, violation: 'must be a boolean' },
  { name: 'notify', holds: isBoolean, violation: 'must be a boolean' },
];
const validityRules: readonly InfobipRule[] = [
  { name: 'amount', required: true, holds: isWholeNumber(1, 2 ** 31 - 1), violation: 'must be a positive number' },
  { name: 'timeUnit', holds: isOneOf('SECONDS', 'MINUTES', 'HOURS'), violation: 'must be a known time unit' },
];
const optionsRules: readonly InfobipRule[] = [
  { name: 'includeSmsCountInResponse', holds: isBoolean, violation: 'must be a boolean' },
];

function findViolations(fields: Fields, message: Fields | undefined, destination: Fields | undefined): Violation[] {
  if (message === undefined) return [{ property: 'messages', violation: 'must hold one message' }];
  if (destination === undefined)
    return [{ property: 'messages[0].destinations', violation: 'must hold one destination' }];
  const webhooks = asObject(message['webhooks']);
  const options = asObject(message['options']);
  return [
    ...violationsIn('messages[0]', messageRules, message),
    ...violationsIn('messages[0].destinations[0]', destinationRules, destination),
    ...violationsIn('messages[0].content', contentRules, asObject(message['content']) ?? {}),
    ...violationsIn('messages[0].options.validityPeriod', validityRules, asObject(options?.['validityPeriod'])),
    ...violationsIn('messages[0].webhooks', webhookRules, webhooks),
    ...violationsIn('messages[0].webhooks.delivery', deliveryRules, asObject(webhooks?.['delivery'])),
    ...violationsIn('options', optionsRules, asObject(fields['options'])),
  ];
}

function violationsIn(path: string, rules: readonly InfobipRule[], fields: Fields | undefined): Violation[] {
  if (fields === undefined) return [];
  return findBreaches(rules, fields).map(({ rule, missing }) => ({
    property: `${path}.${rule.name}`,
    violation: missing ? 'must not be null' : rule.violation,
  }));
}

function submissionOf(fields: Fields, message: Fields, destination: Fields): Submission {
  const webhooks = asObject(message['webhooks']);
  const delivery = asObject(webhooks?.['delivery']);
  const options = asObject(fields['options']);
  return {
    to: withPlus(String(destination['to'])),
    from: optionalString(message['sender']) ?? '',
    text: String(asObject(message['content'])?.['text']),
    callbackUrl: delivery?.['notify'] === false ? undefined : optionalString(delivery?.['url']),
    reference: optionalString(webhooks?.['callbackData']),
    messageId: optionalString(destination['messageId']),
    details: {
      bulkId: optionalString(asObject(options?.['schedule'])?.['bulkId']) ?? newNumericId(),
      count: String(options?.['includeSmsCountInResponse'] === true),
      intermediateReport: String(delivery?.['intermediateReport'] === true),
    },
  };
}

/** 19 digits, like `2034072219640523072`. */
function newNumericId(): string {
  return `${randomInt(10 ** 9, 10 ** 10)}${randomInt(10 ** 8, 10 ** 9)}`;
}

type Status = { groupId: number; groupName: string; id: number; name: string; description: string };

const statuses = {
  PENDING_ENROUTE: newStatus(1, 'PENDING', 7, 'PENDING_ENROUTE', 'Message sent to next instance'),
  PENDING_ACCEPTED: newStatus(1, 'PENDING', 26, 'PENDING_ACCEPTED', 'Message accepted, pending for delivery'),
  DELIVERED_TO_HANDSET: newStatus(3, 'DELIVERED', 5, 'DELIVERED_TO_HANDSET', 'Message delivered to handset'),
  UNDELIVERABLE_NOT_DELIVERED: newStatus(2, 'UNDELIVERABLE', 9, 'UNDELIVERABLE_NOT_DELIVERED', 'Message not delivered'),
  EXPIRED_EXPIRED: newStatus(4, 'EXPIRED', 15, 'EXPIRED_EXPIRED', 'Message expired'),
  NOT_ENOUGH_CREDITS: newStatus(5, 'REJECTED', 12, 'REJECTED_NOT_ENOUGH_CREDITS', 'Not enough credits'),
  BLOCKLISTED: newStatus(5, 'REJECTED', 14, 'REJECTED_DESTINATION', 'Destination is blocklisted'),
  DUPLICATE: newStatus(5, 'REJECTED', 23, 'REJECTED_DUPLICATE_MESSAGE_ID', 'Duplicate messageId'),
  MESSAGE_TOO_LONG: newStatus(5, 'REJECTED', 25, 'REJECTED_MESSAGE_TOO_LONG', 'Message text too long'),
  REJECTED_DESTINATION: newStatus(5, 'REJECTED', 52, 'REJECTED_DESTINATION', 'Invalid destination address'),
};

function newStatus(groupId: number, groupName: string, id: number, name: string, description: string): Status {
  return { groupId, groupName, id, name, description };
}

const refusals: Record<Refusal, Status> = {
  invalid_recipient: statuses.REJECTED_DESTINATION,
  opted_out: statuses.BLOCKLISTED,
  no_funds: statuses.NOT_ENOUGH_CREDITS,
};

const noError = { ...newStatus(0, 'OK', 0, 'NO_ERROR', 'No Error'), permanent: false };
const unknown = {
  ...newStatus(1, 'HANDSET_ERRORS', 1, 'EC_UNKNOWN_SUBSCRIBER', 'Unknown Subscriber'),
  permanent: true,
};
const absent = { ...newStatus(1, 'HANDSET_ERRORS', 27, 'EC_ABSENT_SUBSCRIBER', 'Absent Subscriber'), permanent: false };

const wireStatuses: Record<ReceiptStatus, { status: Status; error: typeof noError }> = {
  sent: { status: statuses.PENDING_ENROUTE, error: noError },
  delivered: { status: statuses.DELIVERED_TO_HANDSET, error: noError },
  failed: { status: statuses.UNDELIVERABLE_NOT_DELIVERED, error: unknown },
  expired: { status: statuses.EXPIRED_EXPIRED, error: absent },
};

function report(message: Message, receiptStatus: ReceiptStatus | undefined, at: number): object {
  const { to, from, text, reference, details } = message.submission;
  const wire = receiptStatus && wireStatuses[receiptStatus];
  return {
    bulkId: details?.['bulkId'],
    messageId: message.id,
    to: to.slice(1),
    sender: from,
    sentAt: wireDate(message.acceptedAt),
    doneAt: wireDate(at),
    messageCount: segmentCount(text),
    mccMnc: '22801',
    callbackData: reference,
    price: { pricePerMessage: PRICE_EUR, currency: 'EUR' },
    status: wire?.status ?? statuses.PENDING_ACCEPTED,
    error: wire?.error ?? noError,
    platform: {},
  };
}

/** `2019-11-09T16:00:00.000+0000` */
function wireDate(time: number): string {
  return new Date(time).toISOString().replace('Z', '+0000');
}

function turnedDown(submission: Submission, wireStatus: Status): WireResponse {
  return sendAnswer(submission.messageId ?? newNumericId(), submission, wireStatus);
}

function sendAnswer(messageId: string, { to, text, details }: Submission, wireStatus: Status): WireResponse {
  const counted = details?.['count'] === 'true' && { details: { messageCount: segmentCount(text) } };
  const message = { messageId, status: wireStatus, destination: to.slice(1), ...counted };
  return jsonAnswer(200, { bulkId: details?.['bulkId'], messages: [message] });
}

function unauthorised(): WireResponse {
  const serviceException = { messageId: 'UNAUTHORIZED', text: 'Invalid login details' };
  return jsonAnswer(401, { requestError: { serviceException } });
}

function badRequest(violations: Violation[]): WireResponse {
  return problem(
    400,
    'E400',
    'Request cannot be processed.',
    'Check the syntax, violations and adjust the request.',
    violations,
  );
}

function problem(
  httpStatus: number,
  errorCode: string,
  description: string,
  action: string,
  violations: Violation[] = [],
): WireResponse {
  return jsonAnswer(httpStatus, { errorCode, description, action, violations, resources: [] });
}
