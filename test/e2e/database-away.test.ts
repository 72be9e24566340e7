import { setTimeout as delay } from 'node:timers/promises';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createPool } from '../../src/db/pool.ts';
import type { Message } from '../../src/events/message-view.ts';
import { verifyLedger, type Difference } from '../../src/ledger/verify.ts';
import { cleanUp, makeFolder } from '../helpers/embedded.ts';
import { createTestDatabase } from '../helpers/postgres.ts';
import { endProcesses, ServiceProcess } from '../helpers/process.ts';
import { until } from '../helpers/until.ts';
import { postControl } from '../simulator/control-client.ts';
import { Cable } from '../webhooks/cable.ts';

afterEach(endProcesses);
afterAll(() => cleanUp());

describe('a database that is away for ten seconds', { timeout: 120_000 }, () => {
  it('costs requests an internal_error, loses nothing that was acknowledged, and is found again by the service itself', async () => {
    const database = await createTestDatabase();
    const cable = await Cable.to(database.url);
    const dataDir = path.join(await makeFolder(undefined), 'data');
    const service = await ServiceProcess.start(dataDir, { env: { DATABASE_URL: cable.url } });
    const { api, quickstart } = service;
    await postControl(quickstart.simulator_url, '/providers/twilio', { latencyMs: 100 });

    const acknowledged: Message[] = [];
    const refusals = new Set<string>();
    const stop = new AbortController();
    const callers = Array.from({ length: 8 }, async (_, caller) => {
      for (let count = 0; !stop.signal.aborted; count += 1) {
        const { status, data, error } = await api.send({ to: `+336${caller}${String(count).padStart(7, '0')}` });
        if (status === 201) acknowledged.push(data);
        else refusals.add(`${status} ${error.code}`);
        // A caller that is refused tries again later, as callers should.
        if (status !== 201) await delay(50);
      }
    });
    const answered = (count: number) => until(`${count} are acknowledged`, () => acknowledged.length >= count, 30_000);
    await answered(100);
    cable.cut();
    await until(
      'it says that it is not ready',
      async () => (await fetch(new URL('/readyz', quickstart.base_url))).status === 503,
    );
    expect((await fetch(new URL('/livez', quickstart.base_url))).status).toBe(200);
    await delay(10_000);
    cable.mend();
    await answered(acknowledged.length + 100);
    stop.abort();
    await Promise.all(callers);
    expect([...refusals]).toEqual(['500 internal_error']);
    expect((await fetch(new URL('/readyz', quickstart.base_url))).status).toBe(200);

    for (const { id, to } of acknowledged) expect((await api.get(id)).to).toBe(to);
    await until(
      'every message is resolved',
      async () => (await api.list({ status: 'pending' })).pagination.total === 0,
      45_000,
    );
    for (const { id } of acknowledged.slice(-20)) {
      await until('delivered', async () => (await api.get(id)).status === 'delivered');
    }
    expect(await service.stop()).toMatchObject({ code: 0 });
    expect(service.output.split('Stop with Ctrl-C.')[1]).not.toMatch(/ds_live_|\+336/);

    const pool = createPool({
      url: database.url,
      maxConnections: 2,
      applicationName: 'test',
      onError: () => undefined,
    });
    const differences: Difference[] = [];
    for await (const difference of verifyLedger(pool)) differences.push(difference);
    expect(differences).toEqual([]);
    await pool.end();
    await cable.stop();
    await database.drop();
  });
});
