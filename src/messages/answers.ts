import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from '../db/pool.ts';
import type { Clock } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { readKey, storeAnswer } from './idempotency.ts';

/** An answer without its `meta`, which each request gets anew. */
export type Answer = { status: number; body: { success: boolean } & Record<string, unknown> };

export type Claim = { accountId: string; key: string; fingerprint: Buffer };

type Running = { fingerprint: Buffer; done: Promise<unknown> };

/** A first request that has not answered this long after its acceptance has lost its process; its messages tell the answer. */
const waitMsMax = 30_000;
const pollEveryMs = 100;

/** Gives repeats of a request the answer of its first, also while the first is still running. */
export class IdempotentAnswers {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #running = new Map<string, Running>();

  constructor(deps: { pool: Pool; clock: Clock; log: Log }) {
    this.#pool = deps.pool;
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  /**
   * Runs `first` unless the key has been used: then replays. `first` says `repeated` when another process was faster. Throws
   * `idempotency_conflict` when the key stands for other content.
   */
  async answer(
    claim: Claim,
    first: () => Promise<Answer | 'repeated'>,
    retell: (messageIds: string[]) => Promise<Answer>,
  ): Promise<{ answer: Answer; isReplay: boolean }> {
    const name = `${claim.accountId} ${claim.key}`;
    for (let running = this.#running.get(name); running !== undefined; running = this.#running.get(name)) {
      if (!running.fingerprint.equals(claim.fingerprint)) throw conflict();
      await running.done;
    }
    const run = this.#run(claim, first, retell);
    this.#running.set(name, { fingerprint: claim.fingerprint, done: run.catch(() => undefined) });
    try {
      return await run;
    } finally {
      this.#running.delete(name);
    }
  }

  async #run(
    claim: Claim,
    first: () => Promise<Answer | 'repeated'>,
    retell: (messageIds: string[]) => Promise<Answer>,
  ): Promise<{ answer: Answer; isReplay: boolean }> {
    const { accountId, key } = claim;
    const giveUpMs = this.#clock.now() + waitMsMax;
    for (;;) {
      const replay = await this.#replay(claim, giveUpMs, retell);
      if (replay !== undefined) return { answer: replay, isReplay: true };
      const answer = await first();
      // Another process claimed the key between our look and our claim.
      if (answer === 'repeated') continue;
      await storeAnswer(this.#pool, accountId, key, { status: answer.status, text: JSON.stringify(answer.body) }).catch(
        (error: Error) => this.#log.error({ err: error }, 'an idempotent answer could not be stored'),
      );
      return { answer, isReplay: false };
    }
  }

  /** Undefined when the key is free: never used, given back, or past its time. */
  async #replay(
    { accountId, key, fingerprint }: Claim,
    giveUpMs: number,
    retell: (messageIds: string[]) => Promise<Answer>,
  ): Promise<Answer | undefined> {
    for (;;) {
      const record = await readKey(this.#pool, accountId, key, this.#clock.now());
      if (record === undefined) return undefined;
      if (!record.fingerprint.equals(fingerprint)) throw conflict();
      if (record.status !== null && record.answer !== null) {
        return { status: record.status, body: JSON.parse(record.answer) as Answer['body'] };
      }
      const isLost = this.#clock.now() >= Math.min(giveUpMs, record.createdAt.getTime() + waitMsMax);
      if (isLost) return retell(record.messageIds);
      await delay(pollEveryMs);
    }
  }
}

function conflict(): ApiError {
  return new ApiError(
    'idempotency_conflict',
    'This Idempotency-Key was used with another request. Use a new key for a new request.',
  );
}
