import { randomUUID } from 'node:crypto';
import { jsonAnswer, retryAfter, textAnswer } from '../answer.ts';
import type { ReceiptStatus, Refusal } from '../scenario.ts';
import { segmentCount } from '../segments.ts';
import {
  isSuccess,
  type Reading,
  type Submission,
  type Upstream,
  type WireRequest,
  type WireResponse,
} from '../upstream.ts';

const credentials = {
  username: 'heliograph',
  apiKey: 'atsk_5d1f8c3b7a9e4062d5c8b1f3a7e90642c8d5b3f1a9e7046285c3d1b7f9a0e642',
};

const MESSAGE_LENGTH_MAX = 4_000;
const PRICE_KES = 0.8;

const MESSAGING_PATH = '/version1/messaging';
const RECIPIENT = /^\+[1-9]\d{6,14}$/;
const SENDER = /^(?:\+?\d{3,15}|[A-Za-z0-9_ -]{1,11})$/;

const formHeaders = { 'Content-Type': 'application/x-www-form-urlencoded' };

// Whether they are repeated at all is not documented.
const RETRY_DELAYS_MS = [1_000, 5_000, 25_000];

/** The messaging API, to one recipient: form in, JSON out, unsigned form callbacks to one URL of the account. */
export const africastalking: Upstream<typeof credentials> = {
  credentials,
  nativePaths: ['/version1/'],
  hasAccountCallback: true,
  read,
  newMessageId: () => `ATPid_${randomUUID().replaceAll('-', '')}`,

  accepted({ id, submission }) {
    const messageParts = segmentCount(submission.text);
    const cost = `KES ${(PRICE_KES * messageParts).toFixed(4)}`;
    const recipient = { statusCode: 101, number: submission.to, status: 'Success', cost, messageId: id, messageParts };
    return answer(`Sent to 1/1 Total Cost: ${cost}`, [recipient]);
  },

  refused: ({ to }, refusal) => refusedRecipient(to, ...refusals[refusal]),
  throttled: (seconds) => retryAfter(seconds, textAnswer(429, 'Too Many Requests')),
  unavailable: () => textAnswer(503, 'Service Unavailable'),

  callback({ id, submission }, { status, callbackUrl }) {
    const form = new URLSearchParams({
      id,
      phoneNumber: submission.to,
      networkCode: '63902',
      retryCount: '0',
      ...wireStatuses[status],
    });
    return { method: 'POST', url: callbackUrl, headers: formHeaders, body: form.toString() };
  },

  callbackRetryDelayMs: (attempt, result) => (isSuccess(result) ? undefined : RETRY_DELAYS_MS[attempt - 1]),
};

function read({ method, path, headers, body }: WireRequest): Reading {
  if (path !== MESSAGING_PATH || method !== 'POST') {
    return { kind: 'answer', response: textAnswer(404, 'The requested resource could not be found.') };
  }
  const form = new URLSearchParams(body);
  const to = form.get('to') ?? undefined;
  const authorised = headers['apikey'] === credentials.apiKey && form.get('username') === credentials.username;
  const problem = authorised ? formProblem(form) : textAnswer(401, 'The supplied authentication is invalid');
  return problem === undefined
    ? { kind: 'send', submission: submissionOf(form) }
    : { kind: 'invalid', to, response: problem };
}

function formProblem(form: URLSearchParams): WireResponse | undefined {
  const [to, message, from] = [form.get('to'), form.get('message'), form.get('from')];
  if (!to) return missing('to');
  if (!message) return missing('message');
  for (const flag of ['bulkSMSMode', 'enqueue']) {
    if (!['0', '1'].includes(form.get(flag) ?? '1')) return textAnswer(400, `The form field '${flag}' was malformed`);
  }
  if (to.includes(',')) return textAnswer(400, "The form field 'to' was malformed: one recipient is simulated");
  if (message.length > MESSAGE_LENGTH_MAX) return textAnswer(400, "The form field 'message' is too long");
  // From here on the request counts as taken, and its answer is a 201 like any other.
  if (from !== null && !SENDER.test(from)) return answer('InvalidSenderId', []);
  return RECIPIENT.test(to) ? undefined : refusedRecipient(to, ...refusals.invalid_recipient);
}

function submissionOf(form: URLSearchParams): Submission {
  return {
    to: form.get('to') ?? '',
    from: form.get('from') ?? '',
    text: form.get('message') ?? '',
    callbackUrl: undefined,
    reference: undefined,
  };
}

const refusals: Record<Refusal, [statusCode: number, status: string]> = {
  invalid_recipient: [403, 'InvalidPhoneNumber'],
  opted_out: [406, 'UserInBlacklist'],
  no_funds: [405, 'InsufficientBalance'],
};

const wireStatuses: Record<ReceiptStatus, { status: string; failureReason?: string }> = {
  sent: { status: 'Sent' },
  delivered: { status: 'Success' },
  failed: { status: 'Failed', failureReason: 'UserIsInactive' },
  expired: { status: 'Expired' },
};

function refusedRecipient(number: string, statusCode: number, status: string): WireResponse {
  return answer('Sent to 0/1 Total Cost: 0', [{ statusCode, number, status, cost: '0', messageId: 'None' }]);
}

function answer(message: string, recipients: object[]): WireResponse {
  return jsonAnswer(201, { SMSMessageData: { Message: message, Recipients: recipients } });
}

function missing(field: string): WireResponse {
  return textAnswer(400, `Request is missing required form field '${field}'`);
}
