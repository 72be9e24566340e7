import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../lib/errors.ts';
import { toPublicId } from '../lib/ids.ts';
import type { Clock } from '../lib/clock.ts';
import type { Caller } from './caller.ts';
import { tell } from './told.ts';

/** Finds the caller behind a key's SHA-256, or undefined where no such key was ever made. */
export type FindCaller = (keyHash: Buffer) => Promise<Caller | undefined>;

const keyForm = /^ds_live_[0-9A-Za-z]{40}$/;

/** Keys are long random strings: one round of SHA-256 is enough, and the look-up by hash leaks no timing of the key itself. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function bearerOf(request: FastifyRequest): string {
  const [scheme, token, ...rest] = (request.headers.authorization ?? '').split(' ');
  if (scheme?.toLowerCase() !== 'bearer' || token === undefined || rest.length > 0 || !keyForm.test(token)) {
    throw new ApiError('unauthorized', 'Send a valid API key in the header "Authorization: Bearer <API_KEY>".');
  }
  return token;
}

/** IPv4 addresses reach a dual-stack socket as `::ffff:192.0.2.1`; allow-lists hold plain IPv4. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}

/** Whether the request comes from where its key may be used. */
export function isFromAllowedAddress({ caller: { allowedIps }, ip }: FastifyRequest): boolean {
  return allowedIps === null || allowedIps.includes(plainAddress(ip));
}

/**
 * Authenticates a request: fills `request.caller`, or throws `unauthorized` (no, unknown, revoked or expired key; closed account; spec:
 * Authentication).
 */
export function createAuthenticate(find: FindCaller, clock: Clock) {
  return async function authenticate(request: FastifyRequest): Promise<void> {
    const caller = await find(hashKey(bearerOf(request)));
    if (caller === undefined || !caller.isActive || caller.accountStatus === 'closed') {
      throw new ApiError('unauthorized', 'This API key is not valid or was revoked. Use an active key.');
    }
    if (caller.expiresAtMs !== null && caller.expiresAtMs <= clock.now()) {
      throw new ApiError('unauthorized', 'This API key has expired. Use a current key.');
    }
    request.caller = caller;
    tell(request, { account_id: toPublicId('acc', caller.accountId), key_id: toPublicId('key', caller.keyId) });
  };
}

/** Checks the caller's address, and what a route declares in its `config`. Runs after authentication and the rate limit. */
export async function authorize(request: FastifyRequest): Promise<void> {
  if (!isFromAllowedAddress(request)) {
    throw new ApiError('forbidden', `The address ${plainAddress(request.ip)} is not among this key's allowed_ips.`);
  }
  const { anyScopeOf = [], sends = false } = request.routeOptions.config;
  const { permissions, accountStatus } = request.caller;
  if (anyScopeOf.length > 0 && !anyScopeOf.some((scope) => permissions.includes(scope))) {
    throw new ApiError('forbidden', `This API key lacks the permission ${anyScopeOf.join(' or ')}.`);
  }
  if (sends && accountStatus === 'suspended') {
    throw new ApiError(
      'account_suspended',
      'This account is suspended and cannot send. Contact the operator of the service.',
    );
  }
}
