import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from '../lib/log.ts';
import type { Db } from './pool.ts';

/** What a notice is about: the caches that hold such rows drop the one named. */
export type NoticeTopic = 'key' | 'account' | 'sender' | 'endpoint';

/** A listener gets the id of the row that changed, or `*` when changes may have been missed: drop everything. */
export type NoticeListener = (id: string) => void;

const channel = 'heliograph';
const reconnectDelayMs = 1_000;

/** Tells every process, at the commit of the transaction `db` is in, that a cached row changed. */
export async function publishNotice(db: Db, topic: NoticeTopic, id: string): Promise<void> {
  await db.query('SELECT pg_notify($1, $2)', [channel, `${topic}:${id}`]);
}

/** One connection that listens for the changes of all processes, and listens again whenever it was lost. */
export class Notices {
  readonly #url: string;
  readonly #log: Log;
  readonly #listeners = new Map<NoticeTopic, Set<NoticeListener>>();
  readonly #stopping = new AbortController();
  #client: pg.Client | undefined;
  #loop: Promise<void> = Promise.resolve();

  constructor(options: { url: string; log: Log }) {
    this.#url = options.url;
    this.#log = options.log;
  }

  subscribe(topic: NoticeTopic, listener: NoticeListener): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /** Tells the listeners of this process at once: a published notice reaches them too, but perhaps after the caller has its answer. */
  tell(topic: NoticeTopic, id: string): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener(id);
  }

  /** Resolves once the first connection listens. */
  async start(): Promise<void> {
    const { lost } = await this.#listen();
    this.#loop = this.#keepListening(lost);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#client?.end().catch(() => undefined);
    await this.#loop;
  }

  async #keepListening(firstLost: Promise<void>): Promise<void> {
    let lost = firstLost;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await lost;
      if (signal.aborted) return;
      this.#tellAll();
      await delay(reconnectDelayMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        ({ lost } = await this.#listen());
      } catch (error) {
        this.#log.warn({ err: error }, 'cannot listen for changes; trying again');
        lost = Promise.resolve();
      }
      this.#tellAll();
    }
  }

  /** `lost` resolves when the connection is gone. */
  async #listen(): Promise<{ lost: Promise<void> }> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'heliograph notices',
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
    });
    const lost = new Promise<void>((resolve) => {
      client.on('error', () => resolve());
      client.on('end', () => resolve());
    });
    client.on('notification', ({ payload = '' }) => {
      const separator = payload.indexOf(':');
      this.tell(payload.slice(0, separator) as NoticeTopic, payload.slice(separator + 1));
    });
    this.#client = client;
    await client.connect();
    await client.query(`LISTEN ${channel}`);
    return { lost };
  }

  #tellAll(): void {
    for (const listeners of this.#listeners.values()) for (const listener of listeners) listener('*');
  }
}
