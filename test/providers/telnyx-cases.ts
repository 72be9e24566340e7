import type { Receipt } from '../../src/providers/provider.ts';
import { createTelnyxProvider } from '../../src/providers/telnyx.ts';
import { messageWith, resultOf, type AdapterCases } from './cases.ts';
import type { WireAnswer } from './scripted-server.ts';
import { telnyxForgeries, telnyxSettings, telnyxSignature } from './telnyx-signature.ts';

/** Telnyx's documented codes by what they mean for an attempt, written down apart from the adapter's own table. */
export const telnyxCodesByClass = {
  throttled: [10011, 40002, 40011, 40016, 40018, 40318],
  unavailable: [10007, 10008, 40006, 40320],
  invalid_recipient: [40001, 40008, 40012, 40301, 40310, 40319],
  invalid_sender: [40010, 40013, 40100, 40150, 40151, 40300, 40305, 40306, 40308, 40315, 40321, 40329],
  invalid_content: [10002, 10003, 10004, 10015, 10016, 40009, 40304, 40316, 40317],
  blocked: [40003, 40004, 40015, 40017, 40309, 40322],
  billing: [20012, 20100],
  credentials: [
    10005, 10009, 10010, 20001, 20002, 20003, 20004, 20005, 20006, 20013, 20014, 20015, 20016, 20017, 40311, 40312,
    40313, 40314,
  ],
  unsupported: [40302, 40328],
  unknown: [40005, 40014],
} as const;

type TelnyxClass = keyof typeof telnyxCodesByClass;

const usualStatus: Partial<Record<TelnyxClass, number>> = { throttled: 429, unavailable: 500, credentials: 403 };

function problem(status: number, ...errors: object[]): WireAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ errors }) };
}

function refusals(errorClass: TelnyxClass): AdapterCases['refusals'] {
  return telnyxCodesByClass[errorClass].map((code) => {
    const message = `what Telnyx says about ${code}`;
    return {
      title: `${code} as ${errorClass}`,
      answer: problem(usualStatus[errorClass] ?? 400, { code: String(code), title: 'Something', detail: message }),
      expected: resultOf(errorClass, { code: String(code), message }),
    };
  });
}

const headers = {
  accept: 'application/json',
  authorization: 'Bearer KEY0123456789ABCDEF',
  'content-type': 'application/json',
};

function wireOf(from: string, text: string, encoding: string): AdapterCases['messages'][number]['wire'] {
  const body =
    `{"from":"${from}","to":"+447700900123","text":${JSON.stringify(text)},"type":"SMS","encoding":"${encoding}",` +
    `"webhook_url":"https://sms.example.com/receipts/upstream/AbC-123_x","use_profile_webhooks":false}`;
  return { method: 'POST', path: '/v2/messages', headers, body };
}

const messageId = '40385f64-5717-4562-b3fc-2c963f66afa6';

function messageOf(status: unknown, errors: unknown = [], extras: object = {}): object {
  return {
    record_type: 'message',
    direction: 'outbound',
    id: messageId,
    from: { phone_number: '+15005550006', carrier: '', line_type: '' },
    to: [{ phone_number: '+447700900123', status, carrier: 'Vodafone', line_type: 'Wireless' }],
    parts: 1,
    cost: { amount: '0.0051', currency: 'USD' },
    errors,
    ...extras,
  };
}

function event(payload: unknown, eventType: unknown = 'message.finalized'): string {
  return JSON.stringify({
    data: {
      event_type: eventType,
      id: '7b2c1f0e-1111-4444-8888-2c963f66afa6',
      occurred_at: '2026-11-20T09:00:00.000+00:00',
      record_type: 'event',
      payload,
    },
    meta: { attempt: 1, delivered_to: messageWith().callbackUrl },
  });
}

function progress(status: string, state: Receipt['state']): AdapterCases['receipts'][number] {
  return {
    title: `${status} as ${state}`,
    content: event(messageOf(status), state === 'sent' ? 'message.sent' : 'message.finalized'),
    expected: [{ providerMessageId: messageId, state }],
  };
}

function failure(status: string, state: Receipt['state'], code?: string): AdapterCases['receipts'][number] {
  const errors = code === undefined ? [] : [{ code, title: 'Something', detail: `why ${code}` }];
  const message = code === undefined ? `Telnyx reports the message as ${status}` : `why ${code}`;
  return {
    title: `${status} ${code ?? 'without an error'} as ${state}`,
    content: event(messageOf(status, errors)),
    expected: [{ providerMessageId: messageId, state, code: code ?? status, message }],
  };
}

const stop = { code: '40300', title: 'Blocked due to STOP message' };

function lookedUp(message: object, receipt: Partial<Receipt>) {
  return {
    answer: { status: 200, body: JSON.stringify({ data: message }) },
    expected: { providerMessageId: messageId, state: 'sent' as const, ...receipt },
  };
}

export const telnyxCases: AdapterCases = {
  name: 'telnyx',
  create: ({ baseUrl, timeoutMs, clock }) => createTelnyxProvider({ ...telnyxSettings, baseUrl, timeoutMs }, { clock }),
  accepted: {
    answer: {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ data: messageOf('queued') }),
    },
    providerMessageId: messageId,
  },

  messages: [
    {
      title: 'GSM-7 from an alphanumeric sender',
      request: messageWith({ body: 'Hello @ £10 & "more"', from: 'My Shop' }),
      wire: wireOf('My Shop', 'Hello @ £10 & "more"', 'gsm7'),
    },
    {
      title: 'UCS-2 from a long number',
      request: messageWith({ body: 'Привет 😀\r\n', encoding: 'ucs2', from: '+15005550006' }),
      wire: wireOf('+15005550006', 'Привет 😀\r\n', 'ucs2'),
    },
    {
      title: 'a long number that was given without its plus',
      request: messageWith({ from: '15005550006' }),
      wire: wireOf('+15005550006', 'Hello', 'gsm7'),
    },
    {
      title: 'the longest body, as one request',
      request: messageWith({ body: 'a'.repeat(1_600), segments: 11 }),
      wire: wireOf('HELIO', 'a'.repeat(1_600), 'gsm7'),
    },
    {
      title: 'a short code, which takes no plus',
      request: messageWith({ from: '+40404' }),
      wire: wireOf('40404', 'Hello', 'gsm7'),
    },
  ],

  refusals: [
    ...(Object.keys(telnyxCodesByClass) as TelnyxClass[]).flatMap(refusals),
    {
      title: '40300 about STOP as an opt-out',
      answer: problem(403, stop),
      expected: resultOf('blocked', { code: '40300', message: stop.title, optOut: true }),
    },
    {
      title: '40300 about a block rule in its detail as an opt-out',
      answer: problem(403, { code: '40300', title: 'Message blocked', detail: 'A block rule exists.' }),
      expected: resultOf('blocked', { code: '40300', message: 'A block rule exists.', optOut: true }),
    },
    {
      title: 'a bad request that points at the recipient as invalid_recipient',
      answer: problem(400, { code: '10016', title: 'Not in E.164', source: { pointer: '/to' } }),
      expected: resultOf('invalid_recipient', { code: '10016', message: 'Not in E.164' }),
    },
    {
      title: 'a bad request that points at the sender as invalid_sender',
      answer: problem(422, { code: '10016', title: 'Not in E.164', source: { pointer: '/from' } }),
      expected: resultOf('invalid_sender', { code: '10016', message: 'Not in E.164' }),
    },
    {
      title: 'a code that is a number',
      answer: problem(400, { code: 40310, title: "Invalid 'to' address" }),
      expected: resultOf('invalid_recipient', { code: '40310', message: "Invalid 'to' address" }),
    },
    {
      title: 'a code without a text, which is given ours',
      answer: problem(402, { code: '20100' }, { code: '40310' }),
      expected: resultOf('billing', { code: '20100', message: 'the account has no credit' }),
    },
    {
      title: 'a code that is not in the table by its status',
      answer: problem(422, { code: '49999', title: 'Something new' }),
      expected: resultOf('invalid_content', { code: '49999', message: 'Something new' }),
    },
    {
      title: 'a code of a 5xx that is not in the table as unavailable',
      answer: problem(503, { code: '49999', title: 'Something new' }),
      expected: resultOf('unavailable', { code: '49999', message: 'Something new' }),
    },
    {
      title: 'Retry-After of a 10011',
      answer: { ...problem(429, { code: '10011', title: 'Too many requests' }), headers: { 'Retry-After': '2' } },
      expected: {
        outcome: 'retryable',
        reason: 'throttled',
        code: '10011',
        message: 'Too many requests',
        retryAfterMs: 2_000,
      },
    },
  ],

  lookUps: {
    providerMessageId: messageId,
    wire: {
      method: 'GET',
      path: `/v2/messages/${messageId}`,
      headers: { accept: headers.accept, authorization: headers.authorization },
      body: '',
    },
    found: [
      { title: 'a message on its way', ...lookedUp(messageOf('sending'), { state: 'sent' }) },
      { title: 'a delivered message', ...lookedUp(messageOf('delivered'), { state: 'delivered' }) },
      {
        title: 'a message to someone who opted out',
        ...lookedUp(messageOf('sending_failed', [stop]), {
          state: 'failed',
          code: '40300',
          message: stop.title,
          optOut: true,
        }),
      },
    ],
    notFound: [],
    unclear: [
      {
        title: 'an inbound message',
        answer: lookedUp(messageOf('delivered', [], { direction: 'inbound' }), {}).answer,
      },
    ],
  },

  receipts: [
    ...['queued', 'sending', 'sent', 'scheduled', 'webhook_delivered'].map((status) => progress(status, 'sent')),
    ...['delivered', 'read'].map((status) => progress(status, 'delivered')),
    failure('sending_failed', 'failed'),
    failure('sending_failed', 'failed', '40310'),
    failure('delivery_failed', 'failed', '40008'),
    failure('delivery_failed', 'failed', '40300'),
    failure('delivery_failed', 'failed', '49999'),
    failure('delivery_failed', 'undelivered', '40005'),
    failure('delivery_failed', 'undelivered', '40006'),
    failure('sending_failed', 'undelivered', '40014'),
    failure('cancelled', 'failed'),
    failure('delivery_unconfirmed', 'undelivered'),
    failure('expired', 'undelivered'),
    {
      title: 'an opt-out',
      content: event(messageOf('delivery_failed', [stop])),
      expected: [{ providerMessageId: messageId, state: 'failed', code: '40300', message: stop.title, optOut: true }],
    },
    {
      title: 'an error without a text, which is given ours',
      content: event(messageOf('delivery_failed', [{ code: '40001' }, { code: '40300' }])),
      expected: [
        {
          providerMessageId: messageId,
          state: 'failed',
          code: '40001',
          message: 'the recipient is a landline or has no route',
        },
      ],
    },
    {
      title: 'errors that are no list',
      content: event(messageOf('delivery_failed', { code: '40001' })),
      expected: [
        {
          providerMessageId: messageId,
          state: 'failed',
          code: 'delivery_failed',
          message: 'Telnyx reports the message as delivery_failed',
        },
      ],
    },
  ],
  malformedReceipts: [
    { title: 'an empty body', content: '' },
    { title: 'JSON cut short', content: event(messageOf('delivered')).slice(0, -1) },
    { title: 'an event without a payload', content: event(undefined) },
    { title: 'an event about something else', content: event(messageOf('delivered'), 'message.received') },
    { title: 'an inbound message', content: event(messageOf('delivered', [], { direction: 'inbound' })) },
    { title: 'a message without an id', content: event(messageOf('delivered', [], { id: undefined })) },
    { title: 'a message without recipients', content: event(messageOf('delivered', [], { to: [] })) },
    { title: 'recipients that are no list', content: event(messageOf('delivered', [], { to: 'all' })) },
    { title: 'a status that is not known', content: event(messageOf('pondering')) },
    { title: 'a status that every object has', content: event(messageOf('__proto__')) },
  ],

  sign: ({ rawBody, issuedAtMs }) => telnyxSignature(rawBody, { issuedAtMs }),
  forgeries: telnyxForgeries,
};
