import { setTimeout as delay } from 'node:timers/promises';
import { isConnectionFault, type Pool } from '../db/pool.ts';
import { transaction } from '../db/tx.ts';
import type { MessageRow } from '../events/message-view.ts';
import { Batcher } from '../lib/batcher.ts';
import type { Clock } from '../lib/clock.ts';
import type { MessageErrorCode } from '../lib/errors.ts';
import type { IdSource } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { MessageKey } from '../messages/queries.ts';
import type { ProviderName } from '../providers/provider.ts';
import type { FreshDelivery } from '../webhooks/announce.ts';
import type { AttemptRecord } from './attempt.ts';
import { Settlement } from './settlement.ts';

type Attempted = MessageKey & { atMs: number; attemptCount: number; attempts: readonly AttemptRecord[] };

/** A provider accepted the message. */
export type SentOutcome = Attempted & {
  kind: 'sent';
  provider: ProviderName;
  providerMessageId: string;
  recipient: string;
  /** The upstream's ids that its receipts will name, where they name nothing of ours; else empty. */
  refs: readonly string[];
};

/** No provider accepted the message. */
export type FailedOutcome = Attempted & {
  kind: 'failed';
  provider: ProviderName | null;
  errorCode: MessageErrorCode;
  errorMessage: string;
  /** Set when an upstream said that this recipient opted out. */
  optOutRecipient: string | null;
};

/** A verified receipt for one attempt of a message. */
export type ReceiptOutcome = MessageKey & {
  kind: 'receipt';
  atMs: number;
  /** Which attempt, from 0. */
  attempt: number;
  provider: ProviderName;
  providerMessageId: string;
  /** As for a send: ids to remember, for an acceptance that came late; else empty. */
  refs: readonly string[];
  state: 'sent' | 'delivered' | 'undelivered' | 'failed';
  code: string | null;
  optOut: boolean;
  raw: string;
};

export type Outcome = SentOutcome | FailedOutcome | ReceiptOutcome;

export type OutcomeDeps = {
  pool: Pool;
  clock: Clock;
  ids: IdSource;
  log: Log;
  onDeliveries: (deliveries: FreshDelivery[]) => void;
  onBatch?: (size: number) => void;
};

/** The outcome of an attempt is known only here: while the database is away it is held for as long before it is given up. */
const heldMsMax = 10 * 60_000;
const repeatAfterMs = 250;

/**
 * The only code that changes a message, gives money back or announces a change after acceptance: state + money + event + deliveries in one
 * transaction per batch. State only moves forward; a stale or repeated outcome changes nothing and resolves to the message as it is.
 * Resolves to undefined where there is no such message.
 */
export function createOutcomes(deps: OutcomeDeps): Batcher<Outcome, MessageRow | undefined> {
  return new Batcher<Outcome, MessageRow | undefined>({
    run: async (outcomes) => {
      const giveUpMs = deps.clock.now() + heldMsMax;
      for (;;) {
        try {
          const { messages, deliveries } = await transaction(deps.pool, (db, commitWith) =>
            new Settlement(db, deps).settle(outcomes, commitWith),
          );
          deps.onDeliveries(deliveries);
          return messages;
        } catch (error) {
          if (!isConnectionFault(error) || deps.clock.now() >= giveUpMs) throw error;
          deps.log.warn({ err: error, outcomes: outcomes.length }, 'database away; outcomes are held');
          await delay(repeatAfterMs);
        }
      }
    },
    maxWeight: 256,
    maxWaiting: 50_000,
    isSharedFault: isConnectionFault,
    onBatch: deps.onBatch,
  });
}
