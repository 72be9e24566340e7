// Twilio Programmable Messaging, API 2010-04-01.
//
//   POST /2010-04-01/Accounts/AC…/Messages.json
//   Authorization: Basic base64(AC…:token or SK…:secret)
//   To=%2B14155552671&From=%2B15005550006&Body=Hello&StatusCallback=https%3A%2F%2F…
//
//   201 {"sid":"SM…","status":"queued","num_segments":"1","price":null,"error_code":null,…}
//   400 {"code":21211,"message":"Invalid 'To' Phone Number","more_info":"https://…/errors/21211","status":400}
//
//   GET /2010-04-01/Accounts/AC…/Messages/SM….json
//   200 {"sid":"SM…","status":"undelivered","error_code":30005,"from":"+17372008852",…}
//
//   POST {StatusCallback}
//   X-Twilio-Signature: base64(HMAC-SHA1(account's auth token, URL + every field's name and value, sorted))
//   MessageSid=SM…&MessageStatus=undelivered&ErrorCode=30005&AccountSid=AC…&From=%2B15017250604&To=%2B15558675310&…
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { Type, type Static } from 'typebox';
import type { Clock } from '../lib/clock.ts';
import { Upstream, type HttpAdapterDependencies, type HttpAnswer } from './http.ts';
import { lookUp, type LookUpReading } from './look-up.ts';
import type { Provider, Receipt, ReceiptReading, ReceiptRequest, SendRequest, SendResult } from './provider.ts';
import { parseObject, readCode, readText, resultOfError, resultOfFault, resultOfStatus } from './result.ts';
import { senderWithPlus } from './sender.ts';
import { baseUrlSchema, timeoutMsSchema } from './settings.ts';
import { isSameText, sortedFields } from './signature.ts';
import {
  twilioErrors,
  twilioFailedWithoutRefusal,
  twilioReceiptTexts,
  twilioUndeliveredWithoutRefusal,
} from './twilio-errors.ts';

export const twilioSettingsSchema = Type.Object(
  {
    baseUrl: baseUrlSchema('https://api.twilio.com', 'Other regions: https://api.{edge}.{region}.twilio.com.'),
    accountSid: Type.String({ pattern: '^AC[0-9A-Za-z]{32}$', description: 'Account SID.' }),
    authToken: Type.String({
      minLength: 1,
      description:
        "The account's primary auth token. It verifies receipts, and authenticates sends where no API key is set.",
    }),
    apiKey: Type.Optional(
      Type.Object(
        {
          sid: Type.String({ pattern: '^SK[0-9A-Za-z]{32}$', description: 'SID of the API key.' }),
          secret: Type.String({ minLength: 1, description: 'Secret of the API key.' }),
        },
        { additionalProperties: false, description: 'Authenticates sends in place of the auth token.' },
      ),
    ),
    messagingServiceSid: Type.Optional(
      Type.String({
        pattern: '^MG[0-9A-Za-z]{32}$',
        description: "Messaging Service whose rules apply to every message; its pool must hold the accounts' senders.",
      }),
    ),
    timeoutMs: timeoutMsSchema,
  },
  { additionalProperties: false, description: 'Twilio Programmable Messaging (API 2010-04-01).' },
);

export type TwilioSettings = Static<typeof twilioSettingsSchema>;

type ReceiptState = Receipt['state'];

const receiptStates: ReadonlyMap<string, ReceiptState> = new Map([
  ['accepted', 'sent'],
  ['scheduled', 'sent'],
  ['queued', 'sent'],
  ['sending', 'sent'],
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'delivered'],
  ['partially_delivered', 'delivered'],
  ['undelivered', 'failed'],
  ['failed', 'failed'],
  ['canceled', 'failed'],
]);

export function createTwilioProvider(
  settings: TwilioSettings,
  { clock, connectionsMax }: HttpAdapterDependencies,
): Provider {
  const { accountSid, authToken, apiKey, messagingServiceSid } = settings;
  const signingKey = createSecretKey(authToken, 'utf8');
  const credentials = apiKey === undefined ? `${accountSid}:${authToken}` : `${apiKey.sid}:${apiKey.secret}`;
  const upstream = new Upstream({
    baseUrl: settings.baseUrl,
    timeoutMs: settings.timeoutMs,
    connectionsMax,
    headers: {
      accept: 'application/json',
      authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
  });
  const path = `/2010-04-01/Accounts/${accountSid}/Messages`;
  // With both given, Twilio sends from `From`, which must be in the service's pool.
  const formEnd = messagingServiceSid === undefined ? '' : `&MessagingServiceSid=${messagingServiceSid}`;

  return {
    name: 'twilio',
    async send(request) {
      const result = await upstream.post(`${path}.json`, formOf(request) + formEnd);
      return result.kind === 'answer' ? readAnswer(result, clock) : resultOfFault(result);
    },
    readReceipts: (request) => readReceipts(request, signingKey),
    lookUp: (sid) => lookUp(upstream, `${path}/${encodeURIComponent(sid)}.json`, clock, readMessage),
    close: () => upstream.close(),
  };
}

function formOf({ to, from, body, callbackUrl }: SendRequest): string {
  return (
    `To=${encodeURIComponent(to)}&From=${encodeURIComponent(senderWithPlus(from))}` +
    `&Body=${encodeURIComponent(body)}&StatusCallback=${encodeURIComponent(callbackUrl)}`
  );
}

function readAnswer(answer: HttpAnswer, clock: Clock): SendResult {
  const content = parseObject(answer.body);
  if (answer.status < 300) {
    const sid = readText(content?.['sid']);
    return sid === undefined ? resultOfStatus(answer, clock) : { outcome: 'accepted', providerMessageId: sid };
  }
  const code = content?.['code'];
  if (typeof code !== 'number') return resultOfStatus(answer, clock);
  const message = content?.['message'];
  return resultOfError(
    twilioErrors.get(String(code)),
    answer,
    { code: String(code), message: typeof message === 'string' ? message : undefined },
    clock,
  );
}

function readReceipts(request: ReceiptRequest, signingKey: KeyObject): ReceiptReading {
  const signature = request.headers['x-twilio-signature'];
  if (typeof signature !== 'string') {
    return { ok: false, problem: 'forged', reason: 'there is no X-Twilio-Signature header' };
  }
  const fields = new URLSearchParams(request.rawBody.toString());
  const signedFields = signedTextOf(fields);
  if (!signableUrls(request.url).some((url) => isSignature(signature, url + signedFields, signingKey))) {
    return { ok: false, problem: 'forged', reason: 'X-Twilio-Signature does not match the request' };
  }

  const providerMessageId = readText(fields.get('MessageSid'));
  if (providerMessageId === undefined) return { ok: false, problem: 'malformed', reason: 'there is no MessageSid' };
  const receipt = receiptOf({
    providerMessageId,
    status: fields.get('MessageStatus') ?? '',
    errorCode: fields.get('ErrorCode') ?? '',
    from: fields.get('From') ?? '',
  });
  return receipt === undefined
    ? { ok: false, problem: 'malformed', reason: 'MessageStatus is missing or not one of an outbound message' }
    : { ok: true, receipts: [receipt] };
}

function readMessage(content: Record<string, unknown>): LookUpReading {
  const providerMessageId = readText(content['sid']);
  if (providerMessageId === undefined) return undefined;
  return receiptOf({
    providerMessageId,
    status: readText(content['status']) ?? '',
    errorCode: readCode(content['error_code']) ?? '',
    from: readText(content['from']) ?? '',
  });
}

type MessageStatus = { providerMessageId: string; status: string; errorCode: string; from: string };

function receiptOf({ providerMessageId, status, errorCode, from }: MessageStatus): Receipt | undefined {
  const state = receiptStates.get(status);
  if (state !== 'failed') return state && { providerMessageId, state };
  const code = /^[1-9]\d{0,5}$/.exec(errorCode)?.[0];
  const row = code === undefined ? undefined : twilioErrors.get(code);
  const text = row?.text ?? (code === undefined ? undefined : twilioReceiptTexts.get(code));
  return {
    providerMessageId,
    state: isWithoutRefusal(status, code) ? 'undelivered' : 'failed',
    code: code ?? status,
    message: text ?? `Twilio reports the message as ${status}`,
    ...(row?.optOut || isTollFreeOptOut(code, from) ? { optOut: true } : {}),
  };
}

function isWithoutRefusal(status: string, code: string | undefined): boolean {
  if (status === 'undelivered') return code === undefined || twilioUndeliveredWithoutRefusal.has(code);
  return status === 'failed' && code !== undefined && twilioFailedWithoutRefusal.has(code);
}

/** 30004 has many causes; from a toll-free sender it is the carrier's way of saying that the recipient sent STOP. */
function isTollFreeOptOut(code: string | undefined, from: string): boolean {
  return code === '30004' && /^\+18(?:00|33|44|55|66|77|88)\d{7}$/.test(from);
}

/** Every field takes part, fields added later by Twilio too; of a repeated one each distinct value, sorted. */
function signedTextOf(fields: URLSearchParams): string {
  const sorted = sortedFields(fields);
  return sorted
    .filter(([name, value], index) => name !== sorted[index - 1]?.[0] || value !== sorted[index - 1]?.[1])
    .map(([name, value]) => name + value)
    .join('');
}

/** Twilio signs the URL with or without its port, whatever was configured. The fragment never takes part. */
function signableUrls(url: string): string[] {
  const parts = /^(https?:\/\/)([^/?#]*?)(:\d+)?(?=[/?#]|$)([^#]*)/i.exec(url);
  if (parts === null) return [];
  const [, scheme = '', host = '', port, rest = ''] = parts;
  const standardPort = scheme.toLowerCase() === 'https://' ? ':443' : ':80';
  const withPort = scheme + host + (port ?? standardPort) + rest;
  const withoutPort = scheme + host + rest;
  return port === undefined ? [withoutPort, withPort] : [withPort, withoutPort];
}

function isSignature(signature: string, text: string, signingKey: KeyObject): boolean {
  return isSameText(signature, createHmac('sha1', signingKey).update(text).digest('base64'));
}
