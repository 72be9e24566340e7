import { Type, type Static } from 'typebox';
import { eventTypeSchema, messageSchema } from '../events/schema.ts';
import { nullableString, nullableTime, time, words } from './fields.ts';

const deliveryStatus = words(
  ['pending', 'succeeded', 'abandoned', 'skipped'] as const,
  'Pending is waiting for an attempt; skipped was not sent, because its endpoint was disabled or deleted.',
);

const deliveryFields = {
  endpoint_id: Type.String(),
  status: deliveryStatus,
  next_attempt_at: nullableTime('While pending: when the next attempt comes, or one under way is given up.'),
  attempts: Type.Array(
    Type.Object({
      at: time,
      status: Type.Unsafe<number | null>({ type: ['integer', 'null'], description: "The receiver's HTTP status." }),
      latency_ms: Type.Number(),
      error: nullableString('Why there was no answer.'),
      answer: nullableString('The first 1 KiB of the answer.'),
    }),
  ),
};

/** One event at one endpoint. */
export const deliverySchema = Type.Object(
  {
    object: Type.Literal('delivery'),
    account_id: Type.String(),
    event_id: Type.String(),
    message_id: Type.String(),
    ...deliveryFields,
  },
  { title: 'Delivery' },
);

const attemptSchema = Type.Object({
  at: time,
  provider: Type.String(),
  result: words(
    ['accepted', 'rejected', 'retryable', 'unknown', 'skipped'] as const,
    'Skipped is a candidate that was passed over; unknown is a request that was written and not answered.',
  ),
  code: nullableString("The upstream's own code, or why the candidate was skipped."),
  detail: nullableString(),
  latency_ms: Type.Unsafe<number | null>({ type: ['number', 'null'] }),
  provider_message_id: nullableString(),
  duplicate: Type.Boolean({ description: 'Another attempt had settled the message: the recipient may have it twice.' }),
});

const receiptSchema = Type.Object({
  at: time,
  provider: Type.String(),
  provider_message_id: Type.String(),
  attempt: Type.Integer({ description: 'Which attempt it speaks of, from 1.' }),
  state: words(['sent', 'delivered', 'undelivered', 'failed'] as const),
  code: nullableString("The upstream's own code."),
  raw: Type.String({ description: 'The receipt as it came.' }),
});

const eventSchema = Type.Object({
  id: Type.String(),
  type: eventTypeSchema,
  status: words(['sent', 'delivered', 'undelivered', 'failed'] as const, 'The state the message entered.'),
  created_at: time,
  deliveries: Type.Array(Type.Object({ url: nullableString('Null once the endpoint is deleted.'), ...deliveryFields })),
});

/** What a moment of the timeline can be. */
export const momentKinds = [
  'accepted',
  'charge',
  'refund',
  'skipped',
  'attempt',
  'receipt',
  'event',
  'delivery',
] as const;

/** Everything that is known of a message. */
export const storySchema = Type.Object(
  {
    object: Type.Literal('message_story'),
    account_id: Type.String(),
    message: messageSchema,
    segments: Type.Integer(),
    route_id: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    providers: Type.Array(Type.String(), { description: 'The chain, in order.' }),
    in_dispatch: Type.Unsafe<{ leased_until: string; started: string[] } | null>({
      type: ['object', 'null'],
      description: 'While pending: until when a process has it in hand, and the providers it may have been given to.',
      properties: {
        leased_until: { type: 'string', format: 'date-time' },
        started: { type: 'array', items: { type: 'string' } },
      },
      required: ['leased_until', 'started'],
    }),
    attempts: Type.Array(attemptSchema),
    receipts: Type.Array(receiptSchema),
    events: Type.Array(eventSchema),
    ledger: Type.Array(
      Type.Object({
        kind: words(['charge', 'refund'] as const),
        amount: Type.Number(),
        note: nullableString(),
        created_at: time,
      }),
    ),
    timeline: Type.Array(Type.Object({ at: time, kind: words(momentKinds), text: Type.String() }), {
      description: 'All of it in the order in which it happened, in sentences.',
    }),
  },
  { title: 'MessageStory' },
);

export type Story = Static<typeof storySchema>;
export type DeliveryView = Static<typeof deliverySchema>;
