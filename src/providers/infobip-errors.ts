import type { ErrorRow, ErrorTable } from './result.ts';

/** Ids of the statuses with which Infobip turns a message down, in the answer to a send (of status 200) and in reports. */
export const infobipStatuses: ErrorTable = new Map([
  ['21', { class: 'unavailable', text: 'system error' }],
  ['100', { class: 'unavailable', text: 'malformed, or the platform is not available' }],

  ['8', { class: 'invalid_recipient', text: 'the recipient has no prefix' }],
  ['51', { class: 'invalid_recipient', text: 'no recipient' }],
  ['52', { class: 'invalid_recipient', text: 'invalid recipient' }],

  ['11', { class: 'invalid_sender', text: 'the sender is not registered' }],
  ['13', { class: 'invalid_sender', text: 'the sender is blocklisted' }],

  ['24', { class: 'invalid_content', text: 'invalid user data header' }],
  ['25', { class: 'invalid_content', text: 'the message is too long' }],

  ['10', { class: 'blocked', text: 'the recipient wants no calls or messages', optOut: true }],
  ['14', { class: 'blocked', text: 'the recipient is blocklisted', optOut: true }],
  ['18', { class: 'blocked', text: 'a test account may only send to its own number' }],
  ['20', { class: 'blocked', text: 'too many messages to this recipient' }],
  ['87', { class: 'blocked', text: 'blocked by the protection against fraud' }],

  ['12', { class: 'billing', text: 'the account has no credit' }],
  ['17', { class: 'billing', text: 'the prepaid package has expired' }],

  // The account has no route to this network; that says nothing about other messages.
  ['6', { class: 'unsupported', text: 'the network is not covered' }],
  ['19', { class: 'unsupported', text: 'no route to the recipient' }],
]);

/** A status that turns a message down for a reason not listed above: certainly not sent, so another upstream may try. */
export const infobipOtherRejection: ErrorRow = { class: 'unsupported', text: 'refused' };

/** The id was used before, by this same attempt: Infobip has the message. */
export const infobipDuplicateStatus = '23';

/** Ids of the `error` in reports that say that the recipient opted out: blocked by the user, STOP, on a do-not-disturb list, blocklisted. */
export const infobipOptOutErrors: ReadonlySet<unknown> = new Set([573, 603, 2050, 2052]);
