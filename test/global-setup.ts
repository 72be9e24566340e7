import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../src/db/embedded.ts';
import { migrate } from '../src/db/migrate.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** `adminUrl` may create and drop databases; those of this run have names that begin with `prefix`. */
    postgres: { adminUrl: string; prefix: string; template: string };
  }
}

/** One PostgreSQL for the whole run: that of `DATABASE_URL`, or an embedded one, which leaves nothing behind. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = process.env['DATABASE_URL'] ? givenServer(process.env['DATABASE_URL']) : await embeddedServer();
  // Runs that share a server do not meet.
  const prefix = `heliograph_test_${randomUUID().slice(0, 8)}`;
  const template = `${prefix}_template`;
  const teardown = async () => {
    try {
      await dropDatabases(server.adminUrl, prefix);
    } finally {
      await server.stop();
    }
  };
  try {
    await withClient(server.adminUrl, (client) => client.query(`CREATE DATABASE ${template}`));
    const templateUrl = new URL(server.adminUrl);
    templateUrl.pathname = `/${template}`;
    await migrate(templateUrl.href, {});
  } catch (error) {
    await teardown();
    throw error;
  }
  project.provide('postgres', { adminUrl: server.adminUrl, prefix, template });
  return teardown;
}

type Server = { adminUrl: string; stop: () => Promise<void> };

function givenServer(adminUrl: string): Server {
  return { adminUrl, stop: async () => undefined };
}

async function embeddedServer(): Promise<Server> {
  const folder = await mkdtemp(path.join(tmpdir(), 'heliograph-tests-'));
  // Run by root, PostgreSQL gets another account, which has to pass through.
  await chmod(folder, 0o711);
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const { url, stop } = await startEmbeddedPostgres({ dataDir: path.join(folder, 'data'), log: () => undefined });
    return {
      adminUrl: url,
      stop: async () => {
        await stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function dropDatabases(adminUrl: string, prefix: string): Promise<void> {
  await withClient(adminUrl, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      'SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1)',
      [prefix],
    );
    for (const { name } of rows) {
      await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    }
  });
}

async function withClient(url: string, use: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await use(client);
  } finally {
    await client.end();
  }
}
