import type { Receipt } from '../../src/providers/provider.ts';
import { createPlivoProvider } from '../../src/providers/plivo.ts';
import { messageWith, resultOf, type AdapterCases } from './cases.ts';
import { plivoSettings, plivoSignature } from './plivo-signature.ts';
import type { WireAnswer } from './scripted-server.ts';

const messageUuid = '6da4afba-8df1-11ee-9c32-0242ac110003';

function answerWith(status: number, content: object): WireAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_id: '984bc856-9231-11eb-86f9-0242ac110007', ...content }),
  };
}

function refusal(errorClass: Parameters<typeof resultOf>[0], status: number, message: string) {
  return {
    title: `${status} "${message}" as ${errorClass}`,
    answer: answerWith(status, { error: message }),
    expected: resultOf(errorClass, { code: `http_${status}`, message }),
  };
}

const path = '/v1/Account/MAXXXXXXXXXXXXXXXXXX/Message/';
const headers = {
  accept: 'application/json',
  authorization: 'Basic TUFYWFhYWFhYWFhYWFhYWFhYWFg6cGxpdm90b2tlbg==',
  'content-type': 'application/json',
};

function wireOf(src: string, text: string): AdapterCases['messages'][number]['wire'] {
  const body =
    `{"src":"${src}","dst":"447700900123","text":${JSON.stringify(text)},` +
    `"url":"https://sms.example.com/receipts/upstream/AbC-123_x","method":"POST"}`;
  return { method: 'POST', path, headers, body };
}

function callback(fields: Record<string, string>): string {
  return new URLSearchParams({
    MessageUUID: messageUuid,
    ParentMessageUUID: messageUuid,
    To: '447700900123',
    From: 'HELIO',
    Type: 'sms',
    Units: '1',
    TotalRate: '0.00350',
    TotalAmount: '0.00350',
    MCC: '234',
    MNC: '10',
    Sequence: '2',
    MessageTime: '2026-11-20 09:00:00+00:00',
    ...fields,
  }).toString();
}

function progress(status: string, state: Receipt['state']): AdapterCases['receipts'][number] {
  return {
    title: `${status} as ${state}`,
    content: callback({ Status: status }),
    expected: [{ providerMessageId: messageUuid, state }],
  };
}

function failure(
  status: string,
  state: Receipt['state'],
  code = '',
  message = `Plivo reports the message as ${status}`,
): AdapterCases['receipts'][number] {
  return {
    title: `${status} ${code || 'without a code'} as ${state}`,
    content: callback({ Status: status, ...(code ? { ErrorCode: code } : {}) }),
    expected: [
      {
        providerMessageId: messageUuid,
        state,
        code: code || status,
        message,
        ...(code === '200' ? { optOut: true } : {}),
      },
    ],
  };
}

/** Plivo's documented codes, written down apart from the adapter's own table. */
export const plivoCodes = [
  10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 200, 201, 300, 420, 450, 900, 910, 1000,
] as const;

function lookedUp(state: string, errorCode: unknown, receipt: Partial<Receipt>) {
  return {
    answer: answerWith(200, { message_uuid: messageUuid, message_state: state, error_code: errorCode, units: 1 }),
    expected: { providerMessageId: messageUuid, state: 'sent' as const, ...receipt },
  };
}

const unreadable = {
  outcome: 'unknown',
  code: 'http_202',
  message: 'HTTP 202 without a message id that could be read',
} as const;

export const plivoCases: AdapterCases = {
  name: 'plivo',
  create: ({ baseUrl, timeoutMs, clock }) => createPlivoProvider({ ...plivoSettings, baseUrl, timeoutMs }, { clock }),
  accepted: {
    answer: answerWith(202, { message: 'message(s) queued', message_uuid: [messageUuid] }),
    providerMessageId: messageUuid,
  },

  messages: [
    {
      title: 'GSM-7 from an alphanumeric sender',
      request: messageWith({ body: 'Hello @ £10 & "more"', from: 'My Shop' }),
      wire: wireOf('My Shop', 'Hello @ £10 & "more"'),
    },
    {
      title: 'UCS-2 from a long number, which takes no plus',
      request: messageWith({ body: 'Привет 😀\r\n', encoding: 'ucs2', from: '+15005550006' }),
      wire: wireOf('15005550006', 'Привет 😀\r\n'),
    },
    {
      title: 'the longest GSM-7 body, as one request',
      request: messageWith({ body: 'a'.repeat(1_600), segments: 11 }),
      wire: wireOf('HELIO', 'a'.repeat(1_600)),
    },
    {
      title: 'the longest UCS-2 body, as one request',
      request: messageWith({ body: 'ж'.repeat(737), encoding: 'ucs2', segments: 11 }),
      wire: wireOf('HELIO', 'ж'.repeat(737)),
    },
    { title: 'a short code', request: messageWith({ from: '+40404' }), wire: wireOf('40404', 'Hello') },
  ],

  refusals: [
    refusal('invalid_recipient', 400, 'dst parameter is not valid'),
    refusal('invalid_recipient', 400, 'invalid destination number'),
    refusal('invalid_sender', 400, 'src parameter is not valid'),
    refusal('invalid_sender', 400, 'invalid source address'),
    refusal('invalid_sender', 400, 'this sender ID is not registered'),
    refusal('invalid_content', 400, 'text parameter is too long'),
    refusal('billing', 400, 'Insufficient Credit'),
    refusal('billing', 402, 'Payment required'),
    refusal('credentials', 401, 'authentication failed'),
    refusal('blocked', 403, 'sending to this country is not permitted'),
    refusal('credentials', 404, 'not found'),
    refusal('unavailable', 405, 'method not allowed'),
    refusal('unavailable', 406, 'not acceptable'),
    refusal('unavailable', 500, 'server error'),
    {
      title: 'Retry-After of a 429',
      answer: { ...answerWith(429, { error: 'too many requests' }), headers: { 'Retry-After': '2' } },
      expected: {
        outcome: 'retryable',
        reason: 'throttled',
        code: 'http_429',
        message: 'too many requests',
        retryAfterMs: 2_000,
      },
    },
    {
      title: 'a 202 that took nothing as invalid_recipient',
      answer: answerWith(202, { message: 'message(s) queued', message_uuid: [], invalid_number: ['447700900123'] }),
      expected: resultOf('invalid_recipient', { code: 'invalid_number', message: 'invalid recipient' }),
    },
    {
      title: 'a 202 with neither an id nor a number as unknown',
      answer: answerWith(202, { message_uuid: [], invalid_number: [] }),
      expected: unreadable,
    },
    {
      title: 'a 202 with an id that is no text as unknown',
      answer: answerWith(202, { message_uuid: [{}], invalid_number: ['447700900123'] }),
      expected: unreadable,
    },
  ],

  lookUps: {
    providerMessageId: messageUuid,
    wire: {
      method: 'GET',
      path: `${path}${messageUuid}/`,
      headers: { accept: headers.accept, authorization: headers.authorization },
      body: '',
    },
    found: [
      { title: 'a message on its way', ...lookedUp('sent', null, { state: 'sent' }) },
      { title: 'a delivered message', ...lookedUp('delivered', '000', { state: 'delivered' }) },
      {
        title: 'a message to someone who opted out',
        ...lookedUp('failed', '200', {
          state: 'failed',
          code: '200',
          message: 'the recipient opted out',
          optOut: true,
        }),
      },
      {
        title: 'a message without an outcome',
        ...lookedUp('undelivered', 20, { state: 'undelivered', code: '20', message: 'network error' }),
      },
    ],
    notFound: [],
    unclear: [{ title: 'the state of an inbound message', answer: lookedUp('received', null, {}).answer }],
  },

  receipts: [
    progress('queued', 'sent'),
    progress('sent', 'sent'),
    progress('delivered', 'delivered'),
    progress('read', 'delivered'),
    failure('failed', 'failed'),
    failure('failed', 'failed', '10', 'invalid message'),
    failure('failed', 'failed', '40', 'invalid sender'),
    failure('failed', 'failed', '110', 'the message is too long'),
    failure('failed', 'failed', '200', 'the recipient opted out'),
    failure('failed', 'failed', '201', 'a US toll-free number cannot send to Canada'),
    failure('failed', 'failed', '300', 'the message could not be dispatched'),
    failure('failed', 'undelivered', '420', 'the message expired in the queue'),
    failure('failed', 'failed', '450', 'the destination country is barred'),
    failure('failed', 'failed', '900', 'the account has no credit'),
    failure('failed', 'failed', '910', 'the account is disabled'),
    failure('failed', 'undelivered', '1000', 'unknown error'),
    failure('undelivered', 'undelivered'),
    failure('undelivered', 'undelivered', '20', 'network error'),
    failure('undelivered', 'failed', '30', 'refused as spam'),
    failure('undelivered', 'failed', '50', 'invalid recipient'),
    failure('undelivered', 'failed', '60', 'the message went in a loop'),
    failure('undelivered', 'failed', '70', 'the recipient cannot be reached for good'),
    failure('undelivered', 'undelivered', '80', 'the recipient cannot be reached for now'),
    failure('undelivered', 'failed', '90', 'no route to the recipient'),
    failure('undelivered', 'failed', '100', 'the carrier takes no such message'),
    failure('undelivered', 'undelivered', '420', 'the message expired in the queue'),
    failure('undelivered', 'undelivered', '1000', 'unknown error'),
    failure('undelivered', 'failed', '777'),
    failure('rejected', 'failed'),
    {
      title: 'a delivery with the code of no error, and fields that are not known yet',
      content: `${callback({ Status: 'delivered', ErrorCode: '000' })}&New=2&New=1&=`,
      expected: [{ providerMessageId: messageUuid, state: 'delivered' }],
    },
  ],
  malformedReceipts: [
    { title: 'an empty body', content: '' },
    { title: 'a callback without MessageUUID', content: 'Status=delivered' },
    { title: 'a callback without Status', content: `MessageUUID=${messageUuid}` },
    { title: 'the status of an inbound message', content: callback({ Status: 'received' }) },
    { title: 'a status named after something every object has', content: callback({ Status: '__proto__' }) },
  ],

  sign: ({ url, rawBody }) => plivoSignature(url, rawBody),
  forgeries: [
    { title: 'another URL', forge: (receipt) => ({ ...receipt, url: `${receipt.url}y` }) },
    {
      title: "another account's token",
      forge: (receipt) => ({
        ...receipt,
        headers: plivoSignature(receipt.url, receipt.rawBody, { authToken: 'other' }),
      }),
    },
    {
      title: 'another nonce',
      forge: (receipt) => ({ ...receipt, headers: { ...receipt.headers, 'x-plivo-signature-v3-nonce': '1234567891' } }),
    },
    {
      title: 'no nonce',
      forge: (receipt) => ({ ...receipt, headers: { ...receipt.headers, 'x-plivo-signature-v3-nonce': undefined } }),
    },
    {
      title: 'an empty signature',
      forge: (receipt) => ({ ...receipt, headers: { ...receipt.headers, 'x-plivo-signature-v3': '' } }),
    },
    {
      title: 'the older signature, which does not cover the body',
      forge: (receipt) => ({
        ...receipt,
        headers: {
          'x-plivo-signature-v2': String(receipt.headers['x-plivo-signature-v3']),
          'x-plivo-signature-v3-nonce': receipt.headers['x-plivo-signature-v3-nonce'],
        },
      }),
    },
    {
      title: 'a field that was added',
      forge: (receipt) => ({ ...receipt, rawBody: Buffer.concat([receipt.rawBody, Buffer.from('&Added=1')]) }),
    },
  ],
};
