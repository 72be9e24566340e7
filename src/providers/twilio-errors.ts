import type { ErrorTable } from './result.ts';

/** Twilio's codes, those of sends (1xxxx, 2xxxx) and those of status callbacks (3xxxx, 63xxx). */
export const twilioErrors: ErrorTable = new Map([
  ['14107', { class: 'throttled', text: 'send rate exceeded' }],
  ['20429', { class: 'throttled', text: 'too many requests' }],
  ['21611', { class: 'throttled', text: 'the queue of this sender is full' }],
  ['30001', { class: 'throttled', text: 'queue overflow' }],
  ['30017', { class: 'throttled', text: 'the carrier network is congested' }],
  ['30022', { class: 'throttled', text: 'rate limit of the 10DLC campaign exceeded' }],
  ['30023', { class: 'throttled', text: 'daily limit of the 10DLC brand reached' }],
  ['30027', { class: 'throttled', text: 'daily limit of the carrier reached' }],
  ['63017', { class: 'throttled', text: 'rate limit of the account exceeded' }],
  ['63018', { class: 'throttled', text: 'rate limit of the channel exceeded' }],

  ['20500', { class: 'unavailable', text: 'internal error' }],
  ['20503', { class: 'unavailable', text: 'service unavailable' }],
  ['30020', { class: 'unavailable', text: 'internal error' }],
  ['30021', { class: 'unavailable', text: 'internal error' }],
  ['30410', { class: 'unavailable', text: 'the carrier did not answer in time' }],
  ['30500', { class: 'unavailable', text: 'internal error' }],
  ['63010', { class: 'unavailable', text: 'internal error of the channel' }],

  ['21211', { class: 'invalid_recipient', text: 'invalid recipient' }],
  ['21214', { class: 'invalid_recipient', text: 'the recipient cannot be reached' }],
  ['21217', { class: 'invalid_recipient', text: 'the recipient is not a valid phone number' }],
  ['21266', { class: 'invalid_recipient', text: 'the recipient is the sender' }],
  ['21401', { class: 'invalid_recipient', text: 'invalid phone number' }],
  ['21407', { class: 'invalid_recipient', text: 'phone number of a type that is not supported' }],
  ['21604', { class: 'invalid_recipient', text: 'no recipient' }],
  ['21612', { class: 'invalid_recipient', text: 'no route from this sender to this recipient' }],
  ['21614', { class: 'invalid_recipient', text: 'the recipient is not a mobile number' }],
  ['30003', { class: 'invalid_recipient', text: 'unreachable handset' }],
  ['30005', { class: 'invalid_recipient', text: 'unknown handset' }],
  ['30006', { class: 'invalid_recipient', text: 'landline or unreachable carrier' }],

  ['14108', { class: 'invalid_sender', text: 'the sender cannot send SMS' }],
  ['21210', { class: 'invalid_sender', text: 'the sender is not verified' }],
  ['21212', { class: 'invalid_sender', text: 'invalid sender' }],
  ['21603', { class: 'invalid_sender', text: 'no sender' }],
  ['21606', { class: 'invalid_sender', text: 'the sender cannot send to this recipient' }],
  ['21607', { class: 'invalid_sender', text: 'the sender is not a number of this account' }],
  ['21616', { class: 'invalid_sender', text: 'the sender matches several accounts' }],
  ['21657', { class: 'invalid_sender', text: 'invalid sender for this channel' }],
  ['21659', { class: 'invalid_sender', text: 'the sender is not a Twilio number' }],
  ['21660', { class: 'invalid_sender', text: 'the sender does not belong to this account' }],
  ['21661', { class: 'invalid_sender', text: 'the sender cannot send SMS' }],
  ['21701', { class: 'invalid_sender', text: 'the Messaging Service does not exist' }],
  ['21702', { class: 'invalid_sender', text: 'the Messaging Service is not usable' }],
  ['21703', { class: 'invalid_sender', text: 'the Messaging Service has no sender' }],
  ['21704', { class: 'invalid_sender', text: 'the Messaging Service has no sender left' }],
  ['21705', { class: 'invalid_sender', text: 'the Messaging Service is invalid' }],
  ['21709', { class: 'invalid_sender', text: 'invalid alphanumeric sender' }],
  ['30018', { class: 'invalid_sender', text: 'the destination requires a registered sender' }],
  ['30024', { class: 'invalid_sender', text: 'the sender is not provisioned at the carrier' }],
  ['30032', { class: 'invalid_sender', text: 'the toll-free number is not verified' }],
  ['30034', { class: 'invalid_sender', text: 'the number is not registered for 10DLC' }],
  ['30035', { class: 'invalid_sender', text: 'the number is still being registered' }],
  ['63007', { class: 'invalid_sender', text: 'no channel with this sender' }],

  ['20001', { class: 'invalid_content', text: 'invalid parameter' }],
  ['20422', { class: 'invalid_content', text: 'invalid parameter' }],
  ['21602', { class: 'invalid_content', text: 'no body' }],
  ['21605', { class: 'invalid_content', text: 'the body is too long' }],
  ['21609', { class: 'invalid_content', text: 'invalid status callback URL' }],
  ['21617', { class: 'invalid_content', text: 'the body is over 1600 characters' }],
  ['21618', { class: 'invalid_content', text: 'the body cannot be sent' }],
  ['21619', { class: 'invalid_content', text: 'no body or media' }],
  ['21620', { class: 'invalid_content', text: 'invalid media URL' }],
  ['21623', { class: 'invalid_content', text: 'too many media' }],
  ['21624', { class: 'invalid_content', text: 'invalid validity period' }],
  ['21626', { class: 'invalid_content', text: 'invalid parameter' }],
  ['30012', { class: 'invalid_content', text: 'validity period too short' }],
  ['30013', { class: 'invalid_content', text: 'validity period too long' }],
  ['30019', { class: 'invalid_content', text: 'content too large for the carrier' }],

  ['21216', { class: 'blocked', text: 'the recipient is blocked' }],
  ['21219', { class: 'blocked', text: 'a trial account may only send to verified numbers' }],
  ['21408', { class: 'blocked', text: 'the region is not enabled for this account' }],
  ['21608', { class: 'blocked', text: 'a trial account may only send to verified numbers' }],
  ['21610', { class: 'blocked', text: 'the recipient opted out', optOut: true }],
  ['30004', { class: 'blocked', text: 'blocked by the recipient or the carrier' }],
  ['30007', { class: 'blocked', text: 'filtered by the carrier as spam' }],
  ['30033', { class: 'blocked', text: 'the 10DLC campaign is suspended' }],
  ['30450', { class: 'blocked', text: 'blocked by the protection against SMS pumping' }],
  ['30453', { class: 'blocked', text: 'blocked by the protection against fraud' }],

  ['10001', { class: 'billing', text: 'the account is not active' }],
  ['20005', { class: 'billing', text: 'the account is not active' }],
  ['30002', { class: 'billing', text: 'the account is suspended' }],

  ['10002', { class: 'credentials', text: 'not available to trial accounts' }],
  ['20003', { class: 'credentials', text: 'authentication failed' }],
  ['20006', { class: 'credentials', text: 'access denied' }],
  ['20008', { class: 'credentials', text: 'not available with test credentials' }],
  ['20010', { class: 'credentials', text: 'the account may not use this' }],
  ['20403', { class: 'credentials', text: 'forbidden' }],
  ['20404', { class: 'credentials', text: 'no such account' }],
]);

/** Callbacks of `undelivered` with these codes prove no refusal: the handset may have been off, or the outcome is not known. */
export const twilioUndeliveredWithoutRefusal: ReadonlySet<string> = new Set([
  '30003',
  '30008',
  '30017',
  '30410',
  '30500',
]);

/** The same for callbacks of `failed`: Twilio gave up (30036: the validity period ran out), nobody refused. */
export const twilioFailedWithoutRefusal: ReadonlySet<string> = new Set(['30001', '30036', '30410', '30500']);

/** Codes of callbacks that say nothing at send time. */
export const twilioReceiptTexts: ReadonlyMap<string, string> = new Map([
  ['30008', 'unknown error'],
  ['30036', 'the validity period ran out'],
]);
