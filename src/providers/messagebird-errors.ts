import type { ErrorTable } from './result.ts';

/** Codes of refused requests. 9, 10 and 21 name the parameter that is wrong, which says more. */
export const messagebirdErrors: ErrorTable = new Map([
  ['99', { class: 'unavailable', text: 'internal error' }],

  ['9', { class: 'invalid_content', text: 'missing parameter' }],
  ['10', { class: 'invalid_content', text: 'invalid parameter' }],
  ['21', { class: 'invalid_content', text: 'bad request' }],

  ['25', { class: 'billing', text: 'the account has no credit' }],

  ['2', { class: 'credentials', text: 'request not allowed: the access key is wrong' }],
  ['20', { class: 'credentials', text: 'no such resource' }],
]);

/** `statusErrorCode` of receipts about recipients who sent STOP. */
export const messagebirdOptOutCode = '103';
