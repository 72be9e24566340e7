import type { Db } from '../db/pool.ts';
import type { Clock } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import type { IdSource } from '../lib/ids.ts';
import { lockBalance, recordTransfer } from './ledger.ts';

/** The largest amount of one transfer, in units of the currency. */
export const amountMax = 1_000_000_000;

/**
 * Micro-units of an amount; undefined where it has more than six decimals. Up to `amountMax` the product is off by less than half, and a
 * quotient that gives the amount again proves it the exact one.
 */
export function toMicros(amount: number): number | undefined {
  const micros = Math.round(amount * 1_000_000);
  return micros / 1_000_000 === amount ? micros : undefined;
}

export type Transfer = { kind: 'top_up' | 'adjustment'; amount: number; note: string };

/** Puts money on an account that exists, or takes it off. Throws `invalid_request` where the amount cannot be. Returns the new balance. */
export async function transfer(
  db: Db,
  accountId: string,
  { kind, amount, note }: Transfer,
  { clock, ids }: { clock: Clock; ids: IdSource },
): Promise<{ balanceMicros: number }> {
  const amountMicros = toMicros(amount);
  if (amountMicros === undefined) throw invalid('The amount must have at most 6 decimals.');
  if (amountMicros === 0) throw invalid('The amount must not be zero.');
  if (kind === 'top_up' && amountMicros < 0) {
    throw invalid('A top-up must be more than zero. Take money off with an adjustment.');
  }
  const entry = { accountId, id: ids.next(), kind, amountMicros, note, atMs: clock.now() };
  const balanceMicros = await recordTransfer(db, entry);
  if (balanceMicros !== undefined) return { balanceMicros };
  if (amountMicros > 0) throw invalid('The balance would be larger than an account can have.');
  const balance = (await lockBalance(db, accountId)) / 1_000_000;
  throw invalid(`The balance is ${balance} and cannot fall below zero. Take off at most that much.`);
}

function invalid(message: string): ApiError {
  return new ApiError('invalid_request', message, { param: 'amount' });
}
