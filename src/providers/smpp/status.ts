import type { RejectionClass, SendResult } from '../provider.ts';
import { shorten } from '../result.ts';
import type { SmppSettings } from './settings.ts';

/** What a command status means for the message. `unsupported`: nobody says, so the next provider may take it. */
export type StatusClass = RejectionClass | 'opt_out' | 'throttled' | 'unavailable' | 'credentials' | 'unsupported';

export type StatusRow = { class: StatusClass; text: string };

/** Statuses with a part of their own in the life of a bind. */
export const status = {
  ok: 0x00,
  invalidCommandLength: 0x02,
  invalidCommandId: 0x03,
  notBound: 0x04,
  alreadyBound: 0x05,
  systemError: 0x08,
  queueFull: 0x14,
} as const;

/** The statuses of SMPP 3.4 (5.1.3), and those of 5.0 that carriers answer with. */
export const statusTable: ReadonlyMap<number, StatusRow> = new Map([
  [0x14, { class: 'throttled', text: 'ESME_RMSGQFUL: the message queue is full' }],
  [0x58, { class: 'throttled', text: 'ESME_RTHROTTLED: too many messages' }],

  [0x04, { class: 'unavailable', text: 'ESME_RINVBNDSTS: not possible in this state of the bind' }],
  [0x08, { class: 'unavailable', text: 'ESME_RSYSERR: system error' }],
  [0x45, { class: 'unavailable', text: 'ESME_RSUBMITFAIL: the message could not be submitted' }],
  [0x64, { class: 'unavailable', text: 'ESME_RX_T_APPN: temporary error' }],
  [0xfe, { class: 'unavailable', text: 'ESME_RDELIVERYFAILURE: delivery failure' }],
  [0xff, { class: 'unavailable', text: 'ESME_RUNKNOWNERR: unknown error' }],
  [0x102, { class: 'unavailable', text: 'ESME_RSERTYPUNAVAIL: the service is unavailable' }],

  [0x0b, { class: 'invalid_recipient', text: 'ESME_RINVDSTADR: invalid destination address' }],
  [0x33, { class: 'invalid_recipient', text: 'ESME_RINVNUMDESTS: invalid number of destinations' }],
  [0x34, { class: 'invalid_recipient', text: 'ESME_RINVDLNAME: invalid distribution list' }],
  [0x40, { class: 'invalid_recipient', text: 'ESME_RINVDESTFLAG: invalid destination flag' }],
  [0x50, { class: 'invalid_recipient', text: 'ESME_RINVDSTTON: invalid destination TON' }],
  [0x51, { class: 'invalid_recipient', text: 'ESME_RINVDSTNPI: invalid destination NPI' }],

  [0x0a, { class: 'invalid_sender', text: 'ESME_RINVSRCADR: invalid source address' }],
  [0x48, { class: 'invalid_sender', text: 'ESME_RINVSRCTON: invalid source TON' }],
  [0x49, { class: 'invalid_sender', text: 'ESME_RINVSRCNPI: invalid source NPI' }],

  [0x01, { class: 'invalid_content', text: 'ESME_RINVMSGLEN: invalid message length' }],
  [0x02, { class: 'invalid_content', text: 'ESME_RINVCMDLEN: invalid command length' }],
  [0x03, { class: 'invalid_content', text: 'ESME_RINVCMDID: invalid command' }],
  [0x06, { class: 'invalid_content', text: 'ESME_RINVPRTFLG: invalid priority' }],
  [0x07, { class: 'invalid_content', text: 'ESME_RINVREGDLVFLG: invalid registered delivery flag' }],
  [0x43, { class: 'invalid_content', text: 'ESME_RINVESMCLASS: invalid esm_class' }],
  [0x61, { class: 'invalid_content', text: 'ESME_RINVSCHED: invalid delivery time' }],
  [0x62, { class: 'invalid_content', text: 'ESME_RINVEXPIRY: invalid validity period' }],
  [0xc0, { class: 'invalid_content', text: 'ESME_RINVOPTPARSTREAM: error in the optional parameters' }],
  [0xc1, { class: 'invalid_content', text: 'ESME_ROPTPARNOTALLWD: optional parameter not allowed' }],
  [0xc2, { class: 'invalid_content', text: 'ESME_RINVPARLEN: invalid length of a parameter' }],
  [0xc3, { class: 'invalid_content', text: 'ESME_RMISSINGOPTPARAM: an optional parameter is missing' }],
  [0xc4, { class: 'invalid_content', text: 'ESME_RINVOPTPARAMVAL: invalid value of an optional parameter' }],
  [0x104, { class: 'invalid_content', text: 'ESME_RINVDCS: invalid data coding' }],

  [0x65, { class: 'blocked', text: 'ESME_RX_P_APPN: permanent error' }],
  [0x66, { class: 'blocked', text: 'ESME_RX_R_APPN: the message is refused' }],
  [0x101, { class: 'blocked', text: 'ESME_RPROHIBITED: prohibited' }],
  [0x103, { class: 'blocked', text: 'ESME_RSERTYPDENIED: the service is denied' }],

  [0x05, { class: 'credentials', text: 'ESME_RALYBND: already bound' }],
  [0x0d, { class: 'credentials', text: 'ESME_RBINDFAIL: the bind failed' }],
  [0x0e, { class: 'credentials', text: 'ESME_RINVPASWD: wrong password' }],
  [0x0f, { class: 'credentials', text: 'ESME_RINVSYSID: unknown system_id' }],
  [0x15, { class: 'credentials', text: 'ESME_RINVSERTYP: invalid service type' }],
  [0x53, { class: 'credentials', text: 'ESME_RINVSYSTYP: invalid system type' }],
  [0x100, { class: 'credentials', text: 'ESME_RSERTYPUNAUTH: not authorised for this service' }],
]);

/** A carrier's own reading of statuses, by number. */
export type StatusOverrides = ReadonlyMap<number, StatusClass>;

export function readOverrides(statusClasses: SmppSettings['statusClasses']): StatusOverrides {
  return new Map(Object.entries(statusClasses).map(([code, statusClass]) => [Number(code), statusClass]));
}

/** `0x0B`, `0x40B`: as the manuals of carriers write it. */
export function formatStatus(code: number): string {
  return `0x${code.toString(16).toUpperCase().padStart(2, '0')}`;
}

export function classOfStatus(code: number, overrides: StatusOverrides): StatusClass {
  return overrides.get(code) ?? statusTable.get(code)?.class ?? 'unsupported';
}

/** The result of an attempt that the carrier answered with a status other than 0. */
export function resultOfStatus(code: number, overrides: StatusOverrides): Exclude<SendResult, { outcome: 'accepted' }> {
  const statusClass = classOfStatus(code, overrides);
  const told = {
    code: formatStatus(code),
    message: shorten(statusTable.get(code)?.text ?? `the carrier's own status ${formatStatus(code)}`),
  };
  switch (statusClass) {
    case 'throttled':
    case 'unavailable':
    case 'credentials':
    case 'unsupported':
      return { outcome: 'retryable', reason: statusClass, ...told };
    case 'opt_out':
      return { outcome: 'rejected', class: 'blocked', ...told, optOut: true };
    default:
      return { outcome: 'rejected', class: statusClass, ...told };
  }
}
