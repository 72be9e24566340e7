import type { ErrorTable } from './result.ts';

/** Codes of refused batches. What is wrong with a number, a sender or the credit mostly shows only in the receipt. */
export const sinchErrors: ErrorTable = new Map([
  ['syntax_invalid_json', { class: 'invalid_content', text: 'the request is not valid JSON' }],
  ['syntax_constraint_violation', { class: 'invalid_content', text: 'the request breaks a rule of the API' }],
  ['syntax_invalid_parameter_format', { class: 'invalid_content', text: 'a field has a wrong format' }],

  ['missing_callback_url', { class: 'credentials', text: 'the service plan has no callback URL' }],
  ['unknown_campaign', { class: 'credentials', text: 'the campaign does not match the sender' }],
  ['unknown_group', { class: 'credentials', text: 'the group is not known' }],
]);

/** Codes of delivery reports: from 400 to 418 Sinch's own, the others those of carriers. */
export const sinchReceiptTexts: ReadonlyMap<unknown, string> = new Map([
  ...coded('unknown subscriber, or without this service', 1, 2, 10, 11),
  ...coded('unidentified subscriber', 5),
  ...coded('unknown error', 6),
  ...coded('illegal subscriber', 9),
  ...coded('barred', 12, 13),
  ...coded('absent subscriber', 27, 28, 29, 160),
  ...coded('error of the switching centre', 30),
  ...coded('the handset is busy', 31),
  ...coded('the handset has no memory left', 32, 33, 40),
  ...coded('system failure', 34, 35, 36, 37, 38, 39),
  ...coded('error of the signalling network', 140, 200, 201, 202, 203, 204, 205),
  ...coded('permanent error', 69),
  ...coded('refused by the carrier', 206),
  ...coded('cancelled by the carrier', 207),
  ...coded('blocked by the carrier', 300),
  ...coded('permanent error of the carrier', 301, 303, 305),
  ...coded('temporary error of the carrier', 302, 304),
  ...coded('the network is congested', 999),

  ...coded('refused by the screening of 10DLC', 15, 62),
  ...coded('the 10DLC campaign is not active', 60),
  ...coded('quota of the 10DLC campaign exceeded', 64),

  ...coded('no route to the recipient', 402),
  ...coded('internal error', 403),
  ...coded('temporary failure', 404),
  ...coded('a parameter of the template is missing', 405),
  ...coded('expired before it reached the carrier', 406),
  ...coded('cancelled before it reached the carrier', 407),
  ...coded('refused by Sinch', 408),
  ...coded('no default sender', 410),
  ...coded('the message has too many parts', 411),
  ...coded('the region is not enabled for this account', 412),
  ...coded('the account is blocked, perhaps for want of credit', 413),
  ...coded('invalid media', 414),
  ...coded('the receipt was refused', 415),
  ...coded('the receipt was of an unsupported kind', 416),
  ...coded('the receipt did not reach Sinch', 417),
  ...coded('the receipt was not understood', 418),
]);

function coded(text: string, ...codes: number[]): Array<[number, string]> {
  return codes.map((code) => [code, text]);
}

/** Reports of `Aborted` with these codes prove no refusal: a failure that passes, an expiry. */
export const sinchAbortedWithoutRefusal: ReadonlySet<unknown> = new Set([404, 406]);

/** Reports with these codes tell of a receipt that told nothing, whatever their status. */
export const sinchCodesWithoutOutcome: ReadonlySet<unknown> = new Set([415, 416, 417, 418]);
