import { randomBytes } from 'node:crypto';
import { Notices } from '../../src/db/notices.ts';
import { ensurePartitions } from '../../src/db/partitions.ts';
import { createPool, type Pool } from '../../src/db/pool.ts';
import { transaction } from '../../src/db/tx.ts';
import type { EventStatus, EventType } from '../../src/events/event.ts';
import { messageColumns, type MessageRow } from '../../src/events/message-view.ts';
import { addEventCounts, insertEvents, type NewEvent } from '../../src/events/record.ts';
import type { Caller, Scope } from '../../src/http/caller.ts';
import { fromPublicId, createIdSource, type IdSource } from '../../src/lib/ids.ts';
import { createLog } from '../../src/lib/log.ts';
import { announce, type Change, type FreshDelivery } from '../../src/webhooks/announce.ts';
import { createResolve } from '../../src/webhooks/connect.ts';
import { Deliverer, type DelivererOptions } from '../../src/webhooks/deliver.ts';
import { createEndpoint, type EndpointDeps } from '../../src/webhooks/endpoints.ts';
import { createTargetGuard } from '../../src/webhooks/target.ts';
import { createTestDatabase } from '../helpers/postgres.ts';
import { Cable } from './cable.ts';
import { Receiver, type Answer } from './receiver.ts';

/** A clock that tests move by hand; it starts at the present, so that signatures are fresh to those who verify them. */
export class ManualClock {
  #nowMs = Date.now();
  now(): number {
    return this.#nowMs;
  }
  advance(ms: number): void {
    this.#nowMs += ms;
  }
}

export type Endpoint = { accountId: string; endpointId: string; secret: string };

export type DeliveryState = { status: string; attempts: Array<Record<string, unknown>> };

/** What authentication would find out about a caller, where it is not under test. */
export function callerOf(accountId: string, permissions: readonly Scope[]): Caller {
  return {
    accountId,
    permissions,
    accountStatus: 'active',
    currency: 'USD',
    keyId: accountId,
    rateLimit: 6_000,
    dailyLimit: null,
    monthlyLimit: null,
    allowedIps: null,
    expiresAtMs: null,
    isActive: true,
  };
}

const policy = { allowPrivate: true, allowedNetworks: [] };

/** A database, receivers and deliverers of one test file. What is started is stopped with it. */
export class World {
  readonly clock = new ManualClock();
  readonly ids: IdSource = createIdSource(this.clock);
  readonly log = createLog({ level: 'silent' });
  readonly secretKey = randomBytes(32);
  readonly guard = createTargetGuard(policy, createResolve(policy));
  readonly #cleanUps: Array<() => Promise<unknown>>;
  readonly pool: Pool;
  readonly notices: Notices;
  readonly url: string;

  private constructor(url: string, pool: Pool, notices: Notices, cleanUps: Array<() => Promise<unknown>>) {
    this.url = url;
    this.pool = pool;
    this.notices = notices;
    this.#cleanUps = cleanUps;
  }

  static async start(): Promise<World> {
    const database = await createTestDatabase();
    const { url } = database;
    const pool = createPool({ url, maxConnections: 4, applicationName: 'webhook tests', onError: () => undefined });
    const notices = new Notices({ url, log: createLog({ level: 'silent' }) });
    await notices.start();
    const world = new World(url, pool, notices, [() => notices.stop(), () => pool.end(), () => database.drop()]);
    await ensurePartitions(pool, world.clock.now());
    return world;
  }

  async stop(): Promise<void> {
    for (const cleanUp of this.#cleanUps) await cleanUp();
  }

  get deps(): EndpointDeps {
    const { pool, clock, ids, secretKey, guard } = this;
    return { pool, clock, ids, secretKey, guard };
  }

  /** Stopped, if the test has not stopped it, before everything that was started earlier. */
  deliverer(options: Partial<DelivererOptions> = {}): Deliverer {
    const { pool, clock, log, secretKey, guard, notices } = this;
    const defaults = { pool, clock, log, secretKey, guard, notices, userAgent: 'Heliograph/test' };
    const deliverer = new Deliverer({ ...defaults, ...options });
    this.#cleanUps.unshift(() => deliverer.stop());
    return deliverer;
  }

  /** A pool of connections that a test can cut. */
  async cable(): Promise<{ pool: Pool; cable: Cable }> {
    const cable = await Cable.to(this.url);
    const pool = createPool({
      url: cable.url,
      maxConnections: 2,
      applicationName: 'cut off',
      onError: () => undefined,
    });
    // A connection that breaks while it is in use tells its user and, besides, itself.
    pool.on('connect', (client) => void client.on('error', () => undefined));
    this.#cleanUps.unshift(async () => {
      await pool.end();
      await cable.stop();
    });
    return { pool, cable };
  }

  async receiver(answer?: Answer): Promise<Receiver> {
    const receiver = await Receiver.start(answer);
    this.#cleanUps.unshift(() => receiver.stop());
    return receiver;
  }

  async account(): Promise<string> {
    const accountId = this.ids.next();
    await this.pool.query(
      `INSERT INTO accounts (account_id, email, name, currency, created_at) VALUES ($1, 'a@example.com', 'A', 'USD', now())`,
      [accountId],
    );
    return accountId;
  }

  async endpoint(url: string, options: { accountId?: string; events?: EventType[] } = {}): Promise<Endpoint> {
    const accountId = options.accountId ?? (await this.account());
    const { endpoint, secret } = await createEndpoint(accountId, { url, events: options.events }, this.deps);
    return { accountId, endpointId: endpoint.id, secret };
  }

  /** A message that has come to `status`, as the rest of the service would have left it. */
  async message(accountId: string, status: EventStatus): Promise<MessageRow> {
    const now = new Date(this.clock.now());
    const at = (...statuses: EventStatus[]) => (statuses.includes(status) ? now : null);
    const isFailure = status === 'failed' || status === 'undelivered';
    const { rows } = await this.pool.query<MessageRow>(
      `INSERT INTO messages AS m (account_id, id, recipient, sender, body, reference, segments, cost_micros, currency, providers, status,
         provider, provider_message_id, attempt_count, error_code, error_message, sent_at, delivered_at, undelivered_at, failed_at)
       VALUES ($1, $2, '+15005550001', 'HELIO', 'Grüße', 'order-7', 1, 7900, 'USD', '{twilio}', $3, 'twilio', 'SM1', 1, $4, $5, $6, $7, $8, $9)
       RETURNING ${messageColumns}`,
      [
        accountId,
        this.ids.next(),
        status,
        isFailure ? 'delivery_failed' : null,
        isFailure ? 'The carrier did not deliver it.' : null,
        at('sent', 'delivered', 'undelivered'),
        at('delivered'),
        at('undelivered'),
        at('failed'),
      ],
    );
    return rows[0] as MessageRow;
  }

  /** Messages of an account that have just come to `status`, with their events written and their deliveries enqueued. */
  async announce(accountId: string, status: EventStatus = 'sent', count = 1): Promise<FreshDelivery[]> {
    const changes: Change[] = [];
    for (let made = 0; made < count; made += 1)
      changes.push({ message: await this.message(accountId, status), status });
    return transaction(this.pool, (db) => announce(db, changes, this.ids, this.clock.now()));
  }

  /** An event on its own, whoever wants to hear of it. */
  async event(accountId: string, status: EventStatus): Promise<NewEvent> {
    const message = await this.message(accountId, status);
    const event = { accountId, eventId: this.ids.next(), messageId: message.id, status };
    await insertEvents(this.pool, [event]);
    await addEventCounts(this.pool, [event]);
    return event;
  }

  async delivery(eventId: string, endpointId?: string): Promise<DeliveryState | undefined> {
    const { rows } = await this.pool.query<DeliveryState>(
      'SELECT status, attempts FROM deliveries WHERE event_id = $1 AND ($2::uuid IS NULL OR endpoint_id = $2)',
      [fromPublicId('evt', eventId) ?? eventId, endpointId ?? null],
    );
    return rows[0];
  }

  async queued(endpointId: string): Promise<Array<{ attempts_made: number; due_at: Date }>> {
    const { rows } = await this.pool.query<{ attempts_made: number; due_at: Date }>(
      'SELECT attempts_made, due_at FROM delivery_queue WHERE endpoint_id = $1 ORDER BY event_id',
      [endpointId],
    );
    return rows;
  }

  async endpointState(endpointId: string): Promise<Record<string, unknown>> {
    const { rows } = await this.pool.query<Record<string, unknown>>(
      'SELECT is_active, failure_count, last_success_at, last_failure_at, disabled_at FROM webhook_endpoints WHERE id = $1',
      [endpointId],
    );
    return rows[0] ?? {};
  }
}
