import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Batcher, BatcherFullError, type BatcherOptions, type BatchRun } from './batcher.ts';

const double: BatchRun<number, number> = async (items) => items.map((item) => item * 2);
const fail: BatchRun<number, number> = () => Promise.reject(new Error('the database is away'));

/** A batcher of numbers that doubles them; `runs` is what each run was given. */
function doubling({ run = double, ...others }: Partial<BatcherOptions<number, number>> = {}) {
  const runs: number[][] = [];
  const batcher = new Batcher<number, number>({
    run: (items) => {
      runs.push([...items]);
      return run(items);
    },
    maxWeight: 100,
    maxWaiting: 1_000,
    isSharedFault: () => false,
    ...others,
  });
  return { batcher, runs };
}

/** A run that stays in flight until it is released. */
function held() {
  const releases: Array<() => void> = [];
  const run: BatchRun<number, number> = async (items) => {
    await new Promise<void>((resolve) => releases.push(resolve));
    return items.map((item) => item * 2);
  };
  return { run, release: () => releases.shift()?.(), inFlight: () => releases.length };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a batcher', () => {
  it('runs what is added in the same turn together, each item getting its own result', async () => {
    const { batcher, runs } = doubling();
    expect(await Promise.all([1, 2, 3].map((item) => batcher.add(item)))).toEqual([2, 4, 6]);
    expect(runs).toEqual([[1, 2, 3]]);
  });

  it('has one run in flight; what comes meanwhile is the next batch', async () => {
    const { run, release, inFlight } = held();
    const { batcher, runs } = doubling({ run });
    const first = batcher.add(1);
    await nextTurn();
    const others = [2, 3, 4].map((item) => batcher.add(item));
    await nextTurn();
    expect([inFlight(), batcher.waiting]).toEqual([1, 3]);
    release();
    expect(await first).toBe(2);
    await nextTurn();
    release();
    expect(await Promise.all(others)).toEqual([4, 6, 8]);
    expect(runs).toEqual([[1], [2, 3, 4]]);
  });

  it('takes items until their weights reach the most, in order; a heavier item goes alone', async () => {
    const { batcher, runs } = doubling({ maxWeight: 10, weightOf: (item) => item });
    await Promise.all([4, 6, 1, 25, 3, 3, 5].map((item) => batcher.add(item)));
    expect(runs).toEqual([[4, 6], [1], [25], [3, 3], [5]]);
  });

  it('refuses an item when as many wait as may', async () => {
    const { run, release } = held();
    const { batcher } = doubling({ run, maxWaiting: 2 });
    const running = batcher.add(1);
    await nextTurn();
    const waiting = [batcher.add(2), batcher.add(3)];
    await expect(batcher.add(4)).rejects.toThrow(BatcherFullError);
    release();
    await running;
    await nextTurn();
    release();
    expect(await Promise.all(waiting)).toEqual([4, 6]);
  });

  it('gives an item its own error where the run returned one', async () => {
    const { batcher } = doubling({ run: async (items) => items.map((item) => (item === 2 ? new Error('two') : item)) });
    const results = await Promise.allSettled([1, 2, 3].map((item) => batcher.add(item)));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('halves a run that threw until the culprits stand alone', async () => {
    const culprits = fc.uniqueArray(fc.nat({ max: 19 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(culprits, async (bad) => {
        const run: BatchRun<number, number> = async (items) => {
          const culprit = items.find((item) => bad.includes(item));
          if (culprit !== undefined) throw new Error(String(culprit));
          return items.map((item) => item * 2);
        };
        const { batcher } = doubling({ run });
        const results = await Promise.allSettled(Array.from({ length: 20 }, (_, item) => batcher.add(item)));
        expect(results).toEqual(
          results.map((_result, item) =>
            bad.includes(item)
              ? { status: 'rejected', reason: new Error(String(item)) }
              : { status: 'fulfilled', value: item * 2 },
          ),
        );
      }),
    );
  });

  it('does not repeat a run that failed for a reason all share', async () => {
    const { batcher, runs } = doubling({ run: fail, isSharedFault: () => true });
    const results = await Promise.allSettled([1, 2, 3].map((item) => batcher.add(item)));
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    expect(runs).toHaveLength(1);
  });

  it('takes a run that gives another number of results for a fault of each item', async () => {
    const { batcher } = doubling({ run: async () => [1, 2, 3] });
    const results = await Promise.allSettled([1, 2].map((item) => batcher.add(item)));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('works on after a run that failed', async () => {
    let isFirst = true;
    const run: BatchRun<number, number> = async (items) => {
      if (!isFirst) return items.map((item) => item * 2);
      isFirst = false;
      throw new Error('once');
    };
    const { batcher } = doubling({ run, isSharedFault: () => true });
    await expect(batcher.add(1)).rejects.toThrow('once');
    expect(await batcher.add(2)).toBe(4);
  });

  it('is idle when everything that was added has its result', async () => {
    const { run, release } = held();
    const { batcher } = doubling({ run });
    await batcher.idle();
    let isIdle = false;
    const added = batcher.add(1);
    const idle = batcher.idle().then(() => (isIdle = true));
    await nextTurn();
    expect(isIdle).toBe(false);
    release();
    await Promise.all([added, idle]);
    await batcher.idle();
  });

  it('tells the size of each batch', async () => {
    const sizes: number[] = [];
    const { batcher } = doubling({ maxWeight: 2, onBatch: (size) => sizes.push(size) });
    await Promise.all([1, 2, 3].map((item) => batcher.add(item)));
    expect(sizes).toEqual([2, 1]);
  });
});
