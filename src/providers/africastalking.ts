// Africa's Talking messaging API.
//
//   POST /version1/messaging
//   apiKey: {API key}
//   username=heliograph&to=%2B254711000000&message=Hello&from=SENDERID&bulkSMSMode=1
//
//   201 {"SMSMessageData":{"Message":"Sent to 1/1 Total Cost: KES 0.8000","Recipients":[{"statusCode":101,"number":"+254711000000",
//         "status":"Success","cost":"KES 0.8000","messageId":"ATPid_…"}]}}
//   A 201 may as well refuse: {"statusCode":406,"status":"UserInBlacklist","messageId":"None",…}
//   or, for the whole request: {"SMSMessageData":{"Message":"InvalidSenderId","Recipients":[]}}
//   401 The supplied authentication is invalid   (plain text)
//
//   POST {the account's URL, typed into its dashboard}, unsigned
//   id=ATPid_…&status=Failed&phoneNumber=%2B254711000000&networkCode=63902&failureReason=UserInBlackList&retryCount=0
import { Type, type Static } from 'typebox';
import type { Clock } from '../lib/clock.ts';
import { Upstream, type HttpAdapterDependencies, type HttpAnswer } from './http.ts';
import type { Provider, Receipt, ReceiptReading, ReceiptRequest, SendRequest, SendResult } from './provider.ts';
import {
  asObject,
  parseObject,
  readCode,
  readText,
  resultOfError,
  resultOfFault,
  resultOfStatus,
  shorten,
  type ErrorRow,
  type ErrorTable,
} from './result.ts';
import { senderWithPlus } from './sender.ts';
import { baseUrlSchema, timeoutMsSchema } from './settings.ts';

export const africastalkingSettingsSchema = Type.Object(
  {
    baseUrl: baseUrlSchema('https://api.africastalking.com', 'Sandbox: https://api.sandbox.africastalking.com.'),
    username: Type.String({ minLength: 1, description: 'Username of the application; `sandbox` in the sandbox.' }),
    apiKey: Type.String({ minLength: 1, description: 'API key of the application.' }),
    timeoutMs: timeoutMsSchema,
  },
  { additionalProperties: false, description: "Africa's Talking messaging API." },
);

export type AfricastalkingSettings = Static<typeof africastalkingSettingsSchema>;

/** Processed, sent, queued. */
const acceptedCodes: ReadonlySet<string> = new Set(['100', '101', '102']);

/** `statusCode` of a recipient in the answer to a send, which has the status 201 all the same. */
export const africastalkingErrors: ErrorTable = new Map([
  ['500', { class: 'unavailable', text: 'internal error' }],
  ['501', { class: 'unavailable', text: 'error of the gateway' }],
  ['502', { class: 'unavailable', text: 'rejected by the gateway' }],

  ['403', { class: 'invalid_recipient', text: 'invalid recipient' }],
  ['404', { class: 'invalid_recipient', text: 'the number is of a type that is not supported' }],
  ['407', { class: 'invalid_recipient', text: 'no route to the recipient' }],

  ['402', { class: 'invalid_sender', text: 'invalid sender' }],

  ['401', { class: 'blocked', text: 'held for its risk' }],
  ['406', { class: 'blocked', text: 'the recipient opted out', optOut: true }],
  ['409', { class: 'blocked', text: 'the recipient wants no such messages' }],

  ['405', { class: 'billing', text: 'the account has no credit' }],
]);

/** A refusal for a reason not listed above: certainly not sent, so another upstream may try. */
const africastalkingOtherRefusal: ErrorRow = { class: 'unsupported', text: 'refused' };

/** The names of the codes, which stand alone where the whole request is refused. */
export const africastalkingCodes: ReadonlyMap<string, string> = new Map([
  ['RiskHold', '401'],
  ['InvalidSenderId', '402'],
  ['InvalidPhoneNumber', '403'],
  ['UnsupportedNumberType', '404'],
  ['InsufficientBalance', '405'],
  ['UserInBlacklist', '406'],
  ['CouldNotRoute', '407'],
  ['DoNotDisturbRejection', '409'],
  ['InternalServerError', '500'],
  ['GatewayError', '501'],
  ['RejectedByGateway', '502'],
]);

/** `failureReason` of receipts in lower case, because its spelling varies (`UserInBlackList`, `UserInBlacklist`). */
export const africastalkingReasons: ReadonlyMap<string, { text: string; optOut?: true; isWithoutRefusal?: true }> =
  new Map([
    ['insufficientcredit', { text: 'the recipient has no credit' }],
    ['invalidlinkid', { text: 'invalid link of a premium message' }],
    ['userisinactive', { text: 'the recipient is inactive' }],
    ['userinblacklist', { text: 'the recipient opted out', optOut: true }],
    ['useraccountsuspended', { text: 'the recipient is suspended' }],
    ['notnetworksubcriber', { text: 'the recipient is not of this network' }],
    ['usernotsubscribedtoproduct', { text: 'the recipient has not subscribed' }],
    ['userdoesnotexist', { text: 'the recipient does not exist' }],
    ['deliveryfailure', { text: 'the message could not be delivered', isWithoutRefusal: true }],
    ['usernotreachable', { text: 'the recipient cannot be reached', isWithoutRefusal: true }],
  ]);

const receiptStates: ReadonlyMap<string, Receipt['state']> = new Map([
  ['Sent', 'sent'],
  ['Submitted', 'sent'],
  ['Buffered', 'sent'],
  ['Success', 'delivered'],
  ['Rejected', 'failed'],
  ['Failed', 'failed'],
  ['Expired', 'undelivered'],
  ['AbsentSubscriber', 'undelivered'],
]);

export function createAfricastalkingProvider(
  settings: AfricastalkingSettings,
  { clock, connectionsMax }: HttpAdapterDependencies,
): Provider {
  const upstream = new Upstream({
    baseUrl: settings.baseUrl,
    timeoutMs: settings.timeoutMs,
    connectionsMax,
    headers: {
      accept: 'application/json',
      apikey: settings.apiKey,
      'content-type': 'application/x-www-form-urlencoded',
    },
  });

  return {
    name: 'africastalking',
    receiptsByMessageId: true,
    async send(request) {
      const result = await upstream.post('/version1/messaging', formOf(request, settings.username));
      return result.kind === 'answer' ? readAnswer(result, clock) : resultOfFault(result);
    },
    readReceipts,
    close: () => upstream.close(),
  };
}

function formOf({ to, from, body }: SendRequest, username: string): string {
  // The mode of bulk messages is the one in which the sender pays.
  return new URLSearchParams({ username, to, message: body, from: senderWithPlus(from), bulkSMSMode: '1' }).toString();
}

function readAnswer(answer: HttpAnswer, clock: Clock): SendResult {
  if (answer.status >= 300) {
    const text = /^[^<{[]/.test(answer.body) ? answer.body.trim() : undefined;
    return resultOfError(undefined, answer, { code: `http_${answer.status}`, message: text }, clock);
  }
  const data = asObject(parseObject(answer.body)?.['SMSMessageData']);
  const recipients = data?.['Recipients'];
  if (!Array.isArray(recipients)) return resultOfStatus(answer, clock);
  const [recipient] = recipients.map(asObject);
  return recipient === undefined
    ? readRefusal(readText(data?.['Message']), recipients.length, answer, clock)
    : readRecipient(recipient, answer, clock);
}

/** An answer without recipients: the request was refused as a whole, and the message may be the name of a code. */
function readRefusal(message: string | undefined, recipients: number, answer: HttpAnswer, clock: Clock): SendResult {
  if (recipients > 0 || message === undefined) return resultOfStatus(answer, clock);
  const code = africastalkingCodes.get(message);
  const row = africastalkingErrors.get(code ?? '') ?? africastalkingOtherRefusal;
  return resultOfError(row, answer, { code: code ?? 'refused', message }, clock);
}

function readRecipient(recipient: Record<string, unknown>, answer: HttpAnswer, clock: Clock): SendResult {
  const code = readCode(recipient['statusCode']) ?? '';
  if (acceptedCodes.has(code)) {
    const id = readText(recipient['messageId']);
    return id === undefined || id === 'None'
      ? resultOfStatus(answer, clock)
      : { outcome: 'accepted', providerMessageId: id };
  }
  if (!/^[45]\d\d$/.test(code)) return resultOfStatus(answer, clock);
  const row = africastalkingErrors.get(code) ?? africastalkingOtherRefusal;
  return resultOfError(row, answer, { code, message: readText(recipient['status']) }, clock);
}

/** Nothing is signed: that the call came to the account's unguessable URL is all the proof there is. */
function readReceipts({ rawBody }: ReceiptRequest): ReceiptReading {
  const fields = new URLSearchParams(rawBody.toString());
  const providerMessageId = readText(fields.get('id'));
  const status = fields.get('status') ?? '';
  const state = receiptStates.get(status);
  if (providerMessageId === undefined || state === undefined) {
    return { ok: false, problem: 'malformed', reason: 'there is no id or no status that is known' };
  }
  if (state === 'sent' || state === 'delivered') return { ok: true, receipts: [{ providerMessageId, state }] };

  const reason = fields.get('failureReason') ?? '';
  const known = africastalkingReasons.get(reason.toLowerCase());
  const receipt: Receipt = {
    providerMessageId,
    state: known?.isWithoutRefusal ? 'undelivered' : state,
    code: shorten(reason || status),
    message: known?.text ?? `Africa's Talking reports the message as ${status}`,
    ...(known?.optOut ? { optOut: true } : {}),
  };
  return { ok: true, receipts: [receipt] };
}
