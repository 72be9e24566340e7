import type { ErrorTable } from './result.ts';

/**
 * Codes of the Messages API, the same for refused sends and for status callbacks: numbers, and the words shared by all Vonage APIs
 * in the form `errorCodeOf` gives them (lower case, no hyphens: both `InvalidParams` and `invalid-params` are seen).
 */
export const vonageErrors: ErrorTable = new Map([
  ['1000', { class: 'throttled', text: 'throttled' }],
  ['1241', { class: 'throttled', text: 'too many messages to this recipient' }],

  ['1030', { class: 'unavailable', text: 'internal error' }],
  ['1100', { class: 'unavailable', text: 'communication with the carrier failed' }],
  ['1180', { class: 'unavailable', text: 'the recipient is absent for now' }],
  ['1220', { class: 'unavailable', text: 'the handset is busy' }],
  ['1230', { class: 'unavailable', text: 'network error' }],
  ['1331', { class: 'unavailable', text: 'error of a carrier' }],

  ['1040', { class: 'invalid_recipient', text: 'the message does not fit the recipient' }],
  ['1170', { class: 'invalid_recipient', text: 'invalid recipient' }],
  ['1190', { class: 'invalid_recipient', text: 'the recipient no longer exists' }],
  ['1200', { class: 'invalid_recipient', text: 'the recipient was ported to another network' }],
  ['1250', { class: 'invalid_recipient', text: 'no route to the recipient' }],
  ['1260', { class: 'invalid_recipient', text: 'the recipient cannot be reached' }],
  ['1300', { class: 'invalid_recipient', text: 'the recipient cannot be reached' }],
  ['1310', { class: 'invalid_recipient', text: 'the recipient cannot be reached' }],

  ['1120', { class: 'invalid_sender', text: 'sender not allowed' }],

  ['1010', { class: 'invalid_content', text: 'missing parameter' }],
  ['1020', { class: 'invalid_content', text: 'invalid parameter' }],
  ['1021', { class: 'invalid_content', text: 'invalid parameter' }],
  ['1022', { class: 'invalid_content', text: 'invalid parameter' }],
  ['1090', { class: 'invalid_content', text: 'the message is too long' }],
  ['1130', { class: 'invalid_content', text: 'invalid time to live' }],
  ['1150', { class: 'invalid_content', text: 'invalid parameters' }],
  ['1380', { class: 'invalid_content', text: 'the content was refused' }],
  ['1381', { class: 'invalid_content', text: 'the content was refused' }],
  ['1382', { class: 'invalid_content', text: 'the content was refused' }],
  ['invalidparams', { class: 'invalid_content', text: 'invalid parameters' }],

  ['1050', { class: 'blocked', text: 'the recipient is barred' }],
  ['1160', { class: 'blocked', text: 'a demo account may only send to its listed numbers' }],
  ['1210', { class: 'blocked', text: 'refused as spam' }],
  ['1240', { class: 'blocked', text: 'the recipient opted out', optOut: true }],
  ['1270', { class: 'blocked', text: 'refused for the age of the recipient' }],
  ['1280', { class: 'blocked', text: 'blocked by the carrier' }],
  ['1290', { class: 'blocked', text: 'the recipient has no credit' }],
  ['1320', { class: 'blocked', text: 'this message was sent already' }],
  ['1340', { class: 'blocked', text: 'blocked by the carrier' }],
  ['1470', { class: 'blocked', text: 'blocked by the protection against fraud' }],

  ['1070', { class: 'billing', text: 'the account has no credit' }],
  ['lowbalance', { class: 'billing', text: 'the account has no credit' }],

  ['1060', { class: 'credentials', text: 'the account is barred' }],
  ['1080', { class: 'credentials', text: 'the account may not use this API' }],
  ['1140', { class: 'credentials', text: 'the account may not use this facility' }],
  ['accountsuspended', { class: 'credentials', text: 'the account is suspended' }],
  ['forbidden', { class: 'credentials', text: 'the account may not do this' }],
  ['invalidapikey', { class: 'credentials', text: 'the API key is not known' }],
  ['invalidsignature', { class: 'credentials', text: 'the signature is wrong' }],
  ['jwtexpired', { class: 'credentials', text: 'the token has expired' }],
  ['notfound', { class: 'credentials', text: 'no such resource' }],
  ['unauthorized', { class: 'credentials', text: 'the credentials are wrong' }],
  ['unprovisioned', { class: 'credentials', text: 'the account is not set up for this' }],

  ['1330', { class: 'unknown', text: 'unknown outcome' }],
  ['1360', { class: 'unknown', text: 'the time to live ran out' }],
]);

/** Callbacks of `rejected` with these codes prove no refusal: attempts ended, or the outcome is not known. */
export const vonageRejectedWithoutRefusal: ReadonlySet<string> = new Set([
  '1180',
  '1220',
  '1230',
  '1330',
  '1331',
  '1360',
]);
