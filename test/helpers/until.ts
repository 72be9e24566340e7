import { setTimeout as delay } from 'node:timers/promises';

/** What a condition may say: a value that stands for "yes", or anything falsy. */
type Condition<Result> = () => Result | undefined | null | false | Promise<Result | undefined | null | false>;

/** Resolves to what `condition` gives once that is truthy; rejects, naming `what` was awaited, when it never becomes so. */
export async function until<Result>(what: string, condition: Condition<Result>, withinMs = 10_000): Promise<Result> {
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    const result = await condition();
    if (result) return result;
    if (performance.now() > giveUpAt) throw new Error(`not within ${withinMs} ms: ${what}`);
    await delay(10);
  }
}
