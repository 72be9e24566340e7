import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { startEmbeddedPostgres } from '../../src/db/embedded.ts';
import { createPool } from '../../src/db/pool.ts';
import type { Event } from '../../src/events/event.ts';
import type { Message } from '../../src/events/message-view.ts';
import { verifyLedger, type Difference } from '../../src/ledger/verify.ts';
import type { ApiClient } from '../helpers/client.ts';
import { cleanUp, makeFolder } from '../helpers/embedded.ts';
import { endProcesses, ServiceProcess } from '../helpers/process.ts';
import { until } from '../helpers/until.ts';
import { postControl } from '../simulator/control-client.ts';
import { Receiver } from '../webhooks/receiver.ts';

afterEach(endProcesses);
afterAll(() => cleanUp());

/** What one request asked for, and what it was told; undefined when the power went out before the answer. */
type Asked = { key: string; recipients: string[]; told: Message[] | undefined };

/** Callers that send, one request after the other, until there is nobody to answer any more. */
class Load {
  readonly asked: Asked[] = [];
  readonly #api: ApiClient;
  #count = 0;

  constructor(api: ApiClient) {
    this.#api = api;
  }

  get acknowledged(): Message[] {
    return this.asked.flatMap(({ told }) => told ?? []);
  }

  async run(callers: number): Promise<void> {
    await Promise.all(Array.from({ length: callers }, (_, caller) => this.#call(caller % 4 === 0 ? 20 : 1)));
  }

  async #call(recipientsEach: number): Promise<void> {
    for (;;) {
      const recipients = Array.from(
        { length: recipientsEach },
        () => `+3361${String((this.#count += 1)).padStart(7, '0')}`,
      );
      const asked: Asked = { key: randomUUID(), recipients, told: undefined };
      this.asked.push(asked);
      try {
        asked.told = await tell(this.#api, asked);
      } catch {
        return;
      }
    }
  }
}

async function tell(api: ApiClient, { key, recipients }: Asked): Promise<Message[]> {
  const headers = { 'idempotency-key': key };
  if (recipients.length === 1) return [await api.sent({ to: recipients[0] }, headers)];
  const { data } = await api.bulk({ recipients }, headers);
  return data.messages;
}

async function listAll<Item>(api: ApiClient, what: string): Promise<Item[]> {
  const items: Item[] = [];
  for (let page = 1; ; page += 1) {
    const { data, pagination } = await api.request<Item[]>('GET', what, { query: { page, limit: 100 } });
    items.push(...data);
    if (!pagination.has_more) return items;
  }
}

/** The books of a service that has ended. */
async function differencesIn(dataDir: string): Promise<Difference[]> {
  const database = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  const pool = createPool({ url: database.url, maxConnections: 2, applicationName: 'test', onError: () => undefined });
  const differences: Difference[] = [];
  try {
    for await (const difference of verifyLedger(pool)) differences.push(difference);
  } finally {
    await pool.end();
    await database.stop();
  }
  return differences;
}

describe('a power cut under load', { timeout: 180_000 }, () => {
  it('loses nothing that was acknowledged, accepts nothing twice, and leaves the books in order', async () => {
    const dataDir = path.join(await makeFolder(undefined), 'data');
    const before = await ServiceProcess.start(dataDir);
    const receiver = await Receiver.start();
    await before.api.createWebhook({ url: receiver.url });
    // Slow enough that many messages are on their way when it happens.
    for (const provider of ['twilio', 'vonage']) {
      await postControl(before.quickstart.simulator_url, `/providers/${provider}`, { latencyMs: 150, errorRate: 0.1 });
    }
    const load = new Load(before.api);
    const loading = load.run(12);
    await until('a few hundred messages are acknowledged', () => load.acknowledged.length > 400, 30_000);
    await before.kill();
    await loading;
    const unanswered = load.asked.filter(({ told }) => told === undefined);
    expect(unanswered.length).toBeGreaterThan(0);

    const after = await ServiceProcess.start(dataDir);
    const { api } = after;
    for (const told of load.acknowledged) {
      const { to, from, body, created_at } = await api.get(told.id);
      expect({ to, from, body, created_at }).toEqual({
        to: told.to,
        from: told.from,
        body: told.body,
        created_at: told.created_at,
      });
    }
    // Whoever was not answered asks again, with the same keys.
    await Promise.all(
      unanswered.map(async (asked) => {
        asked.told = await tell(api, asked);
      }),
    );
    await until(
      'every message is resolved when the leases have run out',
      async () => (await api.list({ status: 'pending' })).pagination.total === 0,
      45_000,
    );
    const messages = await listAll<Message>(api, '/messages');
    expect(messages.map(({ to }) => to).toSorted()).toEqual(
      load.asked.flatMap(({ recipients }) => recipients).toSorted(),
    );
    expect(messages.map(({ id }) => id).toSorted()).toEqual(load.acknowledged.map(({ id }) => id).toSorted());

    const spent = messages.reduce((sum, { cost }) => sum + Math.round(cost * 1_000_000), 0);
    expect(Math.round((await api.balance()) * 1_000_000)).toBe(100_000_000 - spent);

    const events = await listAll<Event>(api, '/events');
    for (const { id, status } of messages) {
      const types = events.filter(({ data }) => data.id === id).map(({ type }) => type);
      expect(types).toContain(status === 'failed' ? 'message.failed' : 'message.sent');
      expect(new Set(types).size).toBe(types.length);
    }
    await until(
      'every event has reached the webhook',
      () => {
        const received = new Set(receiver.requests.map(({ body }) => (JSON.parse(body) as Event).id));
        return events.every(({ id }) => received.has(id));
      },
      60_000,
    );
    expect(await after.stop()).toMatchObject({ code: 0 });
    await receiver.stop();
    expect(await differencesIn(dataDir)).toEqual([]);
  });
});
