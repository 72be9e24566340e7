import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Db } from './pool.ts';

const defaultMigrationsDir = fileURLToPath(new URL('../../migrations', import.meta.url));

/** Any number; the same in every version of Heliograph, so that racing processes migrate one after the other. */
const advisoryLockId = 4_736_210_711;

const migrationFile = /^\d{4}_.+\.sql$/;

type Migration = { version: number; name: string; sql: string };

async function readMigrations(dir: string): Promise<Migration[]> {
  const files = (await readdir(dir)).filter((file) => migrationFile.test(file)).sort();
  return Promise.all(
    files.map(async (file) => ({
      version: Number(file.slice(0, 4)),
      name: file.slice(5, -4),
      sql: await readFile(path.join(dir, file), 'utf8'),
    })),
  );
}

/**
 * Brings the database to the newest schema: each missing migration in its own transaction, in order, under an advisory lock.
 * Returns the names of those that were missing. Throws when the database is newer than this program.
 */
export async function migrate(databaseUrl: string, options: { migrationsDir?: string } = {}): Promise<string[]> {
  const migrations = await readMigrations(options.migrationsDir ?? defaultMigrationsDir);
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'heliograph migrate' });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [advisoryLockId]);
    await client.query(
      'CREATE TABLE IF NOT EXISTS schema_migrations (version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())',
    );
    const { rows } = await client.query<{ version: number }>('SELECT version FROM schema_migrations');
    const applied = new Set(rows.map(({ version }) => version));
    const unknown = [...applied].filter((version) => !migrations.some((known) => known.version === version));
    if (unknown.length > 0) {
      throw new Error(
        `the database has migrations this program does not know (${unknown.join(', ')}): run a Heliograph at least as new as the one that made it`,
      );
    }
    const missing = migrations.filter(({ version }) => !applied.has(version));
    for (const migration of missing) await apply(client, migration);
    return missing.map(({ version, name }) => `${String(version).padStart(4, '0')}_${name}`);
  } finally {
    await client.end();
  }
}

/** Names of the migrations that this database lacks. One that is newer than this program lacks none: such changes are made to suit both. */
export async function findMissingMigrations(db: Db, migrationsDir = defaultMigrationsDir): Promise<string[]> {
  const { rows } = await db.query<{ version: number }>('SELECT version FROM schema_migrations');
  const applied = new Set(rows.map(({ version }) => version));
  const files = (await readdir(migrationsDir)).filter((file) => migrationFile.test(file)).sort();
  return files.filter((file) => !applied.has(Number(file.slice(0, 4)))).map((file) => file.slice(0, -'.sql'.length));
}

async function apply(client: pg.Client, { version, name, sql }: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(sql);
    await client.query('INSERT INTO schema_migrations (version, name) VALUES ($1, $2)', [version, name]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw new Error(`migration ${version} (${name}) failed; nothing of it was kept`, { cause: error });
  }
}
