import type { ErrorRow, ErrorTable } from './result.ts';

/** Telnyx's codes, the same for refused sends and for the errors of an event. */
export const telnyxErrors: ErrorTable = new Map([
  ['10011', { class: 'throttled', text: 'too many requests' }],
  ['40002', { class: 'throttled', text: 'held as spam for now' }],
  ['40011', { class: 'throttled', text: 'too many messages for the carrier' }],
  ['40016', { class: 'throttled', text: 'daily limit of T-Mobile reached' }],
  ['40018', { class: 'throttled', text: 'rate limit of AT&T exceeded' }],
  ['40318', { class: 'throttled', text: 'the queue is full' }],

  ['10007', { class: 'unavailable', text: 'unexpected error' }],
  ['10008', { class: 'unavailable', text: 'the request timed out' }],
  ['40006', { class: 'unavailable', text: 'the server of the recipient is not available' }],
  ['40320', { class: 'unavailable', text: 'the sender cannot be used for now' }],

  ['40001', { class: 'invalid_recipient', text: 'the recipient is a landline or has no route' }],
  ['40008', { class: 'invalid_recipient', text: 'undeliverable' }],
  ['40012', { class: 'invalid_recipient', text: 'invalid recipient' }],
  ['40301', { class: 'invalid_recipient', text: 'the recipient cannot receive this message' }],
  ['40310', { class: 'invalid_recipient', text: 'invalid recipient' }],
  ['40319', { class: 'invalid_recipient', text: 'the recipient cannot receive this message' }],

  ['40010', { class: 'invalid_sender', text: 'the sender is not registered for 10DLC' }],
  ['40013', { class: 'invalid_sender', text: 'invalid sender' }],
  ['40100', { class: 'invalid_sender', text: 'the sender cannot send this message' }],
  ['40150', { class: 'invalid_sender', text: 'the sender cannot send this message' }],
  ['40151', { class: 'invalid_sender', text: 'the sender cannot send this message' }],
  // Its other meaning is `telnyxOptOut`.
  ['40300', { class: 'invalid_sender', text: 'the sender is not assigned to a messaging profile' }],
  ['40305', { class: 'invalid_sender', text: 'invalid sender' }],
  ['40306', { class: 'invalid_sender', text: 'alphanumeric senders are not configured' }],
  ['40308', { class: 'invalid_sender', text: 'the sender cannot send this message' }],
  ['40315', { class: 'invalid_sender', text: 'the sender is unhealthy' }],
  ['40321', { class: 'invalid_sender', text: 'no usable number in the pool' }],
  ['40329', { class: 'invalid_sender', text: 'the toll-free number is not verified' }],

  ['10002', { class: 'invalid_content', text: 'invalid phone number' }],
  ['10003', { class: 'invalid_content', text: 'invalid URL' }],
  ['10004', { class: 'invalid_content', text: 'missing parameter' }],
  ['10015', { class: 'invalid_content', text: 'bad request' }],
  ['10016', { class: 'invalid_content', text: 'a phone number is not in E.164' }],
  ['40009', { class: 'invalid_content', text: 'invalid body' }],
  ['40304', { class: 'invalid_content', text: 'invalid content' }],
  ['40316', { class: 'invalid_content', text: 'no text' }],
  ['40317', { class: 'invalid_content', text: 'invalid content' }],

  ['40003', { class: 'blocked', text: 'blocked as spam' }],
  ['40004', { class: 'blocked', text: 'refused by the destination' }],
  ['40015', { class: 'blocked', text: "blocked by Telnyx's spam filter" }],
  ['40017', { class: 'blocked', text: 'refused by AT&T as spam' }],
  ['40309', { class: 'blocked', text: 'the region is not enabled for this profile' }],
  ['40322', { class: 'blocked', text: 'blocked for its content' }],

  ['20012', { class: 'billing', text: 'the account is not active' }],
  ['20100', { class: 'billing', text: 'the account has no credit' }],

  ['10005', { class: 'credentials', text: 'no such resource' }],
  ['10009', { class: 'credentials', text: 'authentication failed' }],
  ['10010', { class: 'credentials', text: 'the account may not do this' }],
  ['20001', { class: 'credentials', text: 'the API key is not accepted' }],
  ['20002', { class: 'credentials', text: 'the API key is not accepted' }],
  ['20003', { class: 'credentials', text: 'the API key is not accepted' }],
  ['20004', { class: 'credentials', text: 'the API key is not accepted' }],
  ['20005', { class: 'credentials', text: 'the API key is not accepted' }],
  ['20006', { class: 'credentials', text: 'the API key is not accepted' }],
  ['20013', { class: 'credentials', text: 'the account may not send' }],
  ['20014', { class: 'credentials', text: 'the account may not send' }],
  ['20015', { class: 'credentials', text: 'the account may not send' }],
  ['20016', { class: 'credentials', text: 'the account may not send' }],
  ['20017', { class: 'credentials', text: 'the account may not send' }],
  ['40311', { class: 'credentials', text: 'the messaging profile is not set up for this' }],
  ['40312', { class: 'credentials', text: 'the messaging profile is not set up for this' }],
  ['40313', { class: 'credentials', text: 'the messaging profile is not set up for this' }],
  ['40314', { class: 'credentials', text: 'the messaging profile is not set up for this' }],

  // How many segments a text may have depends on the destination (10, on some routes 25), so another upstream may take it.
  ['40302', { class: 'unsupported', text: 'the message has too many segments' }],
  ['40328', { class: 'unsupported', text: 'the message is too long' }],

  ['40005', { class: 'unknown', text: 'the message expired on its way' }],
  ['40014', { class: 'unknown', text: 'the message expired in the queue' }],
]);

/** 40300 where its text tells of a block rule: the recipient sent STOP. */
export const telnyxOptOut: ErrorRow = { class: 'blocked', text: 'the recipient opted out', optOut: true };

/** Events of `sending_failed` and `delivery_failed` with these codes prove no refusal. */
export const telnyxFailedWithoutRefusal: ReadonlySet<string> = new Set(['40005', '40006', '40014']);
