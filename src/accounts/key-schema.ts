import { Type, type Static } from 'typebox';
import { scopes, type Scope } from '../http/caller.ts';
import { formatTime, formatTimeOrNull } from '../lib/clock.ts';
import { toPublicId } from '../lib/ids.ts';
import type { KeyRow } from './key-queries.ts';

export const rateLimitMax = 6_000;
/** The largest number the database's column holds. */
const messageLimitMax = 2_147_483_647;

const nullableTime = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', description });

const keyFields = {
  id: Type.String(),
  object: Type.Literal('api_key'),
  name: Type.String(),
  key_hint: Type.String({ description: 'The first characters of the key, `...`, and the last four.' }),
  is_active: Type.Boolean({ description: 'False once the key is revoked.' }),
  permissions: Type.Array(Type.Unsafe<Scope>({ type: 'string', enum: [...scopes] })),
  rate_limit: Type.Integer({ description: 'Requests per minute.' }),
  last_used_at: nullableTime('The last request with this key, to within ten seconds.'),
  expires_at: nullableTime('From when the key is no longer accepted.'),
  created_at: Type.String({ format: 'date-time' }),
};

const keyExample = {
  id: 'key_01kagp2m7rfh0sx4c8v6b3n5dz',
  object: 'api_key',
  name: 'Nightly job',
  key_hint: 'ds_live_9aKz...Qm3T',
  is_active: true,
  permissions: ['sms:send', 'sms:read'],
  rate_limit: 600,
  last_used_at: '2026-11-20T03:04:05.678+00:00',
  expires_at: null,
  created_at: '2026-11-01T09:00:00.000+00:00',
};

/** The API key of the API (spec: API key). */
export const keySchema = Type.Object(keyFields, { title: 'ApiKey', examples: [keyExample] });

const createdKeyExample = {
  ...keyExample,
  last_used_at: null,
  plain_key: 'ds_live_9aKz00000000000000000000000000000000Qm3T',
  plain_key_notice: 'Store this key safely now. It is not shown again.',
};

export const createdKeySchema = Type.Object(
  {
    ...keyFields,
    plain_key: Type.String({ description: 'The full key. Shown only now.' }),
    plain_key_notice: Type.String(),
  },
  { title: 'CreatedApiKey', examples: [createdKeyExample] },
);

const messageLimit = (period: string) =>
  Type.Optional(
    Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      minimum: 1,
      maximum: messageLimitMax,
      description: `Messages the key may send in a UTC ${period}; null for no limit. Defaults to the creating key's.`,
    }),
  );

export const createKeyBodySchema = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 255 }),
    permissions: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        maxItems: 100,
        description: `Scopes out of ${scopes.join(', ')}, none that the creating key lacks. Defaults to the creating key's.`,
      }),
    ),
    rate_limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: rateLimitMax,
        description: "Requests per minute. Defaults to 600, or to the creating key's where that is lower.",
      }),
    ),
    daily_limit: messageLimit('day'),
    monthly_limit: messageLimit('month'),
    allowed_ips: Type.Optional(
      Type.Unsafe<string[] | null>({
        type: ['array', 'null'],
        items: { type: 'string' },
        minItems: 1,
        maxItems: 100,
        description: "IPv4 addresses the key may be used from; null for any. Defaults to the creating key's.",
      }),
    ),
    expires_at: Type.Optional(
      nullableTime("From when the key is no longer accepted; null for never. Defaults to the creating key's."),
    ),
  },
  {
    examples: [
      { name: 'Nightly job', permissions: ['sms:send', 'sms:read'], rate_limit: 600, allowed_ips: ['203.0.113.7'] },
    ],
  },
);

export type CreateKeyBody = Static<typeof createKeyBodySchema>;

export function showKey(row: KeyRow): Static<typeof keySchema> {
  return {
    id: toPublicId('key', row.id),
    object: 'api_key',
    name: row.name,
    key_hint: row.hint,
    is_active: row.is_active,
    permissions: row.permissions,
    rate_limit: row.rate_limit,
    last_used_at: formatTimeOrNull(row.last_used_at),
    expires_at: formatTimeOrNull(row.expires_at),
    created_at: formatTime(row.created_at),
  };
}
