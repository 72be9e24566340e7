import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { insertAccount } from './accounts/account-queries.ts';
import { createKey } from './accounts/keys.ts';
import { findCaller } from './accounts/key-queries.ts';
import { readProvidersSettings, type Config } from './config.ts';
import { transaction } from './db/tx.ts';
import { hashKey } from './http/auth.ts';
import { scopes } from './http/caller.ts';
import { recordTransfer } from './ledger/ledger.ts';
import type { Clock } from './lib/clock.ts';
import { toPublicId } from './lib/ids.ts';
import { providerNames } from './providers/provider.ts';
import type { RunningApp } from './app.ts';
import { writeJson } from './secrets.ts';
import { insertSender } from './senders/queries.ts';
import { startSimulatorChild, type SimulatorChild } from './simulator/child.ts';
import { simulatorCredentials } from './simulator/simulator.ts';

/** What `npm start` prints and keeps in `data/quickstart.json`. */
export type Quickstart = {
  base_url: string;
  api_key: string;
  account_id: string;
  sender: string;
  console_url: string;
  docs_url: string;
  operator_url: string;
  operator_token: string;
  simulator_url: string;
};

/** The simulator, and the configuration that puts it behind all nine providers. */
export async function startSimulatedUpstreams(
  port: number,
): Promise<{ simulator: SimulatorChild; upstreams: Pick<Config, 'providers' | 'routes'> }> {
  const simulator = await startSimulatorChild(port);
  const { smpp, ...http } = simulatorCredentials;
  // The simulator keeps no upstream's rate limit.
  const pace = { timeoutMs: 10_000, ratePerSecond: 100_000, concurrency: 512 };
  const settings = Object.fromEntries(
    Object.entries(http).map(([name, credentials]) => [
      name,
      { baseUrl: `${simulator.url}/${name}`, ...pace, ...credentials },
    ]),
  );
  const bind = {
    host: '127.0.0.1',
    port: simulator.smppPort,
    window: 100,
    statusClasses: { '0x40B': 'billing', '0x65': 'opt_out' },
    ...smpp,
  };
  const route = {
    id: 1,
    name: 'everywhere',
    match: { prefixes: [], senderTypes: [] },
    providers: [...providerNames],
    rates: new Map<string, number>(),
  };
  return { simulator, upstreams: { providers: readProvidersSettings({ ...settings, smpp: bind }), routes: [route] } };
}

/** Does what a customer does in an upstream's dashboard: tells the simulator where one that takes no callback URL must report. */
async function setAccountCallbacks(app: RunningApp, simulatorUrl: string): Promise<void> {
  const response = await fetch(`${simulatorUrl}/control/providers/africastalking`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ callbackUrl: app.accountReceiptsUrlOf('africastalking') }),
  });
  if (!response.ok) throw new Error(`the simulator refused its callback URL: ${await response.text()}`);
}

/** The demo account on the first start, the same account and key on every later one. */
export async function seedQuickstart(
  app: RunningApp,
  {
    dataDir,
    clock,
    operatorToken,
    simulatorUrl,
  }: { dataDir: string; clock: Clock; operatorToken: string; simulatorUrl: string },
): Promise<Quickstart> {
  await setAccountCallbacks(app, simulatorUrl);
  const file = path.join(dataDir, 'quickstart.json');
  const known = await readKnown(app, file);
  const { apiKey, accountId } = known ?? (await createDemoAccount(app, clock));
  const quickstart: Quickstart = {
    base_url: `${app.url}/api/v1`,
    api_key: apiKey,
    account_id: accountId,
    sender: 'HELIO',
    console_url: `${app.url}/console`,
    docs_url: `${app.url}/docs`,
    operator_url: `${app.url}/operator/v1`,
    operator_token: operatorToken,
    simulator_url: simulatorUrl,
  };
  await writeJson(file, quickstart);
  return quickstart;
}

async function readKnown(app: RunningApp, file: string): Promise<{ apiKey: string; accountId: string } | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const { api_key: apiKey } = JSON.parse(text) as Quickstart;
  const caller = await findCaller(app.pool, hashKey(apiKey));
  // A database that does not know the key is another one than this file was written for.
  return caller === undefined ? undefined : { apiKey, accountId: toPublicId('acc', caller.accountId) };
}

async function createDemoAccount(app: RunningApp, clock: Clock): Promise<{ apiKey: string; accountId: string }> {
  const accountId = app.ids.next();
  const now = new Date(clock.now());
  const { plainKey } = await transaction(app.pool, async (db) => {
    await insertAccount(db, {
      account_id: accountId,
      email: 'demo@example.com',
      name: 'Demo',
      company_name: 'Demo Company',
      country: 'US',
      kyc_verified: true,
      currency: 'USD',
      created_at: now,
    });
    await recordTransfer(db, {
      accountId,
      id: app.ids.next(),
      kind: 'top_up',
      amountMicros: 100_000_000,
      note: 'opening balance of the demo account',
      atMs: clock.now(),
    });
    for (const [senderId, type] of [
      ['HELIO', 'alphanumeric'],
      ['+15005550006', 'long_code'],
    ] as const) {
      await insertSender(db, {
        account_id: accountId,
        id: app.ids.next(),
        sender_id: senderId,
        type,
        country_code: null,
        status: 'approved',
        approved_at: now,
        created_at: now,
      });
    }
    const settings = {
      name: 'quickstart',
      permissions: [...scopes],
      rateLimit: 6_000,
      dailyLimit: null,
      monthlyLimit: null,
      allowedIps: null,
      expiresAt: null,
    };
    return createKey(db, accountId, settings, { ids: app.ids, clock });
  });
  return { apiKey: plainKey, accountId: toPublicId('acc', accountId) };
}
