import { Type, type Static } from 'typebox';
import { eventTypeSchema, messageSchema } from '../events/schema.ts';
import { idOf, nullableString, nullableTime, shown, shownNumber, time, words } from './fields.ts';

const deliveryStatus = words(
  ['pending', 'succeeded', 'abandoned', 'skipped'] as const,
  'Pending is waiting for an attempt; skipped was not sent, because its endpoint was disabled or deleted.',
  'succeeded',
);

const deliveryFields = {
  endpoint_id: idOf('whe'),
  status: deliveryStatus,
  next_attempt_at: nullableTime('While pending: when the next attempt comes, or one under way is given up.'),
  attempts: Type.Array(
    Type.Object({
      at: time,
      status: Type.Unsafe<number | null>({
        type: ['integer', 'null'],
        description: "The receiver's HTTP status.",
        examples: [200],
      }),
      latency_ms: shownNumber(38.4),
      error: nullableString('Why there was no answer.'),
      answer: nullableString('The first 1 KiB of the answer.', 'ok'),
    }),
  ),
};

/** One event at one endpoint. */
export const deliverySchema = Type.Object(
  {
    object: Type.Literal('delivery'),
    account_id: idOf('acc'),
    event_id: idOf('evt'),
    message_id: idOf('msg'),
    ...deliveryFields,
  },
  { title: 'Delivery' },
);

const attemptSchema = Type.Object({
  at: time,
  provider: shown('twilio'),
  result: words(
    ['accepted', 'rejected', 'retryable', 'unknown', 'skipped'] as const,
    'Skipped is a candidate that was passed over; unknown is a request that was written and not answered.',
  ),
  code: nullableString("The upstream's own code, or why the candidate was skipped."),
  detail: nullableString(),
  latency_ms: Type.Unsafe<number | null>({ type: ['number', 'null'], examples: [23.8] }),
  provider_message_id: nullableString(undefined, 'SM2f8c1e5d7a4b4f0f9a6c3e1d8b7a5c42'),
  duplicate: Type.Boolean({
    examples: [false],
    description: 'Another attempt had settled the message: the recipient may have it twice.',
  }),
});

const receiptSchema = Type.Object({
  at: time,
  provider: shown('twilio'),
  provider_message_id: shown('SM2f8c1e5d7a4b4f0f9a6c3e1d8b7a5c42'),
  attempt: Type.Integer({ description: 'Which attempt it speaks of, from 1.', examples: [1] }),
  state: words(['sent', 'delivered', 'undelivered', 'failed'] as const, undefined, 'delivered'),
  code: nullableString("The upstream's own code."),
  raw: shown('POST \nMessageStatus=delivered', 'The receipt as it came.'),
});

const eventSchema = Type.Object({
  id: idOf('evt'),
  type: eventTypeSchema,
  status: words(['sent', 'delivered', 'undelivered', 'failed'] as const, 'The state the message entered.'),
  created_at: time,
  deliveries: Type.Array(
    Type.Object({
      url: nullableString('Null once the endpoint is deleted.', 'https://example.com/hooks/sms'),
      ...deliveryFields,
    }),
  ),
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
    account_id: idOf('acc'),
    message: messageSchema,
    segments: Type.Integer({ examples: [1] }),
    route_id: Type.Unsafe<number | null>({ type: ['integer', 'null'], examples: [1] }),
    providers: Type.Array(shown('twilio'), { description: 'The chain, in order.' }),
    in_dispatch: Type.Unsafe<{ leased_until: string; started: string[] } | null>({
      type: ['object', 'null'],
      description: 'While pending: until when a process has it in hand, and the providers it may have been given to.',
      properties: {
        leased_until: { type: 'string', format: 'date-time' },
        started: { type: 'array', items: { type: 'string' } },
      },
      required: ['leased_until', 'started'],
      examples: [null],
    }),
    attempts: Type.Array(attemptSchema),
    receipts: Type.Array(receiptSchema),
    events: Type.Array(eventSchema),
    ledger: Type.Array(
      Type.Object({
        kind: words(['charge', 'refund'] as const),
        amount: shownNumber(-0.0079),
        note: nullableString(),
        created_at: time,
      }),
    ),
    timeline: Type.Array(
      Type.Object({ at: time, kind: words(momentKinds), text: shown('twilio accepted it after 24 ms.') }),
      {
        description: 'All of it in the order in which it happened, in sentences.',
      },
    ),
  },
  { title: 'MessageStory' },
);

export type Story = Static<typeof storySchema>;
export type DeliveryView = Static<typeof deliverySchema>;
