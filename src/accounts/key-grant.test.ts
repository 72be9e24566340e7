import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scopes } from '../http/caller.ts';
import { ApiError } from '../lib/errors.ts';
import { grantKey, type KeyBounds } from './key-grant.ts';
import type { CreateKeyBody } from './key-schema.ts';

const nowMs = Date.parse('2026-11-20T03:04:05.678Z');
const addresses = ['192.0.2.1', '192.0.2.2', '198.51.100.7', '203.0.113.9'];

const unbounded: KeyBounds = {
  permissions: scopes,
  rateLimit: 6_000,
  dailyLimit: null,
  monthlyLimit: null,
  allowedIps: null,
  expiresAtMs: null,
};

const bounded: KeyBounds = {
  permissions: ['sms:send', 'sms:read'],
  rateLimit: 60,
  dailyLimit: 100,
  monthlyLimit: 1_000,
  allowedIps: ['192.0.2.1', '192.0.2.2'],
  expiresAtMs: nowMs + 3_600_000,
};

const within = (extra: Partial<CreateKeyBody>): CreateKeyBody => ({ name: 'x', ...extra });

function refusalOf(body: CreateKeyBody, own: KeyBounds): { code: string; param: string | undefined } | undefined {
  try {
    grantKey(body, own, nowMs);
  } catch (error) {
    if (error instanceof ApiError) return { code: error.code, param: error.param };
    throw error;
  }
  return undefined;
}

describe('what is left out', () => {
  test('is free of limits where the creating key has none', () => {
    expect(grantKey(within({}), unbounded, nowMs)).toEqual({
      name: 'x',
      permissions: [...scopes],
      rateLimit: 600,
      dailyLimit: null,
      monthlyLimit: null,
      allowedIps: null,
      expiresAt: null,
    });
  });

  test("is the creating key's own where it has a bound", () => {
    expect(grantKey(within({}), bounded, nowMs)).toEqual({
      name: 'x',
      permissions: ['sms:send', 'sms:read'],
      rateLimit: 60,
      dailyLimit: 100,
      monthlyLimit: 1_000,
      allowedIps: ['192.0.2.1', '192.0.2.2'],
      expiresAt: new Date(nowMs + 3_600_000),
    });
  });
});

test('a key may hand on all of what it has', () => {
  const settings = grantKey(
    within({
      permissions: ['sms:read', 'sms:send'],
      rate_limit: 60,
      daily_limit: 100,
      monthly_limit: 1_000,
      allowed_ips: ['192.0.2.2', '192.0.2.1'],
      expires_at: new Date(nowMs + 3_600_000).toISOString(),
    }),
    bounded,
    nowMs,
  );
  expect(settings).toMatchObject({ rateLimit: 60, dailyLimit: 100, expiresAt: new Date(nowMs + 3_600_000) });
});

test.each<[string, Partial<CreateKeyBody>]>([
  ['permissions', { permissions: ['sms:send', 'sms:bulk'] }],
  ['rate_limit', { rate_limit: 61 }],
  ['daily_limit', { daily_limit: 101 }],
  ['daily_limit', { daily_limit: null }],
  ['monthly_limit', { monthly_limit: 1_001 }],
  ['monthly_limit', { monthly_limit: null }],
  ['allowed_ips', { allowed_ips: ['192.0.2.1', '203.0.113.9'] }],
  ['allowed_ips', { allowed_ips: null }],
  ['expires_at', { expires_at: '2026-11-20T04:04:05.679Z' }],
  ['expires_at', { expires_at: null }],
])('more %s than the creating key has is forbidden: %j', (param, extra) => {
  expect(refusalOf(within(extra), bounded)).toEqual({ code: 'forbidden', param });
  expect(refusalOf(within(extra), unbounded)).toBeUndefined();
});

test.each<[string, Partial<CreateKeyBody>]>([
  ['name', { name: 'a\0b' }],
  ['name', { name: 'half \ud83d' }],
  ['permissions', { permissions: ['sms:send', 'sms:everything'] }],
  ['allowed_ips.1', { allowed_ips: ['192.0.2.1', '192.0.2.256'] }],
  ['allowed_ips.0', { allowed_ips: ['192.0.2.0/24'] }],
  ['allowed_ips.0', { allowed_ips: ['::ffff:192.0.2.1'] }],
  ['allowed_ips.0', { allowed_ips: ['192.0.2.01'] }],
  ['expires_at', { expires_at: 'tomorrow' }],
  ['expires_at', { expires_at: '2026-11-21' }],
  ['expires_at', { expires_at: '2026-11-20T03:04:05.678Z' }],
])('a %s that says nothing is invalid: %j', (param, extra) => {
  expect(refusalOf(within(extra), unbounded)).toEqual({ code: 'invalid_request', param });
});

test.each(['2026-11-20T05:00:00+01:00', '2026-11-20t04:00:00z', '2026-11-20 04:00:00.000-00:00'])(
  'any form of RFC 3339 will do: %s',
  (text) => {
    const { expiresAt } = grantKey(within({ expires_at: text }), unbounded, nowMs);
    expect(expiresAt).toEqual(new Date('2026-11-20T04:00:00Z'));
  },
);

test('repeated permissions and addresses count once', () => {
  const { permissions, allowedIps } = grantKey(
    within({ permissions: ['dlr:read', 'sms:send', 'dlr:read'], allowed_ips: ['192.0.2.1', '192.0.2.1'] }),
    unbounded,
    nowMs,
  );
  expect(permissions).toEqual(['sms:send', 'dlr:read']);
  expect(allowedIps).toEqual(['192.0.2.1']);
});

/** Bounds and wishes out of the same small ranges, so that they meet often. */
const limit = fc.option(fc.integer({ min: 1, max: 5 }), { nil: null });
const ips = fc.option(fc.uniqueArray(fc.constantFrom(...addresses), { minLength: 1 }), { nil: null });
const minutes = fc.option(fc.integer({ min: 1, max: 5 }), { nil: null });
const bounds: fc.Arbitrary<KeyBounds> = fc.record({
  permissions: fc.uniqueArray(fc.constantFrom(...scopes), { minLength: 1 }),
  rateLimit: fc.integer({ min: 1, max: 6_000 }),
  dailyLimit: limit,
  monthlyLimit: limit,
  allowedIps: ips,
  expiresAtMs: minutes.map((count) => (count === null ? null : nowMs + count * 60_000)),
});
const wishes: fc.Arbitrary<CreateKeyBody> = fc.record(
  {
    name: fc.constant('x'),
    permissions: fc.array(fc.constantFrom(...scopes), { minLength: 1 }),
    rate_limit: fc.integer({ min: 1, max: 6_000 }),
    daily_limit: limit,
    monthly_limit: limit,
    allowed_ips: ips,
    expires_at: minutes.map((count) => (count === null ? null : new Date(nowMs + count * 60_000).toISOString())),
  },
  { requiredKeys: ['name'] },
);

const isAtMost = (granted: number | null, own: number | null): boolean =>
  own === null || (granted !== null && granted <= own);

test('no key makes one more powerful than itself, whatever it asks for', () => {
  let granted = 0;
  fc.assert(
    fc.property(wishes, bounds, (asked, own) => {
      const refusal = refusalOf(asked, own);
      if (refusal !== undefined) return refusal.code === 'forbidden';
      granted += 1;
      const key = grantKey(asked, own, nowMs);
      return (
        key.permissions.length > 0 &&
        key.permissions.every((scope) => own.permissions.includes(scope)) &&
        key.rateLimit <= own.rateLimit &&
        isAtMost(key.dailyLimit, own.dailyLimit) &&
        isAtMost(key.monthlyLimit, own.monthlyLimit) &&
        isAtMost(key.expiresAt?.getTime() ?? null, own.expiresAtMs) &&
        (own.allowedIps === null || (key.allowedIps?.every((address) => own.allowedIps?.includes(address)) ?? false))
      );
    }),
    { numRuns: 2_000 },
  );
  expect(granted).toBeGreaterThan(20);
});
