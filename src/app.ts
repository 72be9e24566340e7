import { createSecretKey, hkdfSync, randomInt } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { Callers } from './accounts/callers.ts';
import { KeyUses } from './accounts/key-uses.ts';
import type { Config } from './config.ts';
import { migrate } from './db/migrate.ts';
import { Notices } from './db/notices.ts';
import { ensurePartitions } from './db/partitions.ts';
import { createPool, type Pool } from './db/pool.ts';
import { Dispatcher, type LaneName } from './dispatch/dispatcher.ts';
import { createOutcomes } from './dispatch/outcome.ts';
import { RecentAttemptCounts } from './dispatch/recent-attempts.ts';
import { leaseMsFor } from './dispatch/lease.ts';
import { connectRequestCounter, createRequestCounter, type RequestCounter } from './http/request-counter.ts';
import type { Clock } from './lib/clock.ts';
import { createIdSource, type IdSource } from './lib/ids.ts';
import type { Log } from './lib/log.ts';
import { Metrics } from './lib/metrics.ts';
import type { Worker } from './lib/worker.ts';
import { createAccept, type AcceptDeps } from './messages/accept.ts';
import { IdempotentAnswers } from './messages/answers.ts';
import { observeGauges } from './operator/gauges.ts';
import { readReadiness } from './operator/readiness.ts';
import { createProviders, paceOf } from './providers/registry.ts';
import { ReceiptDesk } from './receipts/desk.ts';
import type { ProviderName } from './providers/provider.ts';
import { accountTokenOf } from './receipts/account-token.ts';
import { encodeRef } from './receipts/ref.ts';
import { createIsApprovedSender } from './senders/approved.ts';
import { createServer } from './server.ts';
import { version } from './version.ts';
import { createResolve } from './webhooks/connect.ts';
import { Deliverer } from './webhooks/deliver.ts';
import { createTargetGuard } from './webhooks/target.ts';
import { startWorkers } from './workers.ts';

export type AppOptions = {
  config: Pick<
    Config,
    | 'host'
    | 'port'
    | 'publicUrl'
    | 'trustedProxies'
    | 'webhookTargets'
    | 'providers'
    | 'routes'
    | 'rateCard'
    | 'onTimeout'
    | 'retention'
    | 'databaseConnections'
    | 'metricsOpen'
    | 'redisUrl'
  >;
  databaseUrl: string;
  secretKey: Buffer;
  operatorToken: string;
  log: Log;
  clock: Clock;
  /** How long a caller waits for an outcome before the answer is `pending`. */
  answerWithinMs?: number;
};

/** The running service. */
export type RunningApp = {
  /** `http://host:port` it listens on. */
  url: string;
  pool: Pool;
  ids: IdSource;
  notices: Notices;
  /** Where an upstream that takes no callback URL per message must be told to report, for its dashboard. */
  accountReceiptsUrlOf(provider: ProviderName): string;
  /** Stops accepting, finishes what is in flight, stops the workers, closes the database. */
  stop(): Promise<void>;
};

/** A key of its own for each purpose, so that none reveals another. */
function deriveKey(secretKey: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, '', `heliograph ${purpose}`, 32));
}

type Foundation = { pool: Pool; ids: IdSource; notices: Notices };

async function openDatabase(
  { databaseUrl, config, log, clock }: AppOptions,
  stops: AsyncDisposableStack,
): Promise<Foundation> {
  await migrate(databaseUrl);
  const pool = createPool({
    url: databaseUrl,
    maxConnections: config.databaseConnections,
    applicationName: 'heliograph',
    onError: (error) => {
      if (!pool.ending) log.warn({ err: error }, 'an idle database connection was lost');
    },
  });
  stops.defer(() => pool.end());
  await ensurePartitions(pool, clock.now());
  const notices = new Notices({ url: databaseUrl, log });
  await notices.start();
  stops.defer(() => notices.stop());
  return { pool, ids: createIdSource(clock), notices };
}

/** Connections to upstreams end once nothing is sent over them any more. */
function openProviders(
  { config, log, clock }: AppOptions,
  stops: AsyncDisposableStack,
): ReturnType<typeof createProviders> {
  const providers = createProviders(config.providers, {
    clock,
    random: () => randomInt(2 ** 47) / 2 ** 47,
    onNotice: (notice) => log[notice.state === 'bound' ? 'info' : 'warn']({ smpp: notice }, 'SMPP bind'),
  });
  stops.defer(async () => void (await Promise.all([...providers.values()].map((provider) => provider.close()))));
  return providers;
}

/** accept → dispatch → outcome → webhooks: what a message goes through, each part handing on to the next. */
function buildPipeline(
  options: AppOptions,
  { pool, ids, notices }: Foundation,
  publicUrl: () => string,
  metrics: Metrics,
  stops: AsyncDisposableStack,
) {
  const { config, secretKey, log, clock } = options;
  const webhookSecretKey = deriveKey(secretKey, 'webhook secrets');
  const guard = createTargetGuard(config.webhookTargets, createResolve(config.webhookTargets));
  const userAgent = `Heliograph/${version}`;
  const deliverer = new Deliverer({
    pool,
    notices,
    clock,
    log,
    secretKey: webhookSecretKey,
    guard,
    userAgent,
    onAttempt: (result) => metrics.webhookAttempt(result),
  });
  stops.defer(() => deliverer.stop());

  const onDeliveries = deliverer.offer.bind(deliverer);
  const outcomeDeps = { pool, clock, ids, log, onDeliveries };
  const outcomes = createOutcomes({ ...outcomeDeps, onBatch: metrics.batchesOf('outcome') });
  const receiptOutcomes = createOutcomes({ ...outcomeDeps, onBatch: metrics.batchesOf('receipt') });
  stops.defer(() => receiptOutcomes.idle());

  const providers = openProviders(options, stops);
  const attemptTimeoutMs = Math.max(10_000, ...Object.values(config.providers).map(({ timeoutMs }) => timeoutMs));
  const refKey = createSecretKey(deriveKey(secretKey, 'receipt refs'));
  const recentAttempts = new RecentAttemptCounts(clock);
  const dispatcher = new Dispatcher({
    pool,
    clock,
    log,
    providers,
    outcomes,
    attemptTimeoutMs,
    onTimeout: config.onTimeout,
    concurrency: { single: 512, bulk: 128 },
    paceOf: (provider) => paceOf(config.providers, provider),
    onAttempt: (provider, result, latencyMs) => {
      metrics.attempt(provider, result, latencyMs);
      recentAttempts.note(provider, result, latencyMs);
    },
    refOf: (provider, { account_id: accountId, id: messageId }, attempt) =>
      encodeRef({ accountId, messageId, attempt }, provider, refKey),
    callbackUrlOf: (provider, ref) => `${publicUrl()}/receipts/${provider}/${ref}`,
  });
  const receiptDesk = new ReceiptDesk({ pool, clock, ids, log, outcomes: receiptOutcomes, refKey, metrics });
  for (const provider of providers.values()) receiptDesk.listenTo(provider);
  const acceptDeps = { pool, clock, ids, dispatchLeaseMs: leaseMsFor(attemptTimeoutMs), onDeliveries };
  observeGauges(metrics, { pool, clock, dispatcher, deliverer });
  return {
    accept: openAccept(acceptDeps, metrics),
    dispatcher,
    attemptTimeoutMs,
    receiptDesk,
    metrics,
    deliverer,
    guard,
    webhookSecretKey,
    providers,
    recentAttempts,
    refKey,
  };
}

/** Single sends do not wait for the commits of bulks. */
function openAccept(deps: AcceptDeps, metrics: Metrics): Record<LaneName, ReturnType<typeof createAccept>> {
  return {
    single: createAccept({ ...deps, onBatch: metrics.batchesOf('accept single') }),
    bulk: createAccept({ ...deps, onBatch: metrics.batchesOf('accept bulk') }),
  };
}

function openRequestCounter({ config, log }: AppOptions, stops: AsyncDisposableStack): RequestCounter {
  if (config.redisUrl === undefined) return createRequestCounter();
  const { counter, close } = connectRequestCounter(config.redisUrl, log);
  stops.defer(close);
  return counter;
}

/** Builds every part, wires them, listens and starts the workers. What was started is stopped again when a later part cannot start. */
export async function startApp(options: AppOptions): Promise<RunningApp> {
  const { config, log, clock, answerWithinMs = 25_000 } = options;
  await using starting = new AsyncDisposableStack();
  const foundation = await openDatabase(options, starting);
  const { pool, ids, notices } = foundation;

  let url = '';
  const publicUrl = (): string => config.publicUrl ?? url;
  const metrics = new Metrics();
  const pipeline = buildPipeline(options, foundation, publicUrl, metrics, starting);
  const { dispatcher } = pipeline;
  const keyUses = new KeyUses({ pool, clock });
  const workers: Worker[] = [];
  starting.defer(() =>
    keyUses.flush().catch((error: Error) => log.warn({ err: error }, 'uses of keys were not noted')),
  );
  const server = await createServer({
    ...pipeline,
    log,
    ids,
    clock,
    pool,
    secretKey: pipeline.webhookSecretKey,
    trustedProxies: config.trustedProxies,
    callers: new Callers(pool, notices),
    keyUses,
    notices,
    requestCounter: openRequestCounter(options, starting),
    metrics,
    operatorToken: options.operatorToken,
    metricsOpen: config.metricsOpen,
    readReadiness: () => readReadiness(pool, workers),
    routes: config.routes,
    rateCard: config.rateCard,
    isApprovedSender: createIsApprovedSender(pool, notices),
    paceOf: (provider) => paceOf(config.providers, provider),
    dispatch: (job, lane, withinMs) => dispatcher.settle(job, lane, withinMs),
    answerWithinMs,
    answers: new IdempotentAnswers({ pool, clock, log }),
    publicUrl,
  });
  await server.listen({ host: config.host, port: config.port, backlog: 1_024 });
  const { port } = server.server.address() as AddressInfo;
  url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
  workers.push(...startWorkers({ ...pipeline, pool, clock, log, keyUses, retention: config.retention }));
  // Running attempts end and are committed; messages that still wait stay pending, for this or another process to take up.
  starting.defer(async () => {
    await Promise.all([
      server.close(),
      dispatcher.stop(),
      pipeline.deliverer.stop(),
      ...workers.map((worker) => worker.stop()),
    ]);
  });

  const running = starting.move();
  return {
    url,
    pool,
    ids,
    notices,
    accountReceiptsUrlOf: (provider) =>
      `${publicUrl()}/receipts/${provider}/${accountTokenOf(provider, pipeline.refKey)}`,
    stop: () => running.disposeAsync(),
  };
}
