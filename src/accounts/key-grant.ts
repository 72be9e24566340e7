import { isIPv4 } from 'node:net';
import { scopes, type Caller, type Scope } from '../http/caller.ts';
import { parseTime } from '../http/time.ts';
import { ApiError } from '../lib/errors.ts';
import type { CreateKeyBody } from './key-schema.ts';
import type { KeySettings } from './keys.ts';

/** What a key may do at most, and so what it can hand on to another one. */
export type KeyBounds = Pick<
  Caller,
  'permissions' | 'rateLimit' | 'dailyLimit' | 'monthlyLimit' | 'allowedIps' | 'expiresAtMs'
>;

const rateLimitDefault = 600;

/**
 * The settings of a new key. What is left out is the creating key's own; what is asked for beyond it is refused (`forbidden`), so that no key
 * makes one more powerful than itself.
 */
export function grantKey(asked: CreateKeyBody, own: KeyBounds, nowMs: number): KeySettings {
  return {
    name: checkName(asked.name),
    permissions: grantPermissions(asked.permissions, own.permissions),
    rateLimit: grantRateLimit(asked.rate_limit, own.rateLimit),
    dailyLimit: grantMessageLimit('daily_limit', asked.daily_limit, own.dailyLimit),
    monthlyLimit: grantMessageLimit('monthly_limit', asked.monthly_limit, own.monthlyLimit),
    allowedIps: grantAllowedIps(asked.allowed_ips, own.allowedIps),
    expiresAt: grantExpiry(asked.expires_at, own.expiresAtMs, nowMs),
  };
}

function invalid(param: string, message: string): ApiError {
  return new ApiError('invalid_request', message, { param });
}

function forbidden(param: string, message: string): ApiError {
  return new ApiError('forbidden', message, { param });
}

/** PostgreSQL's text has no NUL, and half of a surrogate pair is no character. */
function checkName(name: string): string {
  if (name.includes('\0') || !name.isWellFormed()) {
    throw invalid('name', 'The name must be well-formed Unicode without NUL characters.');
  }
  return name;
}

function grantPermissions(asked: readonly string[] | undefined, own: readonly Scope[]): Scope[] {
  if (asked === undefined) return [...own];
  const unknown = asked.find((scope) => !scopes.some((known) => known === scope));
  if (unknown !== undefined) {
    throw invalid('permissions', `"${unknown.slice(0, 64)}" is not a permission. Known are ${scopes.join(', ')}.`);
  }
  const granted = scopes.filter((scope) => asked.includes(scope));
  const missing = granted.filter((scope) => !own.includes(scope));
  if (missing.length > 0) {
    throw forbidden('permissions', `This API key lacks the permission ${missing.join(', ')} and cannot hand it on.`);
  }
  return granted;
}

function grantRateLimit(asked: number | undefined, own: number): number {
  if (asked === undefined) return Math.min(rateLimitDefault, own);
  if (asked > own) {
    throw forbidden('rate_limit', `This API key may make ${own} requests per minute and cannot hand on more.`);
  }
  return asked;
}

function grantMessageLimit(
  param: 'daily_limit' | 'monthly_limit',
  asked: number | null | undefined,
  own: number | null,
): number | null {
  if (asked === undefined || own === null) return asked ?? own;
  if (asked === null || asked > own) {
    throw forbidden(param, `This API key has a ${param} of ${own}. A key it creates needs one that is not higher.`);
  }
  return asked;
}

function grantAllowedIps(asked: readonly string[] | null | undefined, own: readonly string[] | null): string[] | null {
  if (asked === undefined) return own === null ? null : [...own];
  const wrong = asked?.findIndex((address) => !isIPv4(address)) ?? -1;
  if (wrong >= 0) {
    throw invalid(
      `allowed_ips.${wrong}`,
      `The parameter allowed_ips.${wrong} must be an IPv4 address, such as 192.0.2.1.`,
    );
  }
  if (own !== null && (asked === null || asked.some((address) => !own.includes(address)))) {
    throw forbidden(
      'allowed_ips',
      'This API key may not be used from everywhere. A key it creates needs allowed_ips out of its own.',
    );
  }
  return asked === null ? null : [...new Set(asked)];
}

function grantExpiry(asked: string | null | undefined, ownMs: number | null, nowMs: number): Date | null {
  const askedMs = typeof asked === 'string' ? parseTime(asked, 'expires_at') : asked;
  if (typeof askedMs === 'number' && askedMs <= nowMs) {
    throw invalid('expires_at', 'The parameter expires_at must lie in the future.');
  }
  if (ownMs !== null && (askedMs === null || (askedMs !== undefined && askedMs > ownMs))) {
    throw forbidden('expires_at', 'This API key expires. A key it creates needs an expires_at that is not later.');
  }
  const grantedMs = askedMs === undefined ? ownMs : askedMs;
  return grantedMs === null ? null : new Date(grantedMs);
}
