// Infobip SMS API v3.
//
//   POST /sms/3/messages
//   Authorization: App {api key}
//   {"messages":[{"sender":"InfoSMS","destinations":[{"to":"41793026727","messageId":"…"}],"content":{"text":"Hello"},
//     "webhooks":{"delivery":{"url":"https://…","intermediateReport":false,"notify":true},
//                 "contentType":"application/json","callbackData":"…"}}]}
//
//   200 {"bulkId":"…","messages":[{"messageId":"…","destination":"41793026727",
//         "status":{"groupId":1,"groupName":"PENDING","id":26,"name":"PENDING_ACCEPTED","description":"Message sent to next instance"}}]}
//   A 200 may as well refuse: "status":{"groupId":5,"groupName":"REJECTED","id":12,"name":"REJECTED_NOT_ENOUGH_CREDITS",…}
//   400 {"errorCode":"E400","description":"…","action":"…","violations":[{"property":"messages[0].sender","violation":"…"}]}
//   401 {"requestError":{"serviceException":{"messageId":"UNAUTHORIZED","text":"Invalid login details"}}}  (older shape)
//
//   GET /sms/3/logs?messageId=…  (the last 48 hours)
//   200 {"results":[{"messageId":"…","destination":"41793026727","status":{…},"error":{…},…}]}
//
//   POST {url}, up to 100 reports in one call, unsigned unless it comes from a subscription with a secret
//   {"results":[{"messageId":"…","to":"41793026727","callbackData":"…","doneAt":"2019-11-09T16:00:00.000+0100",
//     "status":{"groupId":2,"groupName":"UNDELIVERABLE","id":9,"name":"UNDELIVERABLE_NOT_DELIVERED","description":"…"},
//     "error":{"groupId":2,"groupName":"USER_ERRORS","id":603,"name":"EC_CONTENT_BLOCKED","description":"…","permanent":true}}]}
import { createHmac } from 'node:crypto';
import { Type, type Static } from 'typebox';
import type { Clock } from '../lib/clock.ts';
import { Upstream, type HttpAdapterDependencies, type HttpAnswer } from './http.ts';
import {
  infobipDuplicateStatus,
  infobipOptOutErrors,
  infobipOtherRejection,
  infobipStatuses,
} from './infobip-errors.ts';
import { lookUp, type LookUpReading } from './look-up.ts';
import { ownMessageId } from './own-message-id.ts';
import type { Provider, Receipt, ReceiptReading, ReceiptRequest, SendRequest, SendResult } from './provider.ts';
import {
  asObject,
  classOfStatus,
  parseObject,
  readCode,
  readText,
  resultOfError,
  resultOfFault,
  resultOfStatus,
  shorten,
  type ErrorRow,
} from './result.ts';
import { senderWithoutPlus } from './sender.ts';
import { baseUrlSchema, timeoutMsSchema } from './settings.ts';
import { isSameText, isTimely } from './signature.ts';

const receiptSignatureSchema = Type.Object(
  {
    secret: Type.String({ minLength: 1, description: "Secret of the subscription's security settings." }),
    header: Type.String({ minLength: 1, description: 'Header that carries the signature in hexadecimal.' }),
    prefix: Type.String({ default: '', description: 'What stands before the signature in its header: `SHA256=`.' }),
    algorithm: Type.Union([Type.Literal('sha256'), Type.Literal('sha384'), Type.Literal('sha512')], {
      default: 'sha256',
      description: 'Hash of the HMAC.',
    }),
    timestampHeader: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Header with the time in milliseconds that is signed before the body; left out, the body alone is signed.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'Set when a subscription with HMAC security reports on messages. Infobip signs nothing that goes to a URL given with a message, so ' +
      'none is given then: the subscription must name the account-level receipt URL.',
  },
);

export const infobipSettingsSchema = Type.Object(
  {
    baseUrl: baseUrlSchema('https://api.infobip.com', "The account's own host is in the portal."),
    apiKey: Type.String({ minLength: 1, description: 'API key with the scope to send SMS.' }),
    receiptSignature: Type.Optional(receiptSignatureSchema),
    deliveredToOperatorIsDelivered: Type.Boolean({
      default: true,
      description:
        'DELIVERED_TO_OPERATOR counts as delivered: on routes without handset receipts it is the last word. Without this the handset is ' +
        'waited for.',
    }),
    timeoutMs: timeoutMsSchema,
  },
  { additionalProperties: false, description: 'Infobip SMS API v3.' },
);

export type InfobipSettings = Static<typeof infobipSettingsSchema>;

const statesByGroup: ReadonlyMap<unknown, Receipt['state']> = new Map([
  ['ACCEPTED', 'sent'],
  ['PENDING', 'sent'],
  ['DELIVERED', 'delivered'],
  ['UNDELIVERABLE', 'failed'],
  ['EXPIRED', 'undelivered'],
  ['REJECTED', 'failed'],
]);

/** DELIVERED_TO_OPERATOR, in the group DELIVERED. */
const operatorStatus = 2;

/** Blocked by the protection against fraud, reported under EXPIRED or REJECTED. */
const fraudBlockStatus = 87;

export function createInfobipProvider(
  settings: InfobipSettings,
  { clock, connectionsMax }: HttpAdapterDependencies,
): Provider {
  const upstream = new Upstream({
    baseUrl: settings.baseUrl,
    timeoutMs: settings.timeoutMs,
    connectionsMax,
    headers: {
      accept: 'application/json',
      authorization: `App ${settings.apiKey}`,
      'content-type': 'application/json',
    },
  });
  const isSubscribed = settings.receiptSignature !== undefined;
  const lookUpId = (id: string) =>
    lookUp(upstream, `/sms/3/logs?messageId=${encodeURIComponent(id)}`, clock, (content) =>
      readLogs(content, id, settings),
    );

  return {
    name: 'infobip',
    ...(isSubscribed ? { receiptsByMessageId: true } : {}),
    async send(request) {
      const result = await upstream.post('/sms/3/messages', JSON.stringify(contentOf(request, isSubscribed)));
      return result.kind === 'answer' ? readAnswer(result, clock) : resultOfFault(result);
    },
    readReceipts: (request) => readReceipts(request, settings, clock),
    lookUp: lookUpId,
    lookUpRef: (ref) => lookUpId(ownMessageId(ref)),
    close: () => upstream.close(),
  };
}

function contentOf({ to, from, body, callbackUrl, ref }: SendRequest, isSubscribed: boolean): object {
  const delivery = { ...(isSubscribed ? {} : { url: callbackUrl }), intermediateReport: false, notify: true };
  return {
    messages: [
      {
        sender: senderWithoutPlus(from),
        // An id of ours makes a repeated request recognisable: Infobip takes each id once.
        destinations: [{ to: to.slice(1), messageId: ownMessageId(ref) }],
        content: { text: body },
        webhooks: { delivery, contentType: 'application/json', callbackData: ref },
      },
    ],
  };
}

function readAnswer(answer: HttpAnswer, clock: Clock): SendResult {
  const content = parseObject(answer.body);
  if (content === undefined) return resultOfStatus(answer, clock);
  if (answer.status >= 300) return readProblem(content, answer, clock);

  const message = Array.isArray(content['messages']) ? asObject(content['messages'][0]) : undefined;
  const status = asObject(message?.['status']) ?? {};
  const id = readCode(status['id']) ?? '';
  if (isRefusal(status['groupName']) && id !== infobipDuplicateStatus) {
    return resultOfError(infobipStatuses.get(id) ?? infobipOtherRejection, answer, problemOf(status), clock);
  }
  const providerMessageId = readText(message?.['messageId']);
  return statesByGroup.has(status['groupName']) && providerMessageId !== undefined
    ? { outcome: 'accepted', providerMessageId }
    : resultOfStatus(answer, clock);
}

function readProblem(content: Record<string, unknown>, answer: HttpAnswer, clock: Clock): SendResult {
  const exception = asObject(asObject(content['requestError'])?.['serviceException']);
  const code = readText(content['errorCode'] ?? exception?.['messageId']);
  if (code === undefined) return resultOfStatus(answer, clock);
  const message = readText(content['description'] ?? exception?.['text']);
  const violations: unknown[] = Array.isArray(content['violations'])
    ? content['violations'].map((violation) => asObject(violation)?.['property'])
    : Object.keys(asObject(exception?.['validationErrors']) ?? {});
  return resultOfError(rowOfViolations(violations, answer), answer, { code, message }, clock);
}

/** Where one field is what is wrong, its name says more than the code. */
function rowOfViolations(violations: unknown[], { status }: HttpAnswer): ErrorRow | undefined {
  const [property] = violations;
  if (violations.length !== 1 || typeof property !== 'string' || classOfStatus(status) !== 'invalid_content') {
    return undefined;
  }
  if (/\bto$/.test(property)) return { class: 'invalid_recipient', text: 'invalid recipient' };
  return /\b(?:sender|from)$/.test(property) ? { class: 'invalid_sender', text: 'invalid sender' } : undefined;
}

function readReceipts(request: ReceiptRequest, settings: InfobipSettings, clock: Clock): ReceiptReading {
  const forgery = findForgery(request, settings, clock);
  if (forgery !== undefined) return { ok: false, problem: 'forged', reason: forgery };

  const results = parseObject(request.rawBody.toString())?.['results'];
  if (!Array.isArray(results)) return { ok: false, problem: 'malformed', reason: 'the body has no list of results' };
  const isAlone = results.length === 1;
  // One result that cannot be read must not cost the others.
  const receipts = results.map(asObject).flatMap((result) => {
    const receipt = result && receiptOf(result, settings);
    if (receipt === undefined) return [];
    // One of several that does not say whose it is, is not that of the URL: its id is no ref of anybody's.
    const ref = readText(result?.['callbackData']) ?? (isAlone ? undefined : receipt.providerMessageId);
    return [ref === undefined ? receipt : { ...receipt, ref }];
  });
  return receipts.length > 0 || results.length === 0
    ? { ok: true, receipts }
    : { ok: false, problem: 'malformed', reason: 'no result has a messageId and a status that is known' };
}

function readLogs({ results }: Record<string, unknown>, id: string, settings: InfobipSettings): LookUpReading {
  if (!Array.isArray(results)) return undefined;
  const log = results.map(asObject).find((candidate) => candidate?.['messageId'] === id);
  return log === undefined ? 'not_found' : receiptOf(log, settings);
}

function receiptOf(result: Record<string, unknown>, settings: InfobipSettings): Receipt | undefined {
  const providerMessageId = readText(result['messageId']);
  const status = asObject(result['status']) ?? {};
  const groupState = statesByGroup.get(status['groupName']);
  if (providerMessageId === undefined || groupState === undefined) return undefined;
  const awaitsHandset = status['id'] === operatorStatus && !settings.deliveredToOperatorIsDelivered;
  if (!isRefusal(status['groupName'])) return { providerMessageId, state: awaitsHandset ? 'sent' : groupState };

  const error = asObject(result['error']) ?? {};
  const hasError = typeof error['id'] === 'number' && error['id'] > 0;
  const { code, message } = problemOf(hasError ? error : status);
  const isOptOut = infobipStatuses.get(readCode(status['id']) ?? '')?.optOut ?? infobipOptOutErrors.has(error['id']);
  return {
    providerMessageId,
    state: status['id'] === fraudBlockStatus ? 'failed' : groupState,
    code,
    message: shorten(message ?? `Infobip reports the message as ${code}`),
    ...(isOptOut ? { optOut: true } : {}),
  };
}

function isRefusal(groupName: unknown): boolean {
  const state = statesByGroup.get(groupName);
  return state === 'failed' || state === 'undelivered';
}

/** Names, because the ids of statuses and of errors overlap. */
function problemOf({ id, name, description }: Record<string, unknown>): { code: string; message: string | undefined } {
  return { code: shorten(readText(name) ?? readCode(id) ?? 'unknown'), message: readText(description) };
}

/** Why a call cannot be Infobip's own, or `undefined` where it is, or where nothing but the URL proves it. */
function findForgery(
  { headers, rawBody }: ReceiptRequest,
  { receiptSignature }: InfobipSettings,
  clock: Clock,
): string | undefined {
  if (receiptSignature === undefined) return undefined;
  const { secret, header, prefix, algorithm, timestampHeader } = receiptSignature;
  const hmac = createHmac(algorithm, secret);
  if (timestampHeader !== undefined) {
    const timestamp = headers[timestampHeader.toLowerCase()];
    if (typeof timestamp !== 'string' || !/^\d{1,15}$/.test(timestamp)) return `there is no time in ${timestampHeader}`;
    if (!isTimely(Number(timestamp), clock)) return `${timestampHeader} is too old or in the future`;
    hmac.update(timestamp);
  }
  const signature = headers[header.toLowerCase()];
  return isSameText(signature, prefix + hmac.update(rawBody).digest('hex'))
    ? undefined
    : `${header} is missing or does not match the body`;
}
