import { setTimeout as delay } from 'node:timers/promises';
import { until as untilTrue } from '../helpers/until.ts';

/** As the other `until`, but ten times a second: each question is a request, and the key has a rate limit. */
export function until<Result>(
  what: string,
  ask: () => Promise<Result | undefined | null | false>,
  withinMs?: number,
): Promise<Result> {
  const askSlowly = async () => {
    const result = await ask();
    if (!result) await delay(90);
    return result;
  };
  return untilTrue(what, askSlowly, withinMs);
}
