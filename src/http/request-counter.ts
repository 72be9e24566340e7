import { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterAbstract } from 'rate-limiter-flexible';
import type { Log } from '../lib/log.ts';

export const windowSeconds = 60;

/** Counts the requests of each key in the minute that begins with the first of them. */
export type RequestCounter = Pick<RateLimiterAbstract, 'consume' | 'get'>;

// Limits differ by key: the counter refuses nothing, and each key is held to its own.
const window = { points: Number.MAX_SAFE_INTEGER, duration: windowSeconds };

/** A counter in this process's memory: several processes each count for themselves. */
export function createRequestCounter(): RequestCounter {
  return new RateLimiterMemory(window);
}

/** One counter for all processes, in Redis or Valkey. While that does not answer, each process counts for itself: no request fails for it. */
export function connectRequestCounter(url: string, log: Log): { counter: RequestCounter; close: () => void } {
  const redis = new Redis(url, {
    connectTimeout: 2_000,
    commandTimeout: 500,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
  });
  redis.on('error', (error) => log.warn({ err: error }, 'Redis does not answer; requests are counted in memory'));
  const counter = new RateLimiterRedis({
    ...window,
    storeClient: redis,
    keyPrefix: 'heliograph:rate',
    rejectIfRedisNotReady: true,
    insuranceLimiter: new RateLimiterMemory(window),
  });
  return { counter, close: () => redis.disconnect() };
}
