import { createHmac, randomUUID } from 'node:crypto';
import { jsonAnswer, jsonHeaders, retryAfter } from '../answer.ts';
import type { Message } from '../message.ts';
import type { ReceiptStatus, Refusal } from '../scenario.ts';
import { segmentCount } from '../segments.ts';
import type { Reading, Submission, Upstream, WireRequest, WireResponse } from '../upstream.ts';

const credentials = {
  accountSid: 'AC5e1f0a9c3b7d42868f12c4d09ab37e65',
  authToken: '0f4b8c2d6e1a4975b3d8f7062c9e5a14',
};

const BODY_LENGTH_MAX = 1_600;
const VALIDITY_SECONDS_MAX = 36_000;

const MESSAGES_PATH = /^\/2010-04-01\/Accounts\/([^/]+)\/Messages(?:\/([^/]+))?\.json$/;
const RECIPIENT = /^\+[1-9]\d{6,14}$/;
const SENDER = /^(?:\+?[1-9]\d{6,14}|\d{3,8}|(?=.*[A-Za-z])[\w &+-]{1,11})$/;
const MESSAGING_SERVICE_SID = /^MG[0-9a-f]{32}$/;
// The host may hold no underscore (error 21609).
const STATUS_CALLBACK = /^https?:\/\/[^\s/?#_]+(?:[/?#]\S*)?$/;

const formHeaders = 'application/x-www-form-urlencoded; charset=UTF-8';
const expectedAuthorization = `Basic ${btoa(`${credentials.accountSid}:${credentials.authToken}`)}`;

/** Programmable Messaging, API version 2010-04-01: form in, JSON out, signed form callbacks. */
export const twilio: Upstream<typeof credentials> = {
  credentials,
  nativePaths: ['/2010-04-01/'],
  read,
  newMessageId: () => `SM${randomUUID().replaceAll('-', '')}`,
  accepted: (message) => jsonAnswer(201, messageResource(message, undefined)),
  refused: (submission, refusal) => refusals[refusal](submission),
  throttled: (seconds) => retryAfter(seconds, error(429, 20429, 'Too Many Requests')),
  unavailable: () => error(503, 20503, 'Service Unavailable'),

  callback(message, { status, callbackUrl, at }) {
    const form = callbackForm(message, status, at);
    return {
      method: 'POST',
      url: callbackUrl,
      headers: {
        'Content-Type': formHeaders,
        'X-Twilio-Signature': signTwilioCallback(credentials.authToken, callbackUrl, form),
        'User-Agent': 'TwilioProxy/1.1',
      },
      body: form.toString(),
    };
  },

  // One retry, at once, and only where no connection came about: whatever the receiver answers is final.
  callbackRetryDelayMs: (attempt, result) => (attempt === 1 && result === 'unreachable' ? 0 : undefined),
};

/**
 * `X-Twilio-Signature`: the URL as configured, without fragment, then each parameter's name and value, sorted by name
 * and without repetitions.
 */
export function signTwilioCallback(authToken: string, url: string, parameters: Iterable<[string, string]>): string {
  const sorted = [...parameters].sort(([nameA, valueA], [nameB, valueB]) => {
    if (nameA !== nameB) return nameA < nameB ? -1 : 1;
    return valueA < valueB ? -1 : 1;
  });
  const fragmentAt = url.indexOf('#');
  let signed = fragmentAt === -1 ? url : url.slice(0, fragmentAt);
  let previous: [string, string] | undefined;
  for (const parameter of sorted) {
    if (previous?.[0] !== parameter[0] || previous[1] !== parameter[1]) signed += parameter[0] + parameter[1];
    previous = parameter;
  }
  return createHmac('sha1', authToken).update(signed).digest('base64');
}

function read(request: WireRequest): Reading {
  const [, accountSid, messageSid] = MESSAGES_PATH.exec(request.path) ?? [];
  const sending = accountSid !== undefined && messageSid === undefined && request.method === 'POST';
  const form = new URLSearchParams(sending ? request.body : '');

  const problem = accessProblem(request, accountSid) ?? (sending ? formProblem(form) : undefined);
  if (problem !== undefined) {
    return sending
      ? { kind: 'invalid', to: form.get('To') ?? undefined, response: problem }
      : { kind: 'answer', response: problem };
  }
  if (sending) return { kind: 'send', submission: submissionOf(form) };
  if (messageSid === undefined || request.method !== 'GET') {
    return { kind: 'answer', response: error(405, 20004, 'Method not allowed') };
  }
  return {
    kind: 'poll',
    messageId: messageSid,
    render: (message, status) =>
      message === undefined ? notFound(request.path) : jsonAnswer(200, messageResource(message, status)),
  };
}

function accessProblem(request: WireRequest, accountSid: string | undefined): WireResponse | undefined {
  if (request.headers.authorization !== expectedAuthorization) {
    return {
      ...error(401, 20003, 'Authenticate'),
      headers: { ...jsonHeaders, 'WWW-Authenticate': 'Basic realm="Twilio API"' },
    };
  }
  return accountSid === credentials.accountSid ? undefined : notFound(request.path);
}

function formProblem(form: URLSearchParams): WireResponse | undefined {
  const to = form.get('To') ?? '';
  if (to === '') return error(400, 21604, "A 'To' phone number is required.");
  if (!RECIPIENT.test(to)) return error(400, 21211, `The 'To' number ${to} is not a valid phone number.`);

  const from = form.get('From') ?? '';
  const messagingServiceSid = form.get('MessagingServiceSid') ?? '';
  if (from === '' && messagingServiceSid === '') return error(400, 21603, "A 'From' phone number is required.");
  if (messagingServiceSid !== '' && !MESSAGING_SERVICE_SID.test(messagingServiceSid)) {
    return error(400, 21701, `The Messaging Service ${messagingServiceSid} does not exist.`);
  }
  if (from !== '' && !SENDER.test(from)) {
    const message = `The 'From' number ${from} is not a valid phone number, shortcode, or alphanumeric sender ID.`;
    return error(400, 21212, message);
  }
  if (from === to) return error(400, 21266, "'To' and 'From' number cannot be the same");

  const body = form.get('Body') ?? '';
  if (body === '') return error(400, 21602, 'Message body is required.');
  if (body.length > BODY_LENGTH_MAX) {
    return error(400, 21617, 'The concatenated message body exceeds the 1600 character limit.');
  }

  const statusCallback = form.get('StatusCallback');
  if (statusCallback !== null && !(STATUS_CALLBACK.test(statusCallback) && URL.canParse(statusCallback))) {
    return error(400, 21609, `The 'StatusCallback' URL ${statusCallback} is not a valid URL.`);
  }
  const validity = form.get('ValidityPeriod');
  if (validity !== null && !(/^\d{1,5}$/.test(validity) && isBetween(Number(validity), 1, VALIDITY_SECONDS_MAX))) {
    return error(400, 21624, `The 'ValidityPeriod' ${validity} is not a number from 1 to ${VALIDITY_SECONDS_MAX}.`);
  }
  return undefined;
}

function isBetween(value: number, min: number, max: number): boolean {
  return value >= min && value <= max;
}

function submissionOf(form: URLSearchParams): Submission {
  return {
    to: form.get('To') ?? '',
    from: form.get('From') ?? form.get('MessagingServiceSid') ?? '',
    text: form.get('Body') ?? '',
    callbackUrl: form.get('StatusCallback') ?? undefined,
    reference: undefined,
  };
}

const refusals: Record<Refusal, (submission: Submission) => WireResponse> = {
  invalid_recipient: ({ to }) => error(400, 21211, `The 'To' number ${to} is not a valid phone number.`),
  opted_out: () => error(400, 21610, 'Attempt to send to unsubscribed recipient'),
  no_funds: () => error(403, 20005, `Account ${credentials.accountSid} is not active`),
};

/** `failed` is what the carrier said, `expired` is what became of the message in Twilio's own queue. */
const wireStatuses: Record<ReceiptStatus, { status: string; errorCode?: string }> = {
  sent: { status: 'sent' },
  delivered: { status: 'delivered' },
  failed: { status: 'undelivered', errorCode: '30005' },
  expired: { status: 'failed', errorCode: '30036' },
};

function messageResource(message: Message, status: ReceiptStatus | undefined): object {
  const { from, to, text } = message.submission;
  const byService = MESSAGING_SERVICE_SID.test(from);
  const wire = status === undefined ? undefined : wireStatuses[status];
  const segments = segmentCount(text);
  const date = wireDate(message.acceptedAt);
  return {
    sid: message.id,
    account_sid: credentials.accountSid,
    messaging_service_sid: byService ? from : null,
    status: wire?.status ?? (byService ? 'accepted' : 'queued'),
    direction: 'outbound-api',
    from: byService ? null : from,
    to,
    body: text,
    num_segments: byService && wire === undefined ? '0' : String(segments),
    num_media: '0',
    price: wire === undefined ? null : `-${(0.0079 * segments).toFixed(5)}`,
    price_unit: wire === undefined ? null : 'USD',
    error_code: wire?.errorCode === undefined ? null : Number(wire.errorCode),
    error_message: null,
    date_created: date,
    date_sent: wire === undefined ? null : date,
    date_updated: date,
    api_version: '2010-04-01',
    uri: `/2010-04-01/Accounts/${credentials.accountSid}/Messages/${message.id}.json`,
    subresource_uris: {},
  };
}

function callbackForm(message: Message, status: ReceiptStatus, now: number): URLSearchParams {
  const wire = wireStatuses[status];
  const form = new URLSearchParams({
    MessageSid: message.id,
    MessageStatus: wire.status,
    SmsSid: message.id,
    SmsStatus: wire.status,
    AccountSid: credentials.accountSid,
    From: message.submission.from,
    To: message.submission.to,
    ApiVersion: '2010-04-01',
  });
  if (wire.errorCode !== undefined) form.set('ErrorCode', wire.errorCode);
  if (status === 'delivered') form.set('RawDlrDoneDate', dlrDate(now));
  return form;
}

/** `Thu, 24 Aug 2023 05:01:45 +0000` */
function wireDate(time: number): string {
  return new Date(time).toUTCString().replace('GMT', '+0000');
}

/** `YYMMDDhhmm` */
function dlrDate(time: number): string {
  return new Date(time).toISOString().slice(2, 16).replaceAll(/[-T:]/g, '');
}

function notFound(path: string): WireResponse {
  return error(404, 20404, `The requested resource ${path} was not found`);
}

function error(status: number, code: number, message: string): WireResponse {
  return jsonAnswer(status, { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status });
}
