import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/helpers/postgres.ts';
import { dropPartitions, ensurePartitions, isTableInUse } from './partitions.ts';
import { createPool, type Pool } from './pool.ts';

let database: TestDatabase;
let pools: Pool[];
let pool: Pool;
beforeEach(async () => {
  database = await createTestDatabase();
  pools = Array.from({ length: 3 }, () =>
    createPool({ url: database.url, maxConnections: 2, applicationName: 'test', onError: () => undefined }),
  );
  pool = pools[0] as Pool;
});
afterEach(async () => {
  await Promise.all(pools.map((each) => each.end()));
  await database.drop();
});

const november = Date.parse('2026-11-20T10:00:00Z');

async function partitionsOf(table: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    'SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = $1::regclass ORDER BY 1',
    [table],
  );
  return rows.map(({ name }) => name);
}

async function keptSince(table: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ since: Date }>('SELECT since FROM kept WHERE table_name = $1', [table]);
  return rows[0]?.since.toISOString();
}

describe('partitions', () => {
  it('are made from the month before to two months ahead, whatever other processes do at the time', async () => {
    await Promise.all(pools.map((each) => ensurePartitions(each, november)));
    for (const table of ['messages', 'events', 'receipts', 'deliveries']) {
      const months = ['2026_10', '2026_11', '2026_12', '2027_01'];
      expect(await partitionsOf(table)).toEqual(months.map((month) => `${table}_${month}`));
    }
  });

  it('touch no table while none is missing', async () => {
    await ensurePartitions(pool, november);
    const reader = await pools[1]?.connect();
    await reader?.query('BEGIN; LOCK TABLE messages IN ACCESS EXCLUSIVE MODE');
    await ensurePartitions(pool, november);
    await reader?.query('ROLLBACK');
    reader?.release();
  });

  it('are dropped once their month is past, by one of those that try', async () => {
    await ensurePartitions(pool, november);
    const march = Date.parse('2027-03-02T00:00:00Z');
    await ensurePartitions(pool, march);
    const before = Date.parse('2026-12-31T23:59:59Z');
    await Promise.all(pools.map((each) => dropPartitions(each, 'messages', before, march)));
    expect(await partitionsOf('messages')).toEqual([
      'messages_2026_12',
      'messages_2027_01',
      'messages_2027_02',
      'messages_2027_03',
      'messages_2027_04',
      'messages_2027_05',
    ]);
    expect(await keptSince('messages')).toBe('2026-12-01T00:00:00.000Z');
    expect(await partitionsOf('events')).toHaveLength(8);
    expect(await keptSince('events')).toBeUndefined();
  });

  it('that are made anew each time are not dropped, however short the time', async () => {
    await ensurePartitions(pool, november);
    expect(await dropPartitions(pool, 'events', november, november)).toEqual([]);
    expect(await partitionsOf('events')).toHaveLength(4);
  });

  it('in use by a long transaction are left alone, and keep nobody waiting for long', async () => {
    const later = Date.parse('2027-03-02T00:00:00Z');
    await ensurePartitions(pool, november);
    const reader = await pools[1]?.connect();
    await reader?.query('BEGIN; SELECT count(*) FROM messages');
    const dropping = dropPartitions(pool, 'messages', later, later).catch((error: unknown) => error);
    const startedMs = performance.now();
    await pools[2]?.query('SELECT count(*) FROM messages');
    expect(performance.now() - startedMs).toBeLessThan(2_000);
    expect(isTableInUse(await dropping)).toBe(true);
    expect(await partitionsOf('messages')).toHaveLength(4);
    expect(await keptSince('messages')).toBeUndefined();
    await reader?.query('COMMIT');
    reader?.release();
    expect(await dropPartitions(pool, 'messages', later, later)).toHaveLength(4);
  });
});
