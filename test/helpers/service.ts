import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import { expect } from 'vitest';
import { insertAccount } from '../../src/accounts/account-queries.ts';
import { createKey, type KeySettings } from '../../src/accounts/keys.ts';
import { startApp, type AppOptions, type RunningApp } from '../../src/app.ts';
import { loadConfig, type Config } from '../../src/config.ts';
import type { Pool } from '../../src/db/pool.ts';
import { transaction } from '../../src/db/tx.ts';
import type { AttemptRecord } from '../../src/dispatch/attempt.ts';
import { scopes } from '../../src/http/caller.ts';
import { recordTransfer } from '../../src/ledger/ledger.ts';
import { verifyLedger, type Difference } from '../../src/ledger/verify.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { fromPublicId } from '../../src/lib/ids.ts';
import { createLog } from '../../src/lib/log.ts';
import type { ProviderName } from '../../src/providers/provider.ts';
import { insertSender, type SenderRow } from '../../src/senders/queries.ts';
import { senderFormOf } from '../../src/senders/sender-form.ts';
import type { Faults } from '../../src/simulator/faults.ts';
import { simulatorCredentials, startSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { listMessages, postControl, type JournalledMessage } from '../simulator/control-client.ts';
import { ApiClient } from './client.ts';
import { createTestDatabase } from './postgres.ts';
import { until } from './until.ts';

export type ServiceOptions = {
  /** From a provider's acceptance to its last receipt. */
  deliveryDelayMs?: number;
  /** Of each provider. Long enough that a busy machine does not look like a silent provider. */
  providerTimeoutMs?: number;
  clock?: Clock;
  /** What the test is about may be an error in the log. */
  errorsExpected?: boolean;
  /** Changes the settings of the providers from what the simulator expects. */
  providers?: (settings: Config['providers']) => Config['providers'];
} & Pick<AppOptions, 'answerWithinMs'> &
  Partial<Pick<Config, 'publicUrl' | 'routes' | 'rateCard' | 'onTimeout' | 'trustedProxies'>>;

/** An account with a caller of its own, so that tests in one file do not meet. */
export type TestAccount = { accountId: string; keyId: string; api: ApiClient };

export type AccountOptions = {
  /** Defaults to 100. */
  balance?: number;
  senders?: Array<Pick<SenderRow, 'sender_id' | 'status'>>;
  key?: Partial<KeySettings>;
};

const rateCard: Config['rateCard'] = {
  defaultMicros: 10_000,
  byPrefix: new Map([
    ['+1', 7_900],
    ['+44', 40_000],
    ['+447', 50_000],
  ]),
};

const anyMessage = { prefixes: [], senderTypes: [] };

/** Route 1 is what a message takes unless told otherwise; route 2 is the same the other way round. */
const routes: Config['routes'] = [
  { id: 1, name: 'everywhere', match: anyMessage, providers: ['twilio', 'vonage'], rates: new Map() },
  { id: 2, name: 'the other way round', match: anyMessage, providers: ['vonage', 'twilio'], rates: new Map() },
];

function upstreams(simulatorUrl: string, timeoutMs: number): Config['providers'] {
  const { twilio, vonage } = simulatorCredentials;
  // The simulator keeps no upstream's rate limit.
  const ratePerSecond = 100_000;
  return {
    twilio: { baseUrl: `${simulatorUrl}/twilio`, timeoutMs, ratePerSecond, ...twilio },
    vonage: { baseUrl: `${simulatorUrl}/vonage`, timeoutMs, ratePerSecond, ...vonage },
  };
}

/** The running service with the simulator behind it, in this process, on a database of its own. */
/** What the operator's routes of a test service ask for. */
export const operatorToken = 'operator-token-of-the-tests';

export class TestService {
  readonly app: RunningApp;
  readonly simulator: Simulator;
  readonly #startPeer: () => Promise<RunningApp>;
  readonly #clock: Clock;
  readonly #peers: RunningApp[] = [];
  readonly #logged: string[];
  readonly #dropDatabase: () => Promise<void>;
  readonly #errorsExpected: boolean;

  private constructor(parts: {
    app: RunningApp;
    simulator: Simulator;
    startPeer: () => Promise<RunningApp>;
    clock: Clock;
    logged: string[];
    dropDatabase: () => Promise<void>;
    errorsExpected: boolean;
  }) {
    this.app = parts.app;
    this.simulator = parts.simulator;
    this.#startPeer = parts.startPeer;
    this.#clock = parts.clock;
    this.#logged = parts.logged;
    this.#dropDatabase = parts.dropDatabase;
    this.#errorsExpected = parts.errorsExpected;
  }

  static async start(options: ServiceOptions = {}): Promise<TestService> {
    const { clock = systemClock, providerTimeoutMs = 10_000, deliveryDelayMs = 20, errorsExpected = false } = options;
    const database = await createTestDatabase();
    const simulator = await startSimulator({ port: 0, deliveryDelayMs });
    const logged: string[] = [];
    const secretKey = randomBytes(32);
    const startPeer = (): Promise<RunningApp> =>
      startApp({
        config: {
          ...loadConfig({ PORT: '0', DATABASE_CONNECTIONS: '6' }, () => ''),
          publicUrl: options.publicUrl,
          trustedProxies: options.trustedProxies ?? [],
          providers: (options.providers ?? ((settings) => settings))(upstreams(simulator.url, providerTimeoutMs)),
          routes: options.routes ?? routes,
          rateCard: options.rateCard ?? rateCard,
          onTimeout: options.onTimeout ?? 'next',
          metricsOpen: false,
          databaseConnections: 6,
          redisUrl: undefined,
        },
        databaseUrl: database.url,
        secretKey,
        operatorToken,
        log: createLog({ level: 'info', destination: linesInto(logged) }),
        clock,
        answerWithinMs: options.answerWithinMs,
      });
    const app = await startPeer();
    const dropDatabase = (): Promise<void> => database.drop();
    return new TestService({ app, simulator, startPeer, clock, logged, dropDatabase, errorsExpected });
  }

  get pool(): Pool {
    return this.app.pool;
  }

  get baseUrl(): string {
    return `${this.app.url}/api/v1`;
  }

  /** Everything that was logged, as it was written. */
  get logged(): string {
    return this.#logged.join('');
  }

  /** Another process of the same service would be this: an app of its own on the same database. */
  async peer(): Promise<RunningApp> {
    const peer = await this.#startPeer();
    this.#peers.push(peer);
    return peer;
  }

  async account({ balance = 100, senders, key }: AccountOptions = {}): Promise<TestAccount> {
    const { ids } = this.app;
    const accountId = ids.next();
    const now = new Date(this.#clock.now());
    await transaction(this.pool, async (db) => {
      await insertAccount(db, {
        account_id: accountId,
        email: 'someone@example.com',
        name: 'Someone',
        company_name: 'Example',
        country: 'US',
        kyc_verified: true,
        currency: 'USD',
        created_at: now,
      });
      await recordTransfer(db, {
        accountId,
        id: ids.next(),
        kind: 'top_up',
        amountMicros: Math.round(balance * 1_000_000),
        note: 'for a test',
        atMs: now.getTime(),
      });
      for (const { sender_id, status } of senders ?? [{ sender_id: 'HELIO', status: 'approved' }]) {
        await insertSender(db, {
          account_id: accountId,
          id: ids.next(),
          sender_id,
          type: senderFormOf(sender_id) ?? 'alphanumeric',
          country_code: null,
          status,
          approved_at: status === 'approved' ? now : null,
          created_at: now,
        });
      }
    });
    return { accountId, ...(await this.key(accountId, key)) };
  }

  /** Puts money on an account. */
  async topUp(accountId: string, amount: number): Promise<void> {
    const entry = { accountId, id: this.app.ids.next(), kind: 'top_up' as const, note: 'for a test' };
    await recordTransfer(this.pool, {
      ...entry,
      amountMicros: Math.round(amount * 1_000_000),
      atMs: this.#clock.now(),
    });
  }

  /** What the simulator was asked to send to a recipient, in order. */
  async asked(to: string): Promise<Array<JournalledMessage & { callbackUrl: string | null }>> {
    const { messages } = await listMessages(this.simulator.url, { to, limit: 1_000 });
    return messages as Array<JournalledMessage & { callbackUrl: string | null }>;
  }

  /** What is kept of a message's dispatch. */
  async story(messageId: string): Promise<AttemptRecord[]> {
    const { rows } = await this.pool.query<{ attempts: AttemptRecord[] | null }>(
      'SELECT attempts FROM messages WHERE id = $1',
      [fromPublicId('msg', messageId)],
    );
    return rows[0]?.attempts ?? [];
  }

  /** Imposes faults on a provider. */
  async disturb(provider: ProviderName, faults: Partial<Faults>): Promise<void> {
    const { status } = await postControl(this.simulator.url, `/providers/${provider}`, faults);
    expect(status).toBe(200);
  }

  /** A further key of an account, with every scope unless told otherwise. */
  async key(accountId: string, settings: Partial<KeySettings> = {}): Promise<{ keyId: string; api: ApiClient }> {
    const { key, plainKey } = await createKey(
      this.pool,
      accountId,
      {
        name: 'test',
        permissions: [...scopes],
        rateLimit: 6_000,
        dailyLimit: null,
        monthlyLimit: null,
        allowedIps: null,
        expiresAt: null,
        ...settings,
      },
      { ids: this.app.ids, clock: this.#clock },
    );
    return { keyId: key.id, api: new ApiClient(this.baseUrl, plainKey) };
  }

  /** Every place where the books do not agree. */
  async differences(): Promise<Difference[]> {
    const differences: Difference[] = [];
    for await (const difference of verifyLedger(this.pool)) differences.push(difference);
    return differences;
  }

  /** Stops everything, and fails where the books do not agree, something leaked, or the log says what it must not. */
  async stop(): Promise<void> {
    try {
      await this.#expectSound();
    } finally {
      await Promise.all([this.app, ...this.#peers].map((app) => app.stop()));
      await this.simulator.stop();
      await this.#dropDatabase();
    }
  }

  async #expectSound(): Promise<void> {
    expect(await this.differences()).toEqual([]);
    for (const { pool } of [this.app, ...this.#peers]) {
      await until('all connections are back in the pool', () => pool.totalCount === pool.idleCount);
    }
    const log = this.logged;
    expect(log, 'keys in the log').not.toContain('ds_live_');
    expect(log.match(/\+\d{8,}/g) ?? [], 'phone numbers in the log').toEqual([]);
    if (!this.#errorsExpected) {
      expect(this.#logged.filter((line) => (JSON.parse(line) as { level: number }).level >= 50)).toEqual([]);
    }
  }
}

function linesInto(logged: string[]): Writable {
  return new Writable({
    decodeStrings: false,
    write(line: string, _encoding, done) {
      logged.push(line);
      done();
    },
  });
}
