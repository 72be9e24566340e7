import { formatTime, formatTimeOrNull } from '../lib/clock.ts';
import { timeOfId, toPublicId } from '../lib/ids.ts';

export type MessageStatus = 'pending' | 'sent' | 'delivered' | 'failed' | 'undelivered';

/** A row of `messages`, as far as the API shows it. */
export type MessageRow = {
  account_id: string;
  id: string;
  recipient: string;
  sender: string;
  body: string;
  reference: string | null;
  cost_micros: number;
  currency: string;
  status: MessageStatus;
  provider: string | null;
  provider_message_id: string | null;
  attempt_count: number;
  error_code: string | null;
  error_message: string | null;
  sent_at: Date | null;
  delivered_at: Date | null;
  undelivered_at: Date | null;
  failed_at: Date | null;
};

/** The columns of `MessageRow`, for `SELECT` and `RETURNING`; `m` is the table's alias. */
export const messageColumns = `m.account_id, m.id, m.recipient, m.sender, m.body, m.reference, m.cost_micros, m.currency, m.status,
  m.provider, m.provider_message_id, m.attempt_count, m.error_code, m.error_message,
  m.sent_at, m.delivered_at, m.undelivered_at, m.failed_at`;

/** The Message of the API (spec: Message). */
export type Message = {
  id: string;
  object: 'message';
  to: string;
  from: string;
  body: string;
  status: MessageStatus;
  cost: number;
  currency: string;
  provider: string | null;
  provider_message_id: string | null;
  attempts: number;
  error: { code: string; message: string } | null;
  reference: string | null;
  created_at: string;
  sent_at: string | null;
  delivered_at: string | null;
  failed_at: string | null;
};

/** Micro-units of a currency as the number the API prints. */
export function microsToNumber(micros: number): number {
  return micros / 1_000_000;
}

/**
 * A message as it was on entering `status`, its present one unless told otherwise. Columns are written once, so an earlier state is the same
 * row with the later columns masked; what this returns for an event never changes, unless the message is redacted.
 */
export function showMessage(row: MessageRow, status: MessageStatus = row.status): Message {
  const isFailure = status === 'failed' || status === 'undelivered';
  const failedAt = status === 'failed' ? row.failed_at : row.undelivered_at;
  return {
    id: toPublicId('msg', row.id),
    object: 'message',
    to: row.recipient,
    from: row.sender,
    body: row.body,
    status,
    cost: microsToNumber(row.cost_micros),
    currency: row.currency,
    provider: row.provider,
    provider_message_id: row.provider_message_id,
    attempts: row.attempt_count,
    error:
      isFailure && row.error_code !== null
        ? { code: row.error_code, message: row.error_message ?? row.error_code }
        : null,
    reference: row.reference,
    created_at: formatTime(timeOfId(row.id)),
    sent_at: formatTimeOrNull(row.sent_at),
    delivered_at: status === 'delivered' ? formatTimeOrNull(row.delivered_at) : null,
    failed_at: isFailure ? formatTimeOrNull(failedAt) : null,
  };
}
