import type { Pool } from '../db/pool.ts';
import type { Clock } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import type { IdSource } from '../lib/ids.ts';
import { countOpenSenders, insertNewSender, type SenderRow, type SenderType } from './queries.ts';
import type { CreateSenderBody } from './schema.ts';
import { senderTypesOf } from './sender-type.ts';

/** So many senders an account may have that are not rejected. */
export const openSendersMax = 1_000;

/** Printable ASCII without spaces at either end: what a form shows is what is compared with `from`. */
const senderIdForm = /^[!-~]([ -~]*[!-~])?$/;

/**
 * Adds a sender to those that await the operator's decision. What carriers take differs by country and is for that decision; only what no
 * carrier takes is refused here. Throws `sender_exists` unless the earlier one was rejected.
 */
export async function createSender(
  accountId: string,
  body: CreateSenderBody,
  { pool, clock, ids }: { pool: Pool; clock: Clock; ids: IdSource },
): Promise<SenderRow> {
  const { sender_id: senderId } = body;
  if (!senderIdForm.test(senderId)) {
    throw invalid('sender_id', 'The sender_id must be printable ASCII without a space at either end.');
  }
  const sender = {
    account_id: accountId,
    id: ids.next(),
    sender_id: senderId,
    type: typeOf(senderId, body.type),
    country_code: countryOf(body.country_code ?? null),
    status: 'pending' as const,
    approved_at: null,
    created_at: new Date(clock.now()),
  };
  if ((await countOpenSenders(pool, accountId)) >= openSendersMax) {
    throw new ApiError('invalid_request', `This account has ${openSendersMax} senders, as many as it may have.`);
  }
  if (!(await insertNewSender(pool, sender))) {
    throw new ApiError('sender_exists', `"${senderId}" is among this account's senders already.`, {
      param: 'sender_id',
    });
  }
  return sender;
}

function invalid(param: string, message: string): ApiError {
  return new ApiError('invalid_request', message, { param });
}

function typeOf(senderId: string, asked: SenderType | undefined): SenderType {
  const types = senderTypesOf(senderId);
  if (asked === undefined) return types[0];
  if (types.includes(asked)) return asked;
  throw invalid('type', `"${senderId}" cannot be of the type ${asked}. It can be ${types.join(' or ')}.`);
}

function countryOf(asked: string | null): string | null {
  if (asked === null || /^[A-Za-z]{2}$/.test(asked)) return asked?.toUpperCase() ?? null;
  throw invalid('country_code', 'The country_code must be two letters, such as GB.');
}
