/** Plivo's message error codes, as they come with callbacks; the answer to a send has a text alone. */
export const plivoReceiptTexts: ReadonlyMap<string, string> = new Map([
  ['10', 'invalid message'],
  ['20', 'network error'],
  ['30', 'refused as spam'],
  ['40', 'invalid sender'],
  ['50', 'invalid recipient'],
  ['60', 'the message went in a loop'],
  ['70', 'the recipient cannot be reached for good'],
  ['80', 'the recipient cannot be reached for now'],
  ['90', 'no route to the recipient'],
  ['100', 'the carrier takes no such message'],
  ['110', 'the message is too long'],
  ['200', 'the recipient opted out'],
  ['201', 'a US toll-free number cannot send to Canada'],
  ['300', 'the message could not be dispatched'],
  ['420', 'the message expired in the queue'],
  ['450', 'the destination country is barred'],
  ['900', 'the account has no credit'],
  ['910', 'the account is disabled'],
  ['1000', 'unknown error'],
]);

export const plivoOptOutCode = '200';

/** Callbacks of `undelivered` with these codes prove no refusal: errors that pass, an expiry, an unknown end. */
export const plivoUndeliveredWithoutRefusal: ReadonlySet<string> = new Set(['20', '80', '420', '1000']);

/** The same for callbacks of `failed`. */
export const plivoFailedWithoutRefusal: ReadonlySet<string> = new Set(['420', '1000']);
