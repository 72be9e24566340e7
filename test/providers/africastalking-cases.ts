import { createAfricastalkingProvider, type AfricastalkingSettings } from '../../src/providers/africastalking.ts';
import type { Receipt } from '../../src/providers/provider.ts';
import { messageWith, resultOf, type AdapterCases } from './cases.ts';
import type { WireAnswer } from './scripted-server.ts';

export const africastalkingSettings: AfricastalkingSettings = {
  baseUrl: 'https://api.africastalking.com',
  username: 'heliograph',
  apiKey: 'a-key-of-the-application',
  timeoutMs: 1_000,
};

/** The documented codes of refused recipients by what they mean, with their names, written down apart from the adapter's own table. */
export const africastalkingCodesByClass = {
  unavailable: { 500: 'InternalServerError', 501: 'GatewayError', 502: 'RejectedByGateway' },
  invalid_recipient: { 403: 'InvalidPhoneNumber', 404: 'UnsupportedNumberType', 407: 'CouldNotRoute' },
  invalid_sender: { 402: 'InvalidSenderId' },
  blocked: { 401: 'RiskHold', 406: 'UserInBlacklist', 409: 'DoNotDisturbRejection' },
  billing: { 405: 'InsufficientBalance' },
} as const;

type AfricastalkingClass = keyof typeof africastalkingCodesByClass;

function answerWith(message: string, ...recipients: unknown[]): WireAnswer {
  return {
    status: 201,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ SMSMessageData: { Message: message, Recipients: recipients } }),
  };
}

const messageId = 'ATPid_2c963f66afa64562b3fc40385f645717';

function recipientOf(statusCode: unknown, status: string, id: unknown = messageId): object {
  return { statusCode, number: '+447700900123', status, cost: 'KES 0.8000', messageId: id };
}

function refusals(errorClass: AfricastalkingClass): AdapterCases['refusals'] {
  return Object.entries(africastalkingCodesByClass[errorClass]).flatMap(([code, name]: [string, string]) => {
    const expected = resultOf(errorClass, { code, message: name, ...(code === '406' ? { optOut: true } : {}) });
    return [
      {
        title: `${code} of a 201 as ${errorClass}`,
        answer: answerWith('Sent to 0/1 Total Cost: 0', recipientOf(Number(code), name, 'None')),
        expected,
      },
      { title: `${name} of a whole request as ${errorClass}`, answer: answerWith(name), expected },
    ];
  });
}

function text(errorClass: Parameters<typeof resultOf>[0], status: number, message: string) {
  return {
    title: `${status} in plain text as ${errorClass}`,
    answer: { status, headers: { 'content-type': 'text/plain' }, body: `${message}\n` },
    expected: resultOf(errorClass, { code: `http_${status}`, message }),
  };
}

function unreadable(title: string, answer: WireAnswer): AdapterCases['refusals'][number] {
  return {
    title: `${title} as unknown`,
    answer,
    expected: { outcome: 'unknown', code: 'http_201', message: 'HTTP 201 without a message id that could be read' },
  };
}

function wireOf(from: string, message: string): AdapterCases['messages'][number]['wire'] {
  return {
    method: 'POST',
    path: '/version1/messaging',
    headers: {
      accept: 'application/json',
      apikey: 'a-key-of-the-application',
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: `username=heliograph&to=%2B447700900123&message=${message}&from=${from}&bulkSMSMode=1`,
  };
}

function report(fields: Record<string, string>): string {
  return new URLSearchParams({
    id: messageId,
    phoneNumber: '+447700900123',
    networkCode: '63902',
    retryCount: '0',
    ...fields,
  }).toString();
}

function progress(status: string, state: Receipt['state']): AdapterCases['receipts'][number] {
  return {
    title: `${status} as ${state}`,
    content: report({ status }),
    expected: [{ providerMessageId: messageId, state }],
  };
}

function failure(
  status: string,
  state: Receipt['state'],
  {
    reason,
    message = `Africa's Talking reports the message as ${status}`,
    optOut,
  }: { reason?: string; message?: string; optOut?: true } = {},
): AdapterCases['receipts'][number] {
  return {
    title: `${status} ${reason ?? 'without a reason'} as ${state}`,
    content: report({ status, ...(reason === undefined ? {} : { failureReason: reason }) }),
    expected: [{ providerMessageId: messageId, state, code: reason ?? status, message, ...(optOut ? { optOut } : {}) }],
  };
}

export const africastalkingCases: AdapterCases = {
  name: 'africastalking',
  create: ({ baseUrl, timeoutMs, clock }) =>
    createAfricastalkingProvider({ ...africastalkingSettings, baseUrl, timeoutMs }, { clock }),
  accepted: {
    answer: answerWith('Sent to 1/1 Total Cost: KES 0.8000', recipientOf(101, 'Success')),
    providerMessageId: messageId,
  },

  messages: [
    {
      title: 'GSM-7 from an alphanumeric sender',
      request: messageWith({ body: 'Hello @ £10 & [more] = 100%+', from: 'My Shop' }),
      wire: wireOf('My+Shop', 'Hello+%40+%C2%A310+%26+%5Bmore%5D+%3D+100%25%2B'),
    },
    {
      title: 'UCS-2 from a long number',
      request: messageWith({ body: 'Привет 😀\r\n', encoding: 'ucs2', from: '15005550006' }),
      wire: wireOf('%2B15005550006', '%D0%9F%D1%80%D0%B8%D0%B2%D0%B5%D1%82+%F0%9F%98%80%0D%0A'),
    },
    {
      title: 'the longest body, as one request',
      request: messageWith({ body: 'a'.repeat(1_600), segments: 11 }),
      wire: wireOf('HELIO', 'a'.repeat(1_600)),
    },
    {
      title: 'a short code, which takes no plus',
      request: messageWith({ from: '+40404' }),
      wire: wireOf('40404', 'Hello'),
    },
  ],

  refusals: [
    ...(Object.keys(africastalkingCodesByClass) as AfricastalkingClass[]).flatMap(refusals),
    {
      title: 'a code of refusal that is not in the table as unsupported',
      answer: answerWith('Sent to 0/1 Total Cost: 0', recipientOf(499, 'SomethingNew', 'None')),
      expected: resultOf('unsupported', { code: '499', message: 'SomethingNew' }),
    },
    {
      title: 'a whole request refused for a reason that is not known as unsupported',
      answer: answerWith('SomethingNew'),
      expected: resultOf('unsupported', { code: 'refused', message: 'SomethingNew' }),
    },
    {
      title: 'a code that is text and has no name, which is given ours',
      answer: answerWith('Sent to 0/1', recipientOf('403', '', 'None')),
      expected: resultOf('invalid_recipient', { code: '403', message: 'invalid recipient' }),
    },
    unreadable('an acceptance without an id', answerWith('Sent to 1/1', recipientOf(101, 'Success', 'None'))),
    unreadable('an acceptance with an id that is no text', answerWith('Sent to 1/1', recipientOf(101, 'Success', 7))),
    unreadable('a code of neither kind', answerWith('Sent to 1/1', recipientOf(199, 'SomethingNew'))),
    unreadable('a recipient that is no object', answerWith('Sent to 1/1', null)),
    unreadable('an answer about nobody, without a message', answerWith('')),
    text('credentials', 401, 'The supplied authentication is invalid'),
    text('credentials', 403, 'Forbidden'),
    text('invalid_content', 400, "Request is missing required form field 'to'"),
    text('throttled', 429, 'Too Many Requests'),
    text('unavailable', 502, 'Bad Gateway'),
    {
      title: 'an error in XML by its status',
      answer: { status: 400, body: '<?xml version="1.0"?><AfricasTalkingResponse/>' },
      expected: resultOf('invalid_content', { code: 'http_400', message: 'HTTP 400' }),
    },
  ],

  receipts: [
    ...['Sent', 'Submitted', 'Buffered'].map((status) => progress(status, 'sent')),
    progress('Success', 'delivered'),
    failure('Rejected', 'failed'),
    failure('Failed', 'failed'),
    failure('Failed', 'failed', { reason: 'InsufficientCredit', message: 'the recipient has no credit' }),
    failure('Failed', 'failed', { reason: 'InvalidLinkId', message: 'invalid link of a premium message' }),
    failure('Failed', 'failed', { reason: 'UserIsInactive', message: 'the recipient is inactive' }),
    failure('Failed', 'failed', { reason: 'UserInBlackList', message: 'the recipient opted out', optOut: true }),
    failure('Rejected', 'failed', { reason: 'UserInBlacklist', message: 'the recipient opted out', optOut: true }),
    failure('Failed', 'failed', { reason: 'UserAccountSuspended', message: 'the recipient is suspended' }),
    failure('Failed', 'failed', { reason: 'NotNetworkSubcriber', message: 'the recipient is not of this network' }),
    failure('Failed', 'failed', { reason: 'UserNotSubscribedToProduct', message: 'the recipient has not subscribed' }),
    failure('Failed', 'failed', { reason: 'UserDoesNotExist', message: 'the recipient does not exist' }),
    failure('Failed', 'undelivered', { reason: 'DeliveryFailure', message: 'the message could not be delivered' }),
    failure('Failed', 'undelivered', { reason: 'UserNotReachable', message: 'the recipient cannot be reached' }),
    failure('Failed', 'failed', { reason: 'SomethingNew' }),
    failure('Expired', 'undelivered'),
    failure('AbsentSubscriber', 'undelivered'),
  ],
  malformedReceipts: [
    { title: 'an empty body', content: '' },
    { title: 'a report without an id', content: 'status=Success' },
    { title: 'a report without a status', content: `id=${messageId}` },
    { title: 'a status that is not known', content: report({ status: 'Pondering' }) },
    { title: 'a status that every object has', content: report({ status: '__proto__' }) },
  ],

  sign: () => ({}),
  forgeries: [],
};
