import { once } from 'node:events';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { runCli, startCli, withFolder } from './cli.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('migrate brings a database to the newest schema, says what it did, and does nothing the second time', async () => {
  const client = new pg.Client(database.url);
  await client.connect();
  await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  await client.end();
  const env = { DATABASE_URL: database.url };
  const first = await runCli(['migrate', '--json'], { env });
  expect(first.code).toBe(0);
  expect((JSON.parse(first.stdout) as { applied: string[] }).applied[0]).toBe('0001_accounts');
  expect(await runCli(['migrate'], { env })).toEqual({ code: 0, stdout: 'The database was up to date.\n', stderr: '' });
});

test('migrate says why it cannot', async () => {
  const { code, stderr } = await runCli(['migrate'], {
    env: { DATABASE_URL: 'postgres://nobody@127.0.0.1:9/nothing' },
  });
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('The database could not be migrated: connect ECONNREFUSED'),
  ]);
});

test('serve runs the service until it is stopped, and the other commands find it by what it keeps', async () => {
  await withFolder(async (folder) => {
    const env = { DATABASE_URL: database.url, DATA_DIR: folder, PORT: '0', SIMULATOR_PORT: '0', LOG_LEVEL: 'warn' };
    const child = startCli(['serve'], env);
    try {
      if (child.stdout === null) throw new Error('the process has no pipes');
      for await (const line of createInterface({ input: child.stdout })) {
        if (line.startsWith('Stop with')) break;
      }
      const { code, stdout } = await runCli(['account', 'list'], { env: { DATA_DIR: folder } });
      expect([code, stdout]).toEqual([0, expect.stringContaining('demo@example.com')]);
    } finally {
      child.kill('SIGTERM');
    }
    expect((await once(child, 'exit'))[0]).toBe(0);
  });
});
