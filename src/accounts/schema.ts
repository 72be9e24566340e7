import { Type, type Static } from 'typebox';
import { microsToNumber } from '../events/message-view.ts';
import { formatTime } from '../lib/clock.ts';
import { toPublicId } from '../lib/ids.ts';
import type { AccountRow } from './account-queries.ts';

const time = Type.String({ format: 'date-time' });
const currency = Type.String({ description: 'ISO 4217 code.' });

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
  { title: 'Account' },
);

export const balanceSchema = Type.Object(
  {
    object: Type.Literal('balance'),
    balance: Type.Number({ description: 'What is left to spend.' }),
    currency,
    as_of: time,
  },
  { title: 'Balance' },
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
  { title: 'Usage' },
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
