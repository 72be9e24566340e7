import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../lib/errors.ts';
import type { Clock } from '../lib/clock.ts';
import { isFromAllowedAddress } from './auth.ts';
import { windowSeconds, type RequestCounter } from './request-counter.ts';

/**
 * Holds each key to its requests per minute and tells the caller where it stands in `X-RateLimit-*`, on whatever the answer will be. Runs
 * after authentication and before everything that refuses.
 */
export function createRateLimit(counter: RequestCounter, clock: Clock) {
  return async function limitRate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { keyId, rateLimit } = request.caller;
    // What a stranger sends with a stolen key does not use up what its owner may send.
    const isCounted = isFromAllowedAddress(request);
    const count = isCounted ? await counter.consume(keyId) : await counter.get(keyId);
    const isRunning = count !== null && count.msBeforeNext > 0;
    const used = isRunning ? count.consumedPoints : 0;
    const leftMs = isRunning ? count.msBeforeNext : windowSeconds * 1_000;
    reply.header('x-ratelimit-limit', rateLimit);
    reply.header('x-ratelimit-remaining', Math.max(0, rateLimit - used));
    reply.header('x-ratelimit-reset', Math.ceil((clock.now() + leftMs) / 1_000));
    if (isCounted && used > rateLimit) throw tooManyRequests(rateLimit, Math.ceil(leftMs / 1_000));
  };
}

function tooManyRequests(rateLimit: number, retryAfterSeconds: number): ApiError {
  return new ApiError(
    'rate_limit_exceeded',
    `This API key may make ${rateLimit} requests per minute. Try again in ${retryAfterSeconds} s.`,
    { retryAfterSeconds },
  );
}
