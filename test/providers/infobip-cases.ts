import { createInfobipProvider } from '../../src/providers/infobip.ts';
import { messageWith, resultOf, type AdapterCases } from './cases.ts';
import { infobipLookUps, infobipMalformedReceipts, infobipReceipts } from './infobip-receipts.ts';
import { infobipSettings, messageId, statusOf } from './infobip-wire.ts';
import type { WireAnswer } from './scripted-server.ts';

/** Infobip's documented statuses of refusal by what they mean for an attempt, written down apart from the adapter's own table. */
export const infobipStatusesByClass = {
  unavailable: [21, 100],
  invalid_recipient: [8, 51, 52],
  invalid_sender: [11, 13],
  invalid_content: [24, 25],
  blocked: [10, 14, 18, 20, 87],
  billing: [12, 17],
  unsupported: [6, 19],
} as const;

type InfobipClass = keyof typeof infobipStatusesByClass;

function answerWith(status: object): WireAnswer {
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      bulkId: '2034072219640523072',
      messages: [{ messageId, destination: '447700900123', status }],
    }),
  };
}

function problem(status: number, content: object): WireAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(content) };
}

function badRequest(...properties: string[]): WireAnswer {
  return problem(400, {
    errorCode: 'E400',
    description: 'Request cannot be processed.',
    action: 'Check the request.',
    violations: properties.map((property) => ({ property, violation: 'is not valid' })),
    resources: [],
  });
}

function refusals(errorClass: InfobipClass): AdapterCases['refusals'] {
  return infobipStatusesByClass[errorClass].map((id) => ({
    title: `status ${id} of a 200 as ${errorClass}`,
    answer: answerWith(statusOf(id === 100 ? 'UNDELIVERABLE' : 'REJECTED', id)),
    expected: resultOf(errorClass, {
      code: id === 100 ? 'UNDELIVERABLE_100' : `REJECTED_${id}`,
      message: `what Infobip says about ${id === 100 ? 'UNDELIVERABLE' : 'REJECTED'}_${id}`,
      ...(id === 10 || id === 14 ? { optOut: true } : {}),
    }),
  }));
}

const e400 = { code: 'E400', message: 'Request cannot be processed.' };

function wireOf(sender: string, text: string): AdapterCases['messages'][number]['wire'] {
  return {
    method: 'POST',
    path: '/sms/3/messages',
    headers: {
      accept: 'application/json',
      authorization: 'App a-key-of-the-api',
      'content-type': 'application/json',
    },
    body:
      `{"messages":[{"sender":"${sender}","destinations":[{"to":"447700900123","messageId":"${messageId}"}],` +
      `"content":{"text":${JSON.stringify(text)}},"webhooks":{"delivery":{` +
      `"url":"https://sms.example.com/receipts/upstream/AbC-123_x","intermediateReport":false,"notify":true},` +
      `"contentType":"application/json","callbackData":"AbC-123_x"}}]}`,
  };
}

export const infobipCases: AdapterCases = {
  name: 'infobip',
  create: ({ baseUrl, timeoutMs, clock }) =>
    createInfobipProvider({ ...infobipSettings, baseUrl, timeoutMs }, { clock }),
  accepted: { answer: answerWith(statusOf('PENDING', 26)), providerMessageId: messageId },

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
      request: messageWith({ body: 'a'.repeat(1_600), segments: 11 }),
      wire: wireOf('HELIO', 'a'.repeat(1_600)),
    },
    { title: 'a short code', request: messageWith({ from: '+40404' }), wire: wireOf('40404', 'Hello') },
  ],

  refusals: [
    ...(Object.keys(infobipStatusesByClass) as InfobipClass[]).flatMap(refusals),
    {
      title: 'a status of refusal that is not in the table as unsupported',
      answer: answerWith(statusOf('REJECTED', 999)),
      expected: resultOf('unsupported', { code: 'REJECTED_999', message: 'what Infobip says about REJECTED_999' }),
    },
    {
      title: 'a status of refusal without a name or a text by its id',
      answer: answerWith({ groupName: 'REJECTED', id: 52 }),
      expected: resultOf('invalid_recipient', { code: '52', message: 'invalid recipient' }),
    },
    {
      title: 'a group that is not known as unknown',
      answer: answerWith({ groupName: 'PONDERING', id: 26 }),
      expected: { outcome: 'unknown', code: 'http_200', message: 'HTTP 200 without a message id that could be read' },
    },
    {
      title: 'E400 as invalid_content',
      answer: badRequest('messages[0].content.text', 'messages[0].destinations[0].to'),
      expected: resultOf('invalid_content', e400),
    },
    {
      title: 'E400 about another field as invalid_content',
      answer: badRequest('messages[0].content.text'),
      expected: resultOf('invalid_content', e400),
    },
    {
      title: 'E400 about the recipient alone as invalid_recipient',
      answer: badRequest('messages[0].destinations[0].to'),
      expected: resultOf('invalid_recipient', e400),
    },
    {
      title: 'E400 about the sender alone as invalid_sender',
      answer: badRequest('messages[0].sender'),
      expected: resultOf('invalid_sender', e400),
    },
    {
      title: 'E401 as credentials',
      answer: problem(401, { errorCode: 'E401', description: 'Unauthorized' }),
      expected: resultOf('credentials', { code: 'E401', message: 'Unauthorized' }),
    },
    {
      title: 'E403 as credentials',
      answer: problem(403, { errorCode: 'E403', description: 'Forbidden' }),
      expected: resultOf('credentials', { code: 'E403', message: 'Forbidden' }),
    },
    {
      title: 'Retry-After of an E429',
      answer: {
        ...problem(429, { errorCode: 'E429', description: 'Too many requests' }),
        headers: { 'Retry-After': '2' },
      },
      expected: {
        outcome: 'retryable',
        reason: 'throttled',
        code: 'E429',
        message: 'Too many requests',
        retryAfterMs: 2_000,
      },
    },
    {
      title: 'E500 as unavailable',
      answer: problem(500, { errorCode: 'E500', description: 'Something went wrong' }),
      expected: resultOf('unavailable', { code: 'E500', message: 'Something went wrong' }),
    },
    {
      title: 'the older shape of an error',
      answer: problem(401, {
        requestError: { serviceException: { messageId: 'UNAUTHORIZED', text: 'Invalid login details' } },
      }),
      expected: resultOf('credentials', { code: 'UNAUTHORIZED', message: 'Invalid login details' }),
    },
    {
      title: 'the older shape of an error about the recipient',
      answer: problem(400, {
        requestError: {
          serviceException: {
            messageId: 'BAD_REQUEST',
            text: 'Bad Request',
            validationErrors: { 'request.messages[0].destinations[0].to': ['must not be empty'] },
          },
        },
      }),
      expected: resultOf('invalid_recipient', { code: 'BAD_REQUEST', message: 'Bad Request' }),
    },
  ],

  lookUps: infobipLookUps,
  receipts: infobipReceipts,
  malformedReceipts: infobipMalformedReceipts,
  sign: () => ({}),
  forgeries: [],
};
