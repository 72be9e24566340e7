import type { Pool } from '../db/pool.ts';
import { transaction } from '../db/tx.ts';
import type { MessageRow } from '../events/message-view.ts';
import { findEventsOf } from '../events/of-message.ts';
import { redacted } from '../events/redacted.ts';
import type { Clock } from '../lib/clock.ts';
import { firstIdAt, timeOfId, toPublicId } from '../lib/ids.ts';
import {
  countPendingTo,
  findAnswersWith,
  findMessagesTo,
  redactDeliveries,
  redactMessages,
  redactProviderRefs,
  redactReceipts,
  redactUnmatchedReceipts,
  replaceAnswers,
  type EventKey,
} from './redaction-queries.ts';

/** What a redaction has come to. */
export type Redaction = {
  messages: number;
  receipts: number;
  deliveries: number;
  answers: number;
  unmatchedReceipts: number;
  /** Messages that are still being sent, and keep their number until they are. */
  pending: number;
  /** False where the time was up: the same call again goes on. */
  isComplete: boolean;
};

type Counts = Omit<Redaction, 'pending' | 'isComplete'>;

const messagesAtOnce = 100;
const unmatchedAtOnce = 1_000;

/** Stored answers are kept for a day, and deleted some time after. */
const answersKeptMs = 48 * 3_600_000;

/**
 * Takes a number, and what was sent to it, out of every table: messages, and with them their events; raw receipts, answers of webhook
 * receivers, answers kept for repeated requests. What was charged, and when, stays. So does an opt-out: forgetting that would let messages
 * go to somebody who has refused them. Each chunk is one transaction, so a redaction may be broken off and repeated at any time.
 */
export async function redactNumber(
  { pool, clock }: { pool: Pool; clock: Clock },
  number: string,
  withinMs: number,
): Promise<Redaction> {
  const endMs = clock.now() + withinMs;
  const isOver = (): boolean => clock.now() >= endMs;
  const digits = number.replace(/^\+/, '');
  const recipients = spellingsOf(digits);
  const counts: Counts = { messages: 0, receipts: 0, deliveries: 0, answers: 0, unmatchedReceipts: 0 };
  const isComplete =
    (await redactMessagesTo(recipients, pool, clock, counts, isOver)) &&
    (await redactUnmatchedOf(digits, pool, counts, isOver));
  return { ...counts, pending: await countPendingTo(pool, recipients), isComplete };
}

/** As callers may have written it: all but the first were refused, and are kept as failed messages. */
function spellingsOf(digits: string): string[] {
  return [`+${digits}`, digits, `00${digits}`];
}

/** False where the time was up. */
async function redactMessagesTo(
  recipients: readonly string[],
  pool: Pool,
  clock: Clock,
  counts: Counts,
  isOver: () => boolean,
): Promise<boolean> {
  do {
    const messages = await findMessagesTo(pool, recipients, messagesAtOnce);
    if (messages.length === 0) return true;
    await redactChunk(messages, pool, clock.now(), counts);
  } while (!isOver());
  return false;
}

/** Everything is looked up before the transaction begins, so that its locks are held for a moment only. */
async function redactChunk(messages: MessageRow[], pool: Pool, nowMs: number, counts: Counts): Promise<void> {
  const keys = messages.map(({ account_id: accountId, id: messageId }) => ({ accountId, messageId }));
  const recent = keys.filter(({ messageId }) => timeOfId(messageId) > nowMs - answersKeptMs);
  const answers = recent.length === 0 ? [] : await findAnswersWith(pool, recent);
  const ids = new Set(messages.map(({ id }) => toPublicId('msg', id)));
  const replaced = answers.map((stored) => ({ ...stored, replacement: redactAnswer(stored.answer, ids) }));
  const events: EventKey[] = [];
  for (const message of messages) {
    const own = await findEventsOf(pool, message);
    events.push(...own.map(({ eventId }) => ({ accountId: message.account_id, eventId })));
  }
  const changed = await transaction(pool, async (db) => {
    await redactMessages(db, keys);
    await redactProviderRefs(db, keys);
    await replaceAnswers(db, replaced);
    return { receipts: await redactReceipts(db, keys), deliveries: await redactDeliveries(db, events) };
  });
  counts.messages += messages.length;
  counts.answers += replaced.length;
  counts.receipts += changed.receipts;
  counts.deliveries += changed.deliveries;
}

/** The stored answer as it would be told of the redacted messages. Other recipients of a bulk stay as they are. */
function redactAnswer(text: string, publicIds: ReadonlySet<string>): string {
  const content: unknown = JSON.parse(text, (_name, value: unknown) => {
    const isOurs = typeof value === 'object' && value !== null && 'id' in value && publicIds.has(String(value.id));
    return isOurs ? { ...value, to: redacted, body: redacted, reference: null } : value;
  });
  return JSON.stringify(content);
}

/** False where the time was up. The number stands alone, or behind what a URL made of its plus sign. */
async function redactUnmatchedOf(digits: string, pool: Pool, counts: Counts, isOver: () => boolean): Promise<boolean> {
  const pattern = `(^|[^0-9]|%[0-9A-Fa-f]{2})(00)?${digits}([^0-9]|$)`;
  let after: string | null = firstIdAt(0);
  do {
    const page = await redactUnmatchedReceipts(pool, pattern, after, unmatchedAtOnce);
    counts.unmatchedReceipts += page.redacted;
    after = page.lastId;
    if (after === null) return true;
  } while (!isOver());
  return false;
}
