import type { ErrorRow, ErrorTable } from './result.ts';

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
export const africastalkingOtherRefusal: ErrorRow = { class: 'unsupported', text: 'refused' };

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
