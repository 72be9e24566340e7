import type { FastifyReply, FastifyRequest } from 'fastify';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { ApiError } from '../lib/errors.ts';
import type { Clock } from '../lib/clock.ts';

const windowSeconds = 60;

/**
 * Counts each key's requests per minute and tells the caller where it stands in `X-RateLimit-*`. Limits differ by key, so one limiter
 * counts up to the largest and each key is held to its own.
 */
export function createRateLimit(clock: Clock) {
  const limiter = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: windowSeconds });

  return async function limitRate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { keyId, rateLimit } = request.caller;
    const count = await limiter.consume(keyId, 1);
    const resetSeconds = Math.ceil((clock.now() + count.msBeforeNext) / 1_000);
    reply.header('x-ratelimit-limit', rateLimit);
    reply.header('x-ratelimit-remaining', Math.max(0, rateLimit - count.consumedPoints));
    reply.header('x-ratelimit-reset', resetSeconds);
    if (count.consumedPoints > rateLimit) throw tooManyRequests(rateLimit, count);
  };
}

function tooManyRequests(rateLimit: number, count: RateLimiterRes): ApiError {
  const retryAfterSeconds = Math.max(1, Math.ceil(count.msBeforeNext / 1_000));
  return new ApiError(
    'rate_limit_exceeded',
    `This API key may make ${rateLimit} requests per minute. Try again in ${retryAfterSeconds} s.`,
    { retryAfterSeconds },
  );
}
