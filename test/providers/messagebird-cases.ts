import { createMessagebirdProvider } from '../../src/providers/messagebird.ts';
import type { Receipt } from '../../src/providers/provider.ts';
import { messageWith, resultOf, type AdapterCases } from './cases.ts';
import { messagebirdForgeries, messagebirdSettings, messagebirdSignature } from './messagebird-signature.ts';
import type { WireAnswer } from './scripted-server.ts';

/** MessageBird's documented codes by what they mean, written down apart from the adapter's own table. */
export const messagebirdCodesByClass = {
  unavailable: [99],
  invalid_content: [9, 10, 21],
  billing: [25],
  credentials: [2, 20],
} as const;

type MessagebirdClass = keyof typeof messagebirdCodesByClass;

const usualStatus: Partial<Record<MessagebirdClass, number>> = { unavailable: 500, credentials: 401, billing: 402 };

function problem(status: number, code: number, description?: string, parameter: string | null = null): WireAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ errors: [{ code, description, parameter }] }),
  };
}

function refusals(errorClass: MessagebirdClass): AdapterCases['refusals'] {
  return messagebirdCodesByClass[errorClass].map((code) => {
    const message = `what MessageBird says about ${code}`;
    return {
      title: `${code} as ${errorClass}`,
      answer: problem(usualStatus[errorClass] ?? 422, code, message),
      expected: resultOf(errorClass, { code: String(code), message }),
    };
  });
}

function about(
  parameter: string,
  code: number,
  errorClass: 'invalid_recipient' | 'invalid_sender' | 'invalid_content',
) {
  const message = `${parameter} is not right`;
  return {
    title: `${code} about ${parameter} as ${errorClass}`,
    answer: problem(422, code, message, parameter),
    expected: resultOf(errorClass, { code: String(code), message }),
  };
}

const headers = {
  accept: 'application/json',
  authorization: 'AccessKey an-access-key',
  'content-type': 'application/json',
};

function wireOf(originator: string, text: string): AdapterCases['messages'][number]['wire'] {
  const body =
    `{"originator":"${originator}","recipients":["447700900123"],"body":${JSON.stringify(text)},"datacoding":"auto",` +
    `"type":"sms","reference":"AbC-123_x","reportUrl":"https://sms.example.com/receipts/upstream/AbC-123_x"}`;
  return { method: 'POST', path: '/messages', headers, body };
}

const messageId = 'e8077d803532c0b5937c639b60216938';
const { ref } = messageWith();

function report(fields: Record<string, string>): string {
  return new URLSearchParams({
    datacoding: 'plain',
    id: messageId,
    mccmnc: '23410',
    messageLength: '5',
    messagePartCount: '1',
    ported: '0',
    'price[amount]': '0.00225',
    'price[currency]': 'USD',
    recipient: '447700900123',
    reference: ref,
    statusDatetime: '2026-11-20T09:00:00+00:00',
    ...fields,
  }).toString();
}

function progress(status: string, state: Receipt['state']): AdapterCases['receipts'][number] {
  return {
    title: `${status} as ${state}`,
    content: report({ status, statusReason: 'successfully so' }),
    expected: [{ providerMessageId: messageId, state, ref }],
  };
}

function failure(
  status: string,
  state: Receipt['state'],
  { reason, code, optOut }: { reason?: string; code?: string; optOut?: true } = {},
): AdapterCases['receipts'][number] {
  return {
    title: `${status} ${code ?? 'without a code'} (${reason ?? 'without a reason'}) as ${state}`,
    content: report({
      status,
      ...(reason === undefined ? {} : { statusReason: reason }),
      ...(code === undefined ? {} : { statusErrorCode: code }),
    }),
    expected: [
      {
        providerMessageId: messageId,
        state,
        code: code === undefined || code === '0' ? status : code,
        message: reason ?? `MessageBird reports the message as ${status}`,
        ...(optOut ? { optOut } : {}),
        ref,
      },
    ],
  };
}

function messageOf(...items: object[]): WireAnswer {
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: messageId, direction: 'mt', reference: ref, recipients: { totalCount: 1, items } }),
  };
}

function lookedUp(item: object, receipt: Partial<Receipt>) {
  return {
    answer: messageOf({ recipient: 31612345678, status: 'delivered' }, { recipient: 447700900123, ...item }),
    expected: { providerMessageId: messageId, state: 'sent' as const, ...receipt },
  };
}

export const messagebirdCases: AdapterCases = {
  name: 'messagebird',
  create: ({ baseUrl, timeoutMs, clock }) =>
    createMessagebirdProvider({ ...messagebirdSettings, baseUrl, timeoutMs }, { clock }),
  accepted: {
    answer: { ...messageOf({ recipient: 447700900123, status: 'sent' }), status: 201 },
    providerMessageId: messageId,
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
      title: 'the longest body, as one request',
      request: messageWith({ body: 'a'.repeat(1_377), segments: 9 }),
      wire: wireOf('HELIO', 'a'.repeat(1_377)),
    },
    { title: 'a short code', request: messageWith({ from: '+40404' }), wire: wireOf('40404', 'Hello') },
  ],

  refusals: [
    ...(Object.keys(messagebirdCodesByClass) as MessagebirdClass[]).flatMap(refusals),
    about('recipients', 9, 'invalid_recipient'),
    about('recipients', 10, 'invalid_recipient'),
    about('originator', 9, 'invalid_sender'),
    about('originator', 10, 'invalid_sender'),
    about('body', 9, 'invalid_content'),
    about('reportUrl', 10, 'invalid_content'),
    {
      title: 'a code without a text, which is given ours',
      answer: problem(402, 25),
      expected: resultOf('billing', { code: '25', message: 'the account has no credit' }),
    },
    {
      title: 'a code that is not in the table by its status',
      answer: problem(422, 77, 'something new', 'recipients'),
      expected: resultOf('invalid_content', { code: '77', message: 'something new' }),
    },
    {
      title: 'a code of a 5xx that is not in the table as unavailable',
      answer: problem(503, 77, 'something new'),
      expected: resultOf('unavailable', { code: '77', message: 'something new' }),
    },
    {
      title: 'Retry-After of a 429',
      answer: { ...problem(429, 77, 'too many requests'), headers: { 'Retry-After': '2' } },
      expected: {
        outcome: 'retryable',
        reason: 'throttled',
        code: '77',
        message: 'too many requests',
        retryAfterMs: 2_000,
      },
    },
  ],

  lookUps: {
    providerMessageId: messageId,
    wire: {
      method: 'GET',
      path: `/messages/${messageId}`,
      headers: { accept: headers.accept, authorization: headers.authorization },
      body: '',
    },
    found: [
      { title: 'a message on its way', ...lookedUp({ status: 'buffered' }, { state: 'sent' }) },
      { title: 'a delivered message', ...lookedUp({ status: 'delivered' }, { state: 'delivered' }) },
      {
        title: 'a message to someone who opted out',
        ...lookedUp(
          { status: 'delivery_failed', statusReason: 'opted out', statusErrorCode: 103 },
          { state: 'failed', code: '103', message: 'opted out', optOut: true },
        ),
      },
      {
        title: 'a message that expired',
        ...lookedUp(
          { status: 'expired', statusReason: null, statusErrorCode: null },
          { state: 'undelivered', code: 'expired', message: 'MessageBird reports the message as expired' },
        ),
      },
    ],
    notFound: [
      { title: 'a message to others', answer: messageOf({ recipient: 31612345678, status: 'delivered' }) },
      { title: 'a message to nobody', answer: messageOf() },
    ],
    unclear: [
      { title: 'a status that is not known', answer: lookedUp({ status: 'pondering' }, {}).answer },
      { title: 'recipients that are no list', answer: { status: 200, body: '{"recipients":{"items":{}}}' } },
    ],
  },

  carry: ({ callbackUrl, content }) => ({
    method: 'GET',
    url: `${callbackUrl}?${content.toString('latin1')}`,
    rawBody: Buffer.alloc(0),
  }),
  receipts: [
    progress('scheduled', 'sent'),
    progress('sent', 'sent'),
    progress('buffered', 'sent'),
    progress('delivered', 'delivered'),
    failure('delivery_failed', 'failed'),
    failure('delivery_failed', 'failed', { reason: 'unknown subscriber', code: '1' }),
    failure('delivery_failed', 'failed', { reason: 'carrier rejected', code: '0' }),
    failure('delivery_failed', 'failed', { reason: 'opted out', code: '103', optOut: true }),
    failure('delivery_failed', 'undelivered', { reason: 'DLR not received' }),
    failure('expired', 'undelivered', { reason: 'unavailable subscriber', code: '27' }),
    failure('expired', 'undelivered'),
    {
      title: 'a report without our reference',
      content: report({ status: 'delivered', reference: '' }),
      expected: [{ providerMessageId: messageId, state: 'delivered' }],
    },
    {
      title: 'a report as it was seen',
      content:
        'datacoding=plain&id=71fd32a4e41a4380af1efa0fe7676f99&mccmnc=302370&messageLength=47&messagePartCount=1&ported=0&' +
        'price%5Bamount%5D=0.00225&price%5Bcurrency%5D=USD&recipient=16478958837&reference=our-id&status=delivered&' +
        'statusDatetime=2023-10-11T10%3A30%3A21%2B00%3A00&statusReason=successfully+delivered',
      expected: [{ providerMessageId: '71fd32a4e41a4380af1efa0fe7676f99', state: 'delivered', ref: 'our-id' }],
    },
  ],
  malformedReceipts: [
    { title: 'an empty query', content: '' },
    { title: 'a report without an id', content: report({ status: 'delivered', id: '' }) },
    { title: 'a report without a status', content: `id=${messageId}` },
    { title: 'a status that is not known', content: report({ status: 'pondering' }) },
    { title: 'a status that every object has', content: report({ status: '__proto__' }) },
  ],

  sign: messagebirdSignature,
  forgeries: messagebirdForgeries,
};
