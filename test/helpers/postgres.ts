import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

export type TestDatabase = {
  url: string;
  /** Removes the database. Fails when the test left a connection to it open. */
  drop(): Promise<void>;
};

/** A database of its own with all migrations applied: a copy of one that is made once for each run. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { adminUrl, prefix, template } = inject('postgres');
  const name = `${prefix}_${randomUUID().slice(0, 8)}`;
  await runAsAdmin(adminUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => drop(adminUrl, name) };
}

const objectInUse = '55006';

/** PostgreSQL waits up to 5 s for sessions that are just ending. */
async function drop(adminUrl: string, name: string): Promise<void> {
  try {
    await runAsAdmin(adminUrl, `DROP DATABASE ${name}`);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== objectInUse) {
      throw error;
    }
    await runAsAdmin(adminUrl, `DROP DATABASE ${name} WITH (FORCE)`);
    throw new Error('the test left connections to its database open: end its pools and clients first', {
      cause: error,
    });
  }
}

async function runAsAdmin(adminUrl: string, statement: string): Promise<void> {
  const client = new pg.Client(adminUrl);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
