import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../lib/errors.ts';

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Lets through only requests that carry the operator's token; compared in constant time, whatever its length. */
export function createOperatorAuth(operatorToken: string) {
  const expected = digest(`Bearer ${operatorToken}`);
  return async function authenticateOperator(request: FastifyRequest): Promise<void> {
    if (timingSafeEqual(digest(request.headers.authorization ?? ''), expected)) return;
    throw new ApiError(
      'unauthorized',
      'Send the operator token in the header "Authorization: Bearer <OPERATOR_TOKEN>".',
    );
  };
}
