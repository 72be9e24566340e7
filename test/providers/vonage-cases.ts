import type { Receipt } from '../../src/providers/provider.ts';
import { createVonageProvider } from '../../src/providers/vonage.ts';
import { messageWith, resultOf, type AdapterCases } from './cases.ts';
import { vonageLookUps } from './vonage-look-ups.ts';
import { vonageForgeries, vonageSettings, vonageSignature } from './vonage-signature.ts';

/** Vonage's documented codes by what they mean for an attempt, written down apart from the adapter's own table. */
export const vonageCodesByClass = {
  throttled: '1000 1241',
  unavailable: '1030 1100 1180 1220 1230 1331',
  invalid_recipient: '1040 1170 1190 1200 1250 1260 1300 1310',
  invalid_sender: '1120',
  invalid_content: '1010 1020 1021 1022 1090 1130 1150 1380 1381 1382 InvalidParams invalid-params',
  blocked: '1050 1160 1210 1240 1270 1280 1290 1320 1340 1470',
  billing: '1070 low-balance',
  credentials:
    '1060 1080 1140 account-suspended forbidden invalid-api-key invalid-signature jwt-expired not-found unauthorized ' +
    'unprovisioned',
  unknown: '1330 1360',
};

type VonageClass = keyof typeof vonageCodesByClass;

const usualStatus: Partial<Record<VonageClass, number>> = {
  throttled: 429,
  unavailable: 500,
  billing: 402,
  credentials: 401,
};

function problem(status: number, code: string, extras: object = {}) {
  return {
    status,
    headers: { 'content-type': 'application/problem+json' },
    body: JSON.stringify({
      type: `https://developer.vonage.com/api-errors/messages#${code}`,
      title: 'Something is wrong',
      detail: `what Vonage says about ${code}`,
      instance: 'bf0ca0bf927b3b52e3cb03217e1a1ddf',
      ...extras,
    }),
  };
}

function refusals(errorClass: VonageClass): AdapterCases['refusals'] {
  return vonageCodesByClass[errorClass].split(' ').map((code) => ({
    title: `${code} as ${errorClass}`,
    answer: problem(usualStatus[errorClass] ?? 422, code),
    expected: resultOf(errorClass, {
      code,
      message: `what Vonage says about ${code}`,
      ...(code === '1240' ? { optOut: true } : {}),
    }),
  }));
}

const headers = {
  accept: 'application/json',
  authorization: 'Basic YTFiMmMzZDphLXNlY3JldC1vZi10aGUtYXBp',
  'content-type': 'application/json',
};

function wireOf(from: string, text: string, encodingType: string): AdapterCases['messages'][number]['wire'] {
  const body =
    `{"channel":"sms","message_type":"text","to":"447700900123","from":"${from}","text":${JSON.stringify(text)},` +
    `"client_ref":"AbC-123_x","webhook_url":"https://sms.example.com/receipts/upstream/AbC-123_x","webhook_version":"v1",` +
    `"sms":{"encoding_type":"${encodingType}"}}`;
  return { method: 'POST', path: '/v1/messages', headers, body };
}

const messageUuid = 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab';

export function vonageCallback(status: string, extras: object = {}): string {
  return JSON.stringify({
    message_uuid: messageUuid,
    to: '447700900123',
    from: 'HELIO',
    timestamp: '2026-11-20T09:00:00.000Z',
    channel: 'sms',
    client_ref: 'AbC-123_x',
    status,
    ...extras,
  });
}

function progress(status: string, state: Receipt['state']): AdapterCases['receipts'][number] {
  return {
    title: `${status} as ${state}`,
    content: vonageCallback(status, { usage: { currency: 'EUR', price: '0.0333' }, sms: { count_total: '2' } }),
    expected: [{ providerMessageId: messageUuid, state }],
  };
}

function failure(
  status: string,
  state: Receipt['state'],
  code: string,
  optOut?: true,
): AdapterCases['receipts'][number] {
  const type = `https://developer.vonage.com/api-errors/messages#${code}`;
  return {
    title: `${status} ${code} as ${state}`,
    content: vonageCallback(status, { error: { type, title: code, detail: `why ${code}`, instance: 'x' } }),
    expected: [{ providerMessageId: messageUuid, state, code, message: `why ${code}`, ...(optOut ? { optOut } : {}) }],
  };
}

export const vonageCases: AdapterCases = {
  name: 'vonage',
  create: ({ baseUrl, timeoutMs, clock }) => createVonageProvider({ ...vonageSettings, baseUrl, timeoutMs }, { clock }),
  accepted: {
    answer: {
      status: 202,
      headers: { 'content-type': 'application/json' },
      body: `{"message_uuid":"${messageUuid}"}`,
    },
    providerMessageId: messageUuid,
  },

  messages: [
    {
      title: 'GSM-7 from an alphanumeric sender',
      request: messageWith({ body: 'Hello @ £10 & "more"', from: 'My Shop' }),
      wire: wireOf('My Shop', 'Hello @ £10 & "more"', 'text'),
    },
    {
      title: 'UCS-2 from a long number, which takes no plus',
      request: messageWith({ body: 'Привет 😀\r\n', encoding: 'ucs2', from: '+15005550006' }),
      wire: wireOf('15005550006', 'Привет 😀\r\n', 'unicode'),
    },
    {
      title: 'the longest body, as one request',
      request: messageWith({ body: 'a'.repeat(1_000), segments: 7 }),
      wire: wireOf('HELIO', 'a'.repeat(1_000), 'text'),
    },
    {
      title: 'a short code',
      request: messageWith({ from: '40404' }),
      wire: wireOf('40404', 'Hello', 'text'),
    },
  ],

  refusals: [
    ...(Object.keys(vonageCodesByClass) as VonageClass[]).flatMap(refusals),
    {
      title: 'invalid parameters of which the only one is the recipient as invalid_recipient',
      answer: problem(422, '1150', { invalid_parameters: [{ name: 'to', reason: 'not a number' }] }),
      expected: resultOf('invalid_recipient', { code: '1150', message: 'what Vonage says about 1150' }),
    },
    {
      title: 'invalid parameters of which the only one is the sender as invalid_sender',
      answer: problem(422, 'InvalidParams', { invalid_parameters: [{ name: 'from', reason: 'too long' }] }),
      expected: resultOf('invalid_sender', { code: 'InvalidParams', message: 'what Vonage says about InvalidParams' }),
    },
    {
      title: 'several invalid parameters as invalid_content',
      answer: problem(422, '1150', { invalid_parameters: [{ name: 'to' }, { name: 'text' }] }),
      expected: resultOf('invalid_content', { code: '1150', message: 'what Vonage says about 1150' }),
    },
    {
      title: 'a code that is not in the table by its status',
      answer: problem(422, '1999'),
      expected: resultOf('invalid_content', { code: '1999', message: 'what Vonage says about 1999' }),
    },
    {
      title: 'a code of a 5xx that is not in the table as unavailable',
      answer: problem(503, 'error'),
      expected: resultOf('unavailable', { code: 'error', message: 'what Vonage says about error' }),
    },
    {
      title: 'Retry-After of a 1000',
      answer: { ...problem(429, '1000'), headers: { 'Retry-After': '2' } },
      expected: {
        outcome: 'retryable',
        reason: 'throttled',
        code: '1000',
        message: 'what Vonage says about 1000',
        retryAfterMs: 2_000,
      },
    },
    {
      title: 'a problem without a type by its title',
      answer: { status: 400, body: '{"title":"1240"}' },
      expected: resultOf('blocked', { code: '1240', message: 'the recipient opted out', optOut: true }),
    },
  ],

  lookUps: vonageLookUps,

  receipts: [
    progress('submitted', 'sent'),
    progress('delivered', 'delivered'),
    progress('read', 'delivered'),
    ...['1180', '1220', '1230', '1330', '1331', '1360'].map((code) => failure('rejected', 'undelivered', code)),
    ...['1000', '1070', '1120', '1170', '1210', '1999'].map((code) => failure('rejected', 'failed', code)),
    failure('rejected', 'failed', '1240', true),
    failure('undeliverable', 'undelivered', '1260'),
    {
      title: 'rejected without an error',
      content: vonageCallback('rejected'),
      expected: [
        {
          providerMessageId: messageUuid,
          state: 'failed',
          code: 'rejected',
          message: 'Vonage reports the message as rejected',
        },
      ],
    },
    {
      title: 'undeliverable with an error that is no object',
      content: vonageCallback('undeliverable', { error: ['1240'] }),
      expected: [
        {
          providerMessageId: messageUuid,
          state: 'undelivered',
          code: 'undeliverable',
          message: 'Vonage reports the message as undeliverable',
        },
      ],
    },
  ],
  malformedReceipts: [
    { title: 'an empty body', content: '' },
    { title: 'JSON cut short', content: vonageCallback('delivered').slice(0, -1) },
    { title: 'JSON that is no object', content: `["${messageUuid}"]` },
    { title: 'null', content: 'null' },
    { title: 'a callback without message_uuid', content: '{"status":"delivered"}' },
    { title: 'a message_uuid that is a number', content: '{"message_uuid":7,"status":"delivered"}' },
    { title: 'a callback without status', content: `{"message_uuid":"${messageUuid}"}` },
    { title: 'a status that is not known', content: vonageCallback('pondering') },
    { title: 'a status that is a list', content: `{"message_uuid":"${messageUuid}","status":["delivered"]}` },
  ],

  sign: ({ rawBody, issuedAtMs }) => vonageSignature({ rawBody, issuedAtMs }),
  forgeries: vonageForgeries,
};
