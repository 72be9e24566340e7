import type { Receipt } from '../../src/providers/provider.ts';
import { createTwilioProvider } from '../../src/providers/twilio.ts';
import { messageWith, resultOf, type AdapterCases } from './cases.ts';
import { twilioSettings, twilioSignature } from './twilio-signature.ts';

/** Twilio's documented codes by what they mean for an attempt, written down apart from the adapter's own table. */
export const twilioCodesByClass = {
  throttled: [14107, 20429, 21611, 30001, 30017, 30022, 30023, 30027, 63017, 63018],
  unavailable: [20500, 20503, 30020, 30021, 30410, 30500, 63010],
  invalid_recipient: [21211, 21214, 21217, 21266, 21401, 21407, 21604, 21612, 21614, 30003, 30005, 30006],
  invalid_sender: [
    14108, 21210, 21212, 21603, 21606, 21607, 21616, 21657, 21659, 21660, 21661, 21701, 21702, 21703, 21704, 21705,
    21709, 30018, 30024, 30032, 30034, 30035, 63007,
  ],
  invalid_content: [
    20001, 20422, 21602, 21605, 21609, 21617, 21618, 21619, 21620, 21623, 21624, 21626, 30012, 30013, 30019,
  ],
  blocked: [21216, 21219, 21408, 21608, 21610, 30004, 30007, 30033, 30450, 30453],
  billing: [10001, 20005, 30002],
  credentials: [10002, 20003, 20006, 20008, 20010, 20403, 20404],
} as const;

type TwilioClass = keyof typeof twilioCodesByClass;

const usualStatus: Partial<Record<TwilioClass, number>> = { throttled: 429, unavailable: 500, credentials: 401 };

function refusals(errorClass: TwilioClass): AdapterCases['refusals'] {
  return twilioCodesByClass[errorClass].map((code) => {
    const message = `what Twilio says about ${code}`;
    return {
      title: `${code} as ${errorClass}`,
      answer: {
        status: usualStatus[errorClass] ?? 400,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status: 400 }),
      },
      expected: resultOf(errorClass, { code: String(code), message, ...(code === 21610 ? { optOut: true } : {}) }),
    };
  });
}

function wireOf(form: string): AdapterCases['messages'][number]['wire'] {
  return {
    method: 'POST',
    path: '/2010-04-01/Accounts/AC0123456789abcdef0123456789abcdef/Messages.json',
    headers: {
      accept: 'application/json',
      authorization: 'Basic QUMwMTIzNDU2Nzg5YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZjoxMjM0NQ==',
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: `${form}&StatusCallback=https%3A%2F%2Fsms.example.com%2Freceipts%2Fupstream%2FAbC-123_x`,
  };
}

const messageSid = 'SM1342fe1b2c904d1ab04f0fc7a58abca9';

export function twilioCallback(fields: Record<string, string>): string {
  return new URLSearchParams({
    MessageSid: messageSid,
    SmsSid: messageSid,
    AccountSid: twilioSettings.accountSid,
    From: '+15017250604',
    To: '+15558675310',
    ApiVersion: '2010-04-01',
    ...fields,
  }).toString();
}

function progress(status: string, state: Receipt['state']): AdapterCases['receipts'][number] {
  return {
    title: `${status} as ${state}`,
    content: twilioCallback({ MessageStatus: status }),
    expected: [{ providerMessageId: messageSid, state }],
  };
}

function failure(
  status: string,
  state: Receipt['state'],
  code = '',
  message = `Twilio reports the message as ${status}`,
) {
  return {
    title: `${status} ${code || 'without a code'} as ${state}`,
    content: twilioCallback({ MessageStatus: status, ...(code ? { ErrorCode: code } : {}) }),
    expected: [{ providerMessageId: messageSid, state, code: code || status, message }],
  };
}

function lookedUp(status: string, errorCode: number | null, receipt: Partial<Receipt>) {
  return {
    answer: {
      status: 200,
      body: JSON.stringify({ sid: messageSid, status, error_code: errorCode, from: '+15017250604', num_segments: '1' }),
    },
    expected: { providerMessageId: messageSid, state: 'sent' as const, ...receipt },
  };
}

export const twilioCases: AdapterCases = {
  name: 'twilio',
  create: ({ baseUrl, timeoutMs, clock }) => createTwilioProvider({ ...twilioSettings, baseUrl, timeoutMs }, { clock }),
  accepted: {
    answer: {
      status: 201,
      headers: { 'content-type': 'application/json;charset=utf-8' },
      body: JSON.stringify({ sid: messageSid, status: 'queued', num_segments: '1', price: null, error_code: null }),
    },
    providerMessageId: messageSid,
  },

  messages: [
    {
      title: 'GSM-7 from an alphanumeric sender',
      request: messageWith({ body: 'Hello @ £10 & [more] = 100%+', from: 'My Shop' }),
      wire: wireOf(
        'To=%2B447700900123&From=My%20Shop&Body=Hello%20%40%20%C2%A310%20%26%20%5Bmore%5D%20%3D%20100%25%2B',
      ),
    },
    {
      title: 'UCS-2 from a long number',
      request: messageWith({ body: 'Привет 😀\r\n', encoding: 'ucs2', from: '+15005550006' }),
      wire: wireOf(
        'To=%2B447700900123&From=%2B15005550006&Body=%D0%9F%D1%80%D0%B8%D0%B2%D0%B5%D1%82%20%F0%9F%98%80%0D%0A',
      ),
    },
    {
      title: 'a long number that was given without its plus',
      request: messageWith({ from: '15005550006' }),
      wire: wireOf('To=%2B447700900123&From=%2B15005550006&Body=Hello'),
    },
    {
      title: 'the longest body, as one request',
      request: messageWith({ body: 'a'.repeat(1_600), segments: 11 }),
      wire: wireOf(`To=%2B447700900123&From=HELIO&Body=${'a'.repeat(1_600)}`),
    },
    {
      title: 'a short code, which takes no plus',
      request: messageWith({ from: '+40404' }),
      wire: wireOf('To=%2B447700900123&From=40404&Body=Hello'),
    },
  ],

  refusals: [
    ...(Object.keys(twilioCodesByClass) as TwilioClass[]).flatMap(refusals),
    {
      title: 'a code that is not in the table by its status',
      answer: { status: 400, body: '{"code":29999,"message":"something new","status":400}' },
      expected: { outcome: 'rejected', class: 'invalid_content', code: '29999', message: 'something new' },
    },
    {
      title: 'a code of a 5xx that is not in the table as unavailable',
      answer: { status: 503, body: '{"code":29999,"message":"something new","status":503}' },
      expected: { outcome: 'retryable', reason: 'unavailable', code: '29999', message: 'something new' },
    },
    {
      title: 'Retry-After of a 20429',
      answer: { status: 429, headers: { 'Retry-After': '2' }, body: '{"code":20429,"message":"Too Many Requests"}' },
      expected: {
        outcome: 'retryable',
        reason: 'throttled',
        code: '20429',
        message: 'Too Many Requests',
        retryAfterMs: 2_000,
      },
    },
    {
      title: 'a code without a text, which is given ours',
      answer: { status: 400, body: '{"code":21614}' },
      expected: resultOf('invalid_recipient', { code: '21614', message: 'the recipient is not a mobile number' }),
    },
  ],

  lookUps: {
    providerMessageId: messageSid,
    wire: {
      method: 'GET',
      path: `/2010-04-01/Accounts/${twilioSettings.accountSid}/Messages/${messageSid}.json`,
      headers: {
        accept: 'application/json',
        authorization: 'Basic QUMwMTIzNDU2Nzg5YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZjoxMjM0NQ==',
      },
      body: '',
    },
    found: [
      { title: 'a message on its way', ...lookedUp('sending', null, { state: 'sent' }) },
      { title: 'a delivered message', ...lookedUp('delivered', null, { state: 'delivered' }) },
      {
        title: 'a failed message',
        ...lookedUp('undelivered', 30005, { state: 'failed', code: '30005', message: 'unknown handset' }),
      },
      {
        title: 'a message without an outcome',
        ...lookedUp('failed', 30036, {
          state: 'undelivered',
          code: '30036',
          message: 'the validity period ran out',
        }),
      },
    ],
    notFound: [],
    unclear: [{ title: 'the status of an inbound message', answer: lookedUp('received', null, {}).answer }],
  },

  receipts: [
    ...['accepted', 'scheduled', 'queued', 'sending', 'sent'].map((status) => progress(status, 'sent')),
    ...['delivered', 'read', 'partially_delivered'].map((status) => progress(status, 'delivered')),
    failure('undelivered', 'undelivered'),
    failure('undelivered', 'undelivered', '30003', 'unreachable handset'),
    failure('undelivered', 'undelivered', '30008', 'unknown error'),
    failure('undelivered', 'undelivered', '30017', 'the carrier network is congested'),
    failure('undelivered', 'undelivered', '30410', 'the carrier did not answer in time'),
    failure('undelivered', 'undelivered', '30500', 'internal error'),
    failure('undelivered', 'failed', '30005', 'unknown handset'),
    failure('undelivered', 'failed', '30036', 'the validity period ran out'),
    failure('undelivered', 'failed', '31999'),
    failure('failed', 'failed'),
    failure('failed', 'undelivered', '30001', 'queue overflow'),
    failure('failed', 'undelivered', '30036', 'the validity period ran out'),
    failure('failed', 'undelivered', '30410', 'the carrier did not answer in time'),
    failure('failed', 'undelivered', '30500', 'internal error'),
    failure('failed', 'failed', '30008', 'unknown error'),
    failure('failed', 'failed', '30007', 'filtered by the carrier as spam'),
    failure('failed', 'failed', '30004', 'blocked by the recipient or the carrier'),
    failure('canceled', 'failed'),
    {
      title: 'an opt-out',
      content: twilioCallback({ MessageStatus: 'failed', ErrorCode: '21610' }),
      expected: [
        {
          providerMessageId: messageSid,
          state: 'failed',
          code: '21610',
          message: 'the recipient opted out',
          optOut: true,
        },
      ],
    },
    {
      title: 'an opt-out from a toll-free sender',
      content: twilioCallback({ MessageStatus: 'undelivered', ErrorCode: '30004', From: '+18885550123' }),
      expected: [
        {
          providerMessageId: messageSid,
          state: 'failed',
          code: '30004',
          message: 'blocked by the recipient or the carrier',
          optOut: true,
        },
      ],
    },
    {
      title: 'a callback with fields that are not known yet, one of them twice',
      content: `${twilioCallback({ MessageStatus: 'delivered', RawDlrDoneDate: '2301011200' })}&New=2&New=1&New=2&=`,
      expected: [{ providerMessageId: messageSid, state: 'delivered' }],
    },
  ],
  malformedReceipts: [
    { title: 'an empty body', content: '' },
    { title: 'a callback without MessageSid', content: 'MessageStatus=delivered' },
    { title: 'a callback without MessageStatus', content: `MessageSid=${messageSid}` },
    { title: 'the status of an inbound message', content: twilioCallback({ MessageStatus: 'received' }) },
    {
      title: 'a status named after something every object has',
      content: twilioCallback({ MessageStatus: '__proto__' }),
    },
  ],

  sign: ({ url, rawBody }) => ({ 'x-twilio-signature': twilioSignature(twilioSettings.authToken, url, rawBody) }),
  forgeries: [
    { title: 'another URL', forge: (receipt) => ({ ...receipt, url: `${receipt.url}y` }) },
    {
      title: "another account's token",
      forge: (receipt) => ({
        ...receipt,
        headers: { 'x-twilio-signature': twilioSignature('54321', receipt.url, receipt.rawBody) },
      }),
    },
    { title: 'an empty signature', forge: (receipt) => ({ ...receipt, headers: { 'x-twilio-signature': '' } }) },
    {
      title: 'two signatures',
      forge: ({ headers, ...receipt }) => ({
        ...receipt,
        headers: { 'x-twilio-signature': [String(headers['x-twilio-signature']), 'another'] },
      }),
    },
    {
      title: 'a field that was added',
      forge: (receipt) => ({ ...receipt, rawBody: Buffer.concat([receipt.rawBody, Buffer.from('&Added=1')]) }),
    },
  ],
};
