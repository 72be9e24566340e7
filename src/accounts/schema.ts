import { Type, type Static } from 'typebox';
import { microsToNumber } from '../events/message-view.ts';
import { formatTime } from '../lib/clock.ts';
import { toPublicId } from '../lib/ids.ts';
import type { AccountRow } from './account-queries.ts';

const time = Type.String({ format: 'date-time' });
const currency = Type.String({ description: 'ISO 4217 code.' });

const accountExample = {
  id: 'acc_01kagnz8w2efkbd3m5x7y9t1qa',
  object: 'account',
  email: 'ops@example.com',
  name: 'Example',
  company_name: 'Example Ltd',
  country: 'GB',
  status: 'active',
  kyc_verified: true,
  balance: 87.4213,
  currency: 'USD',
  created_at: '2026-11-01T09:00:00.000+00:00',
};

const balanceExample = { object: 'balance', balance: 87.4213, currency: 'USD', as_of: '2026-11-20T03:04:05.678+00:00' };

const usageExample = {
  object: 'usage',
  period: 'month',
  starts_at: '2026-11-01T00:00:00.000+00:00',
  ends_at: '2026-12-01T00:00:00.000+00:00',
  currency: 'USD',
  totals: { messages: 1592, cost: 12.5787 },
  by_status: { pending: 0, sent: 21, delivered: 1538, failed: 24, undelivered: 9 },
};

/** The Account of the API (spec: Account). */
export const accountSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('account'),
    email: Type.String(),
    name: Type.String(),
    company_name: Type.String(),
    country: Type.String(),
    status: Type.Unsafe<AccountRow['status']>({
      type: 'string',
      enum: ['active', 'suspended', 'closed'],
      description: 'A suspended account reads but does not send; the keys of a closed one are not accepted.',
    }),
    kyc_verified: Type.Boolean(),
    balance: Type.Number({ description: 'What is left to spend.' }),
    currency,
    created_at: time,
  },
  { title: 'Account', examples: [accountExample] },
);

export const balanceSchema = Type.Object(
  {
    object: Type.Literal('balance'),
    balance: Type.Number({ description: 'What is left to spend.' }),
    currency,
    as_of: time,
  },
  { title: 'Balance', examples: [balanceExample] },
);

export const usagePeriods = ['day', 'month', 'all'] as const;
export type UsagePeriod = (typeof usagePeriods)[number];

const usagePeriod = { type: 'string', enum: [...usagePeriods] };

export const usageQuerySchema = Type.Object({
  period: Type.Unsafe<UsagePeriod>({
    ...usagePeriod,
    default: 'month',
    description: 'The current UTC day, the current UTC month, or everything since the account was created.',
  }),
});

export const usageSchema = Type.Object(
  {
    object: Type.Literal('usage'),
    period: Type.Unsafe<UsagePeriod>(usagePeriod),
    starts_at: Type.String({ format: 'date-time', description: 'Inclusive.' }),
    ends_at: Type.String({ format: 'date-time', description: 'Exclusive.' }),
    currency,
    totals: Type.Object({
      messages: Type.Integer({ description: 'Messages created in the period.' }),
      cost: Type.Number({ description: 'What they cost, less what was given back.' }),
    }),
    by_status: Type.Object(
      {
        pending: Type.Integer(),
        sent: Type.Integer(),
        delivered: Type.Integer(),
        failed: Type.Integer(),
        undelivered: Type.Integer(),
      },
      { description: 'The same messages by the status they have now.' },
    ),
  },
  { title: 'Usage', examples: [usageExample] },
);

export function showAccount(row: AccountRow): Static<typeof accountSchema> {
  return {
    id: toPublicId('acc', row.account_id),
    object: 'account',
    email: row.email,
    name: row.name,
    company_name: row.company_name,
    country: row.country,
    status: row.status,
    kyc_verified: row.kyc_verified,
    balance: microsToNumber(row.balance_micros),
    currency: row.currency,
    created_at: formatTime(row.created_at),
  };
}
