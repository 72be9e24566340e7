import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/helpers/postgres.ts';
import { ensurePartitions } from './partitions.ts';
import { dumpSchema } from './schema-dump.ts';

let database: TestDatabase;
let pool: pg.Pool;
beforeEach(async () => {
  database = await createTestDatabase();
  pool = new pg.Pool({ connectionString: database.url, max: 1 });
});
afterEach(async () => {
  await pool.end();
  await database.drop();
});

const schemaFile = fileURLToPath(new URL('../../schema.sql', import.meta.url));

// After a new migration, write schema.sql anew: npx vitest run src/db/schema-dump.test.ts --update
const heading = `-- The schema that all migrations together make, for review; written by src/db/schema-dump.test.ts, never by hand.
-- The partitions of the months are left out.

`;

describe('schema.sql', () => {
  it('is what the migrations make', async () => {
    expect(existsSync(schemaFile)).toBe(true);
    await expect(heading + (await dumpSchema(pool))).toMatchFileSnapshot(schemaFile);
  });

  it('makes the same schema when it is run by itself, also once the first messages have come', async () => {
    const dump = await dumpSchema(pool);
    await pool.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await pool.query(dump);
    await ensurePartitions(pool, Date.parse('2026-11-20T00:00:00Z'));
    expect(await dumpSchema(pool)).toBe(dump);
  });

  it('shows everything there is: something it does not know is an error', async () => {
    await pool.query('CREATE VIEW everything AS SELECT 1');
    await expect(dumpSchema(pool)).rejects.toThrow('everything');
  });
});
