import { Type, type Static } from 'typebox';
import { messageExample, messageSchema } from '../events/schema.ts';
import { pageQuery } from '../http/pagination.ts';
import { providerNames, type ProviderName } from '../providers/provider.ts';

const statuses = ['pending', 'sent', 'delivered', 'failed', 'undelivered'] as const;

/** A type array rather than a union: the serializer writes it directly instead of validating each branch. */
const nullableString = (options: { description?: string; format?: string; maxLength?: number } = {}) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], ...options });

const bulkResultExample = {
  object: 'bulk_result',
  total: 2,
  sent: 1,
  failed: 1,
  messages: [
    { ...messageExample, status: 'sent', delivered_at: null, reference: null },
    {
      ...messageExample,
      id: 'msg_01kagq3v5xf7r8t2m9n4c6w0dt',
      to: '0800 123',
      status: 'failed',
      cost: 0,
      provider: null,
      provider_message_id: null,
      attempts: 0,
      error: {
        code: 'invalid_recipient',
        message:
          'The recipient must be in E.164 form: a plus sign, the country code and the number, such as +14155550123.',
      },
      reference: null,
      sent_at: null,
      delivered_at: null,
      failed_at: '2026-11-20T03:04:05.678+00:00',
    },
  ],
};

export const bulkResultSchema = Type.Object(
  {
    object: Type.Literal('bulk_result'),
    total: Type.Integer({ description: 'Recipients of the request.' }),
    sent: Type.Integer({ description: 'Messages that a provider accepted.' }),
    failed: Type.Integer({ description: 'Messages that failed; each says why.' }),
    messages: Type.Array(messageSchema, { description: 'One for each recipient, in their order.' }),
  },
  { title: 'BulkResult', examples: [bulkResultExample] },
);

export const bodyLengthMax = 1_600;
export const recipientsMax = 1_000;

const common = {
  from: Type.String({
    description: 'An approved sender ID: up to 11 letters, digits or spaces, or a numeric long or short code.',
  }),
  body: Type.String({
    minLength: 1,
    maxLength: bodyLengthMax,
    description: 'At most 1,600 characters, counted in UTF-16 units. Long messages are sent in segments.',
  }),
  route_id: Type.Optional(
    Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description: 'Forces a route; omitted, the service picks one.',
    }),
  ),
  provider: Type.Optional(
    Type.Unsafe<ProviderName | null>({
      enum: [...providerNames, null],
      description: 'Tried first; the route is still followed when it fails in a way that may be retried.',
    }),
  ),
};

export const sendBodySchema = Type.Object(
  {
    to: Type.String({ description: 'Recipient, E.164 with the leading +.' }),
    ...common,
    reference: Type.Optional(nullableString({ maxLength: 255, description: 'Echoed on the message and in webhooks.' })),
  },
  { examples: [{ to: '+14155550123', from: 'HELIO', body: 'Your code is 4711.', reference: 'order 7' }] },
);

export const bulkBodySchema = Type.Object(
  {
    recipients: Type.Array(Type.String(), {
      minItems: 1,
      maxItems: recipientsMax,
      description: 'E.164 numbers. Each becomes a message of its own.',
    }),
    ...common,
  },
  { examples: [{ recipients: ['+14155550123', '+447700900123'], from: 'HELIO', body: 'We open at nine today.' }] },
);

export const listQuerySchema = Type.Object({
  status: Type.Optional(Type.Unsafe<(typeof statuses)[number]>({ type: 'string', enum: [...statuses] })),
  to: Type.Optional(Type.String({ description: 'Exactly this recipient.' })),
  created_after: Type.Optional(
    Type.String({ description: 'RFC 3339 date-time, such as 2026-11-20T00:00:00+00:00; messages made after it.' }),
  ),
  created_before: Type.Optional(Type.String({ description: 'RFC 3339 date-time; messages made before it.' })),
  ...pageQuery,
});

export const sendHeadersSchema = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Any text of your own, such as order-7-shipped. The same key and body within 24 hours replay the first answer instead of sending again.',
    }),
  ),
});

export type SendBody = Static<typeof sendBodySchema>;
export type BulkBody = Static<typeof bulkBodySchema>;
export type ListQuery = Static<typeof listQuerySchema>;
