import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/helpers/postgres.ts';
import { createPool, type Db, type Pool } from './pool.ts';
import { transaction } from './tx.ts';

let database: TestDatabase;
let pool: Pool;
beforeEach(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, maxConnections: 3, applicationName: 'test', onError: () => undefined });
  await pool.query('CREATE TABLE notes (id integer PRIMARY KEY, text text)');
});
afterEach(async () => {
  await pool.end();
  await database.drop();
});

const insert = (db: Db, id: number) => db.query('INSERT INTO notes (id) VALUES ($1)', [id]);

async function notes(): Promise<number[]> {
  const { rows } = await pool.query<{ id: number }>('SELECT id FROM notes ORDER BY id');
  return rows.map(({ id }) => id);
}

describe('a transaction', () => {
  it('commits when its work is done', async () => {
    expect(
      await transaction(pool, async (db) => {
        await insert(db, 1);
        await insert(db, 2);
        return 'done';
      }),
    ).toBe('done');
    expect(await notes()).toEqual([1, 2]);
  });

  it('that fails changes nothing, and its connection serves the next one', async () => {
    for (let time = 0; time < 5; time += 1) {
      const failing = transaction(pool, async (db) => {
        await insert(db, 1);
        throw new Error('no more');
      });
      await expect(failing).rejects.toThrow('no more');
    }
    expect(await notes()).toEqual([]);
    await transaction(pool, (db) => insert(db, 1));
    expect(await notes()).toEqual([1]);
  });

  it('commits with the last statements of its work', async () => {
    await transaction(pool, async (db, commitWith) => {
      await insert(db, 1);
      expect(await commitWith([insert(db, 2), 'as it is', undefined])).toMatchObject([
        { rowCount: 1 },
        'as it is',
        undefined,
      ]);
    });
    expect(await notes()).toEqual([1, 2]);
  });

  it('of whose last statements one fails changes nothing, and says why', async () => {
    const failing = transaction(pool, async (db, commitWith) => {
      await insert(db, 1);
      await commitWith([insert(db, 2), insert(db, 1), insert(db, 3)]);
    });
    await expect(failing).rejects.toThrow('duplicate key');
    expect(await notes()).toEqual([]);
    await transaction(pool, (db, commitWith) => commitWith([insert(db, 1)]));
    expect(await notes()).toEqual([1]);
  });

  it.each([
    ['before it is issued', () => Promise.reject(new Error('a bug'))],
    [
      'before it can be written',
      (db: Db) => {
        const circular: Record<string, unknown> = {};
        circular['itself'] = circular;
        return db.query('INSERT INTO notes (id, text) VALUES (3, $1)', [circular]);
      },
    ],
  ])('of whose last statements one fails %s changes nothing', async (_when, fail) => {
    const failing = transaction(pool, async (db, commitWith) => {
      await insert(db, 1);
      await commitWith([fail(db), insert(db, 2)]);
    });
    await expect(failing).rejects.toThrow(/a bug|circular/);
    expect(await notes()).toEqual([]);
  });

  it('has no statement after its commit', async () => {
    const failing = transaction(pool, async (db, commitWith) => {
      await commitWith([insert(db, 1)]);
      await insert(db, 2);
    });
    await expect(failing).rejects.toThrow('a statement came after the commit');
    expect(await notes()).toEqual([1]);
  });

  it('that is the victim of a deadlock is run again', async () => {
    await transaction(pool, async (db) => {
      await insert(db, 1);
      await insert(db, 2);
    });
    const { promise: bothHold, resolve } = Promise.withResolvers<void>();
    let holding = 0;
    let runs = 0;
    const cross = (first: number, second: number) =>
      transaction(pool, async (db) => {
        runs += 1;
        const touch = (id: number) => db.query(`UPDATE notes SET text = coalesce(text, '') || 'x' WHERE id = $1`, [id]);
        await touch(first);
        holding += 1;
        if (holding === 2) resolve();
        await bothHold;
        await touch(second);
      });
    await Promise.all([cross(1, 2), cross(2, 1)]);
    expect(runs).toBe(3);
    const { rows } = await pool.query('SELECT text FROM notes ORDER BY id');
    expect(rows).toEqual([{ text: 'xx' }, { text: 'xx' }]);
  });
});
