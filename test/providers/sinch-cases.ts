import type { Receipt } from '../../src/providers/provider.ts';
import { createSinchProvider } from '../../src/providers/sinch.ts';
import { messageWith, resultOf, type AdapterCases } from './cases.ts';
import type { WireAnswer } from './scripted-server.ts';
import { sinchSettings } from './sinch-signature.ts';

/** Sinch's documented codes of refused batches by what they mean, written down apart from the adapter's own table. */
export const sinchCodesByClass = {
  invalid_content: ['syntax_invalid_json', 'syntax_constraint_violation', 'syntax_invalid_parameter_format'],
  credentials: ['missing_callback_url', 'unknown_campaign', 'unknown_group'],
} as const;

type SinchClass = keyof typeof sinchCodesByClass;

function problem(status: number, code: string, text?: string): WireAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ code, text }) };
}

function refusals(errorClass: SinchClass): AdapterCases['refusals'] {
  return sinchCodesByClass[errorClass].map((code) => {
    const message = `what Sinch says about ${code}`;
    return {
      title: `${code} as ${errorClass}`,
      answer: problem(errorClass === 'credentials' ? 403 : 400, code, message),
      expected: resultOf(errorClass, { code, message }),
    };
  });
}

function wrongFormat(errorClass: 'invalid_recipient' | 'invalid_sender' | 'invalid_content', message: string) {
  const code = 'syntax_invalid_parameter_format';
  return {
    title: `a wrong format as ${errorClass}: ${message}`,
    answer: problem(400, code, message),
    expected: resultOf(errorClass, { code, message }),
  };
}

function byStatus(errorClass: Parameters<typeof resultOf>[0], status: number, code: string) {
  return {
    title: `${status} ${code}, which is not in the table, as ${errorClass}`,
    answer: problem(status, code, 'something new'),
    expected: resultOf(errorClass, { code, message: 'something new' }),
  };
}

const path = '/xms/v1/a-service-plan/batches';
const headers = {
  accept: 'application/json',
  authorization: 'Bearer a-token-of-the-plan',
  'content-type': 'application/json',
};

function wireOf(from: string, text: string): AdapterCases['messages'][number]['wire'] {
  return {
    method: 'POST',
    path,
    headers,
    body:
      `{"to":["447700900123"],"from":"${from}","body":${JSON.stringify(text)},"type":"mt_text",` +
      `"delivery_report":"per_recipient_final","callback_url":"https://sms.example.com/receipts/upstream/AbC-123_x",` +
      `"client_reference":"AbC-123_x"}`,
  };
}

const batchId = '01FC66621XXXXX119Z8PMV1QPQ';
const { ref } = messageWith();

function reportOf(status: string, code: unknown, extras: object = {}): string {
  return JSON.stringify({
    type: 'recipient_delivery_report_sms',
    batch_id: batchId,
    recipient: '+447700900123',
    code,
    status,
    at: '2026-11-20T09:00:00.000Z',
    operator_status_at: '2026-11-20T09:00:00.000Z',
    client_reference: ref,
    ...extras,
  });
}

function progress(status: string, code: number, state: Receipt['state']): AdapterCases['receipts'][number] {
  return {
    title: `${status} as ${state}`,
    content: reportOf(status, code),
    expected: [{ providerMessageId: batchId, state, ref }],
  };
}

function failure(
  status: string,
  state: Receipt['state'],
  code: number,
  message = `Sinch reports the message as ${status}`,
): AdapterCases['receipts'][number] {
  return {
    title: `${status} ${code} as ${state}`,
    content: reportOf(status, code),
    expected: [{ providerMessageId: batchId, state, code: code === 0 ? status : String(code), message, ref }],
  };
}

function lookedUp(status: string, code: number, receipt: Partial<Receipt>) {
  return {
    answer: { status: 200, body: reportOf(status, code) },
    expected: { providerMessageId: batchId, state: 'sent' as const, ...receipt },
  };
}

export const sinchCases: AdapterCases = {
  name: 'sinch',
  create: ({ baseUrl, timeoutMs, clock }) => createSinchProvider({ ...sinchSettings, baseUrl, timeoutMs }, { clock }),
  accepted: {
    answer: {
      status: 201,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: batchId, to: ['447700900123'], from: 'HELIO', canceled: false, type: 'mt_text' }),
    },
    providerMessageId: batchId,
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
      request: messageWith({ body: 'a'.repeat(1_600), segments: 11 }),
      wire: wireOf('HELIO', 'a'.repeat(1_600)),
    },
    { title: 'a short code', request: messageWith({ from: '+40404' }), wire: wireOf('40404', 'Hello') },
  ],

  refusals: [
    ...(Object.keys(sinchCodesByClass) as SinchClass[]).flatMap(refusals),
    wrongFormat('invalid_recipient', "'447700900123' is not a valid identifier"),
    wrongFormat('invalid_recipient', "The field 'to' is not valid"),
    wrongFormat('invalid_recipient', 'to[0]: not a valid number'),
    wrongFormat('invalid_recipient', 'Invalid value of field to'),
    wrongFormat('invalid_sender', "'HELIO' is not a valid originator"),
    wrongFormat('invalid_sender', "The property 'from' must be a valid sender"),
    wrongFormat('invalid_content', 'Unable to read the time from its text, which is to be in ISO 8601'),
    wrongFormat('invalid_content', "'yesterday' is not a valid time"),
    byStatus('credentials', 401, 'unauthorized'),
    byStatus('credentials', 403, 'forbidden'),
    byStatus('billing', 402, 'payment_required'),
    byStatus('credentials', 404, 'not_found'),
    byStatus('unavailable', 500, 'internal_error'),
    {
      title: 'Retry-After of a 429',
      answer: { ...problem(429, 'too_many_requests', 'Too many requests'), headers: { 'Retry-After': '2' } },
      expected: {
        outcome: 'retryable',
        reason: 'throttled',
        code: 'too_many_requests',
        message: 'Too many requests',
        retryAfterMs: 2_000,
      },
    },
    {
      title: 'a code without a text, which is given ours',
      answer: problem(400, 'syntax_invalid_json'),
      expected: resultOf('invalid_content', {
        code: 'syntax_invalid_json',
        message: 'the request is not valid JSON',
      }),
    },
  ],

  lookUps: {
    providerMessageId: batchId,
    wire: {
      method: 'GET',
      path: `${path}/${batchId}/delivery_report/447700900123`,
      headers: { accept: headers.accept, authorization: headers.authorization },
      body: '',
    },
    found: [
      { title: 'a message that waits', ...lookedUp('Queued', 400, { state: 'sent' }) },
      { title: 'a message on its way', ...lookedUp('Dispatched', 401, { state: 'sent' }) },
      { title: 'a delivered message', ...lookedUp('Delivered', 0, { state: 'delivered' }) },
      {
        title: 'a failed message',
        ...lookedUp('Aborted', 402, { state: 'failed', code: '402', message: 'no route to the recipient' }),
      },
    ],
    notFound: [],
    unclear: [
      { title: 'a status that is not known', answer: lookedUp('Pondering', 0, {}).answer },
      { title: 'the report of a batch', answer: { status: 200, body: `{"type":"delivery_report_sms"}` } },
    ],
  },

  receipts: [
    progress('Queued', 400, 'sent'),
    progress('Dispatched', 401, 'sent'),
    progress('Delivered', 0, 'delivered'),
    failure('Rejected', 'failed', 206, 'refused by the carrier'),
    failure('Failed', 'failed', 1, 'unknown subscriber, or without this service'),
    failure('Failed', 'failed', 999, 'the network is congested'),
    failure('Deleted', 'failed', 0),
    failure('Cancelled', 'failed', 407, 'cancelled before it reached the carrier'),
    failure('Aborted', 'failed', 402, 'no route to the recipient'),
    failure('Aborted', 'failed', 413, 'the account is blocked, perhaps for want of credit'),
    failure('Aborted', 'undelivered', 404, 'temporary failure'),
    failure('Aborted', 'undelivered', 406, 'expired before it reached the carrier'),
    failure('Failed', 'failed', 404, 'temporary failure'),
    failure('Expired', 'undelivered', 31, 'the handset is busy'),
    failure('Unknown', 'undelivered', 0),
    failure('Rejected', 'undelivered', 415, 'the receipt was refused'),
    failure('Failed', 'undelivered', 416, 'the receipt was of an unsupported kind'),
    failure('Failed', 'undelivered', 417, 'the receipt did not reach Sinch'),
    failure('Failed', 'undelivered', 418, 'the receipt was not understood'),
    failure('Failed', 'failed', 31_999),
    {
      title: 'a report without our reference and with a code that is no number',
      content: reportOf('Failed', '402', { client_reference: undefined }),
      expected: [
        {
          providerMessageId: batchId,
          state: 'failed',
          code: 'Failed',
          message: 'Sinch reports the message as Failed',
        },
      ],
    },
  ],
  malformedReceipts: [
    { title: 'an empty body', content: '' },
    { title: 'JSON cut short', content: reportOf('Delivered', 0).slice(0, -1) },
    { title: 'JSON that is no object', content: `["${batchId}"]` },
    { title: 'a report without a status', content: reportOf('Delivered', 0, { status: undefined }) },
    { title: 'a status that is not known', content: reportOf('Pondering', 0) },
    { title: 'a status that every object has', content: reportOf('__proto__', 0) },
    { title: 'a status that is a list', content: reportOf('', 0, { status: ['Delivered'] }) },
    { title: 'a report without a batch', content: reportOf('Delivered', 0, { batch_id: undefined }) },
    { title: 'a batch that is a number', content: reportOf('Delivered', 0, { batch_id: 7 }) },
    { title: 'the report of a batch', content: reportOf('Delivered', 0, { type: 'delivery_report_sms' }) },
    { title: 'an inbound message', content: reportOf('Delivered', 0, { type: 'mo_text' }) },
  ],

  sign: () => ({}),
  forgeries: [],
};
