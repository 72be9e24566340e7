import { Type, type Static } from 'typebox';
import { pageQuery } from '../http/pagination.ts';
import { formatTime, formatTimeOrNull } from '../lib/clock.ts';
import { toPublicId } from '../lib/ids.ts';
import type { SenderRow, SenderStatus, SenderType } from './queries.ts';

const typeSchema = { type: 'string', enum: ['alphanumeric', 'numeric', 'short_code', 'long_code'] };
const statusSchema = { type: 'string', enum: ['pending', 'approved', 'rejected', 'suspended'] };

const senderExample = {
  id: 'snd_01kagp5t9vf2bw6d0y4h8j3kqe',
  object: 'sender',
  sender_id: 'HELIO',
  type: 'alphanumeric',
  country_code: 'GB',
  status: 'approved',
  approved_at: '2026-11-01T10:30:00.000+00:00',
  created_at: '2026-11-01T09:00:00.000+00:00',
};

/** The Sender of the API (spec: Sender). */
export const senderSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('sender'),
    sender_id: Type.String({ description: 'The text itself: what `from` names when sending.' }),
    type: Type.Unsafe<SenderType>(typeSchema),
    country_code: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'ISO 3166-1 alpha-2.' }),
    status: Type.Unsafe<SenderStatus>({ ...statusSchema, description: 'Only an approved sender can be sent from.' }),
    approved_at: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' }),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Sender', examples: [senderExample] },
);

export const createSenderBodySchema = Type.Object(
  {
    sender_id: Type.String({
      minLength: 1,
      maxLength: 16,
      description:
        'Printable ASCII. Messages can be sent from 1 to 11 letters, digits or spaces, and from a numeric long or short code.',
    }),
    type: Type.Optional(
      Type.Unsafe<SenderType>({ ...typeSchema, description: 'Must fit `sender_id`. Omitted, it is inferred from it.' }),
    ),
    country_code: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        minLength: 2,
        maxLength: 2,
        description: 'ISO 3166-1 alpha-2: where the sender is to be used.',
      }),
    ),
  },
  { examples: [{ sender_id: 'HELIO', type: 'alphanumeric', country_code: 'GB' }] },
);

export const listSendersQuerySchema = Type.Object({
  status: Type.Optional(Type.Unsafe<SenderStatus>(statusSchema)),
  ...pageQuery,
});

export type CreateSenderBody = Static<typeof createSenderBodySchema>;

export function showSender(row: SenderRow): Static<typeof senderSchema> {
  return {
    id: toPublicId('snd', row.id),
    object: 'sender',
    sender_id: row.sender_id,
    type: row.type,
    country_code: row.country_code,
    status: row.status,
    approved_at: formatTimeOrNull(row.approved_at),
    created_at: formatTime(row.created_at),
  };
}
