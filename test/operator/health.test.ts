import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFastify } from '../../src/http/fastify.ts';
import { createIdSource } from '../../src/lib/ids.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/log.ts';
import { Metrics } from '../../src/lib/metrics.ts';
import { healthRoutes } from '../../src/operator/health-routes.ts';
import { readReadiness } from '../../src/operator/readiness.ts';
import { operatorToken, TestService } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

async function ask(path: string, token?: string): Promise<{ status: number; type: string; text: string }> {
  const headers = token === undefined ? undefined : { authorization: `Bearer ${token}` };
  const response = await fetch(service.app.url + path, { headers });
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    text: await response.text(),
  };
}

async function isReady(): Promise<[number, unknown]> {
  const { status, text } = await ask('/readyz');
  return [status, JSON.parse(text)];
}

/** Names and labels of what `/metrics` says. */
async function readSamples(): Promise<Array<{ name: string; labels: Record<string, string>; value: number }>> {
  const { text } = await ask('/metrics', operatorToken);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const pairs = [...labels.matchAll(/(\w+)="((?:\\.|[^"\\])*)"/g)].map(([, key = '', content = '']) => [
      key,
      content,
    ]);
    return { name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) };
  });
}

describe('/readyz', () => {
  const ready = { status: 'ready', checks: { database: 'ok', migrations: 'ok', workers: 'ok' } };

  test('says that database, migrations and workers are there; /livez that the process is', async () => {
    await until('the workers run', async () => (await isReady())[0] === 200);
    expect(await isReady()).toEqual([200, ready]);
    expect(await ask('/livez')).toMatchObject({ status: 200, text: '{"status":"ok"}' });
  });

  test('names a migration that is missing as what is failing, and does not mind one that is newer', async () => {
    const { rows } = await service.pool.query<{ version: number; name: string }>(
      'DELETE FROM schema_migrations WHERE version = (SELECT max(version) FROM schema_migrations) RETURNING version, name',
    );
    expect(await isReady()).toEqual([
      503,
      { status: 'not ready', checks: { database: 'ok', migrations: 'failing', workers: 'ok' } },
    ]);
    expect(service.logged).toContain(`_${rows[0]?.name}`);
    await service.pool.query("INSERT INTO schema_migrations (version, name) VALUES ($1, $2), (9999, 'newer')", [
      rows[0]?.version,
      rows[0]?.name,
    ]);
    expect(await isReady()).toEqual([200, ready]);
    await service.pool.query('DELETE FROM schema_migrations WHERE version = 9999');
  });

  test('wants workers that run', async () => {
    const running = { name: 'one', isRunning: true, stop: async () => undefined };
    const stopped = { ...running, name: 'two', isRunning: false };
    expect((await readReadiness(service.pool, [running])).workers).toBeUndefined();
    expect((await readReadiness(service.pool, [])).workers?.message).toBe('no worker was started');
    expect((await readReadiness(service.pool, [running, stopped])).workers?.message).toBe('stopped: two');
  });
});

describe('/metrics', () => {
  test('is for whoever has the operator token', async () => {
    expect((await ask('/metrics')).status).toBe(401);
    expect((await ask('/metrics', 'wrong')).status).toBe(401);
    expect(await ask('/metrics', operatorToken)).toMatchObject({
      status: 200,
      type: expect.stringMatching(/^text\/plain; version=/),
    });
  });

  test('is for everybody where it is configured open', async () => {
    const metrics = new Metrics();
    const log = createLog({ level: 'silent' });
    const app = createFastify({ log, ids: createIdSource(systemClock), trustedProxies: [], metrics });
    healthRoutes(app, {
      metrics,
      operatorToken,
      metricsOpen: true,
      readReadiness: () => readReadiness(service.pool, []),
    });
    const { statusCode, body } = await app.inject({ url: '/metrics' });
    expect([statusCode, body]).toEqual([200, expect.stringContaining('heliograph_process_cpu_seconds_total')]);
    await app.close();
  });

  test('tells of requests, sends, latency, queues, webhooks, batches, the event loop, the pool and the workers', async () => {
    const { api } = await service.account();
    await api.createWebhook({ url: 'http://127.0.0.1:9/' });
    await api.sent({ to: '+9990100501' });
    await until('the webhook was tried', async () =>
      (await readSamples()).some(({ name }) => name === 'heliograph_webhook_attempts_total'),
    );
    const samples = await readSamples();
    const has = (name: string, labels: Record<string, string> = {}): boolean =>
      samples.some(
        (sample) =>
          sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
      );
    const wanted: Array<[string, Record<string, string>?]> = [
      [
        'heliograph_http_request_duration_seconds_count',
        { method: 'POST', route: '/api/v1/messages/send', status: '201' },
      ],
      ['heliograph_provider_attempts_total', { provider: 'twilio', result: 'retryable' }],
      ['heliograph_provider_attempts_total', { provider: 'vonage', result: 'accepted' }],
      ['heliograph_provider_attempt_duration_seconds_bucket', { provider: 'vonage' }],
      ['heliograph_provider_breaker', { provider: 'twilio' }],
      ['heliograph_dispatch_queue_depth'],
      ['heliograph_dispatch_queue_oldest_seconds'],
      ['heliograph_webhook_attempts_total', { result: 'failed' }],
      ['heliograph_webhook_deliveries_waiting'],
      ['heliograph_webhook_deliveries_overdue'],
      ['heliograph_webhook_deliveries_overdue_oldest_seconds'],
      ['heliograph_batch_items_count', { batcher: 'accept single' }],
      ['heliograph_batch_items_count', { batcher: 'outcome' }],
      ['heliograph_nodejs_eventloop_lag_seconds'],
      ['heliograph_nodejs_eventloop_lag_p99_seconds'],
      ['heliograph_database_connections_used'],
      ['heliograph_database_connections_max'],
      ['heliograph_database_connections_waited_for'],
      ['heliograph_worker_runs_total', { worker: 'dispatch sweeper', result: 'succeeded' }],
    ];
    expect(wanted.filter(([name, labels]) => !has(name, labels))).toEqual([]);
  });

  test('has no label that callers could make up', async () => {
    const { api } = await service.account();
    const odd = 'made-up-by-a-caller';
    await api.request('GET', `/${odd}`);
    await api.request('GET', `/messages/${odd}`);
    await api.request('GET', '/messages', { query: { status: odd } });
    await fetch(`${service.app.url}/receipts/${odd}/${odd}`, { method: 'POST' });
    await fetch(`${service.app.url}/${odd}`);
    const samples = await readSamples();
    expect(samples.filter(({ labels }) => JSON.stringify(labels).includes(odd))).toEqual([]);
    const [unknown] = samples.filter(({ labels }) => labels['route'] === 'unknown');
    expect(unknown).toBeDefined();
  });

  test('leaves out what cannot be looked up, rather than saying 0', async () => {
    const metrics = new Metrics();
    let isThere = true;
    metrics.observe('answer', 'A value that is sometimes there', async () => {
      if (!isThere) throw new Error('the database is away');
      return 42;
    });
    expect(await metrics.registry.metrics()).toMatch(/^heliograph_answer 42$/m);
    isThere = false;
    expect(await metrics.registry.metrics()).not.toMatch(/^heliograph_answer /m);
  });
});
