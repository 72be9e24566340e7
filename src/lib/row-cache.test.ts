import { describe, expect, it } from 'vitest';
import { RowCache } from './row-cache.ts';

type Row = { version: number };

/** A table of one row whose reads wait until they are let through, and give what the row is at that moment. */
function table() {
  let row: Row | undefined = { version: 1 };
  let fault: Error | undefined;
  const waiting: Array<() => void> = [];
  return {
    set: (next: Row | undefined) => void (row = next),
    breakWith: (error: Error | undefined) => void (fault = error),
    reads: () => waiting.length,
    read: async (): Promise<Row | undefined> => {
      const seen = row;
      await new Promise<void>((resolve) => waiting.push(resolve));
      if (fault !== undefined) throw fault;
      return seen;
    },
    /** Lets the read that was made as number `index` end. */
    end: (index: number) => waiting[index]?.(),
  };
}

function cacheOf({ read }: { read: () => Promise<Row | undefined> }, ttlMs = 60_000): RowCache<Row> {
  return new RowCache<Row>({ max: 10, ttlMs, read });
}

describe('a row cache', () => {
  it('reads a row once for all who ask while it is being read, and keeps it', async () => {
    const rows = table();
    const cache = cacheOf(rows);
    const asking = [cache.get('a'), cache.get('a')];
    rows.end(0);
    expect(await Promise.all(asking)).toEqual([{ version: 1 }, { version: 1 }]);
    expect(await cache.get('a')).toEqual({ version: 1 });
    expect(rows.reads()).toBe(1);
  });

  it.each(['a', '*'])('reads again after dropping %s', async (dropped) => {
    const rows = table();
    const cache = cacheOf(rows);
    const first = cache.get('a');
    rows.end(0);
    await first;
    rows.set({ version: 2 });
    cache.drop(dropped);
    const second = cache.get('a');
    rows.end(1);
    expect(await second).toEqual({ version: 2 });
  });

  it.each(['a', '*'])('does not keep a row when %s is dropped while it is being read', async (dropped) => {
    const rows = table();
    const cache = cacheOf(rows);
    const stale = cache.get('a');
    rows.set({ version: 2 });
    cache.drop(dropped);
    const fresh = cache.get('a');
    rows.end(1);
    expect(await fresh).toEqual({ version: 2 });
    rows.end(0);
    expect(await stale).toEqual({ version: 1 });
    expect(await cache.get('a')).toEqual({ version: 2 });
    expect(rows.reads()).toBe(2);
  });

  it('keeps the rows that were not dropped', async () => {
    const rows = table();
    const cache = cacheOf(rows);
    const reading = cache.get('a');
    rows.end(0);
    await reading;
    cache.drop('b');
    await cache.get('a');
    expect(rows.reads()).toBe(1);
  });

  it('asks again for a row that there was not', async () => {
    const rows = table();
    rows.set(undefined);
    const cache = cacheOf(rows);
    const missing = cache.get('a');
    rows.end(0);
    expect(await missing).toBeUndefined();
    rows.set({ version: 1 });
    const found = cache.get('a');
    rows.end(1);
    expect(await found).toEqual({ version: 1 });
  });

  it('asks again after a read that failed', async () => {
    const rows = table();
    const cache = cacheOf(rows);
    rows.breakWith(new Error('away'));
    const failing = cache.get('a');
    rows.end(0);
    await expect(failing).rejects.toThrow('away');
    rows.breakWith(undefined);
    const found = cache.get('a');
    rows.end(1);
    expect(await found).toEqual({ version: 1 });
  });
});
