import { Type } from 'typebox';
import { pageQuery } from '../http/pagination.ts';
import { eventTypes, type Event, type EventType } from './event.ts';
import type { Message, MessageStatus } from './message-view.ts';

/** A type array rather than a union: the serializer writes it directly instead of validating each branch. */
const nullableString = (options: { description?: string; format?: string } = {}) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], ...options });

const messageStatuses: readonly MessageStatus[] = ['pending', 'sent', 'delivered', 'failed', 'undelivered'];

const statusDescription =
  '`pending`: accepted, not yet sent. `sent`: a provider accepted it. `delivered`: the carrier confirmed delivery. `failed`: refused ' +
  'for good. `undelivered`: the carrier gave up without success.';

/** A message as the documents show it. */
export const messageExample: Message = {
  id: 'msg_01kagq3v5xf7r8t2m9n4c6w0ds',
  object: 'message',
  to: '+14155550123',
  from: 'HELIO',
  body: 'Your code is 4711.',
  status: 'delivered',
  cost: 0.0079,
  currency: 'USD',
  provider: 'twilio',
  provider_message_id: 'SM2f8c1e5d7a4b4f0f9a6c3e1d8b7a5c42',
  attempts: 1,
  error: null,
  reference: 'order 7',
  created_at: '2026-11-20T03:04:05.678+00:00',
  sent_at: '2026-11-20T03:04:05.702+00:00',
  delivered_at: '2026-11-20T03:04:07.311+00:00',
  failed_at: null,
};

/** The Message of the API (spec: Message). */
export const messageSchema = Type.Object(
  {
    id: Type.String({ description: '`msg_…`' }),
    object: Type.Literal('message'),
    to: Type.String({ description: 'Recipient, E.164.' }),
    from: Type.String({ description: 'Sender ID.' }),
    body: Type.String({ description: 'As it was given.' }),
    status: Type.Unsafe<MessageStatus>({ type: 'string', enum: messageStatuses, description: statusDescription }),
    cost: Type.Number({ description: 'For all segments together.' }),
    currency: Type.String({ description: 'ISO 4217 code.' }),
    provider: nullableString({ description: 'The upstream provider that handled it; null while none has.' }),
    provider_message_id: nullableString({ description: "The upstream provider's own id." }),
    attempts: Type.Integer({ description: 'Provider attempts made.' }),
    error: Type.Unsafe<{ code: string; message: string } | null>({
      type: ['object', 'null'],
      description: 'Why it failed or was not delivered; null otherwise.',
      properties: { code: { type: 'string' }, message: { type: 'string' } },
      required: ['code', 'message'],
    }),
    reference: nullableString({ description: "The caller's own, as it was given." }),
    created_at: Type.String({ format: 'date-time' }),
    sent_at: nullableString({ format: 'date-time', description: 'When a provider accepted it.' }),
    delivered_at: nullableString({ format: 'date-time', description: 'When the carrier confirmed it.' }),
    failed_at: nullableString({
      format: 'date-time',
      description: 'When it failed, or its attempts ended undelivered.',
    }),
  },
  { title: 'Message', examples: [messageExample] },
);

/** One of the event types, as a schema. */
export const eventTypeSchema = Type.Unsafe<EventType>({ type: 'string', enum: [...eventTypes] });

const eventExample: Event = {
  id: 'evt_01kagq3x0kf0ztv5q2d8r1m7hc',
  object: 'event',
  type: 'message.delivered',
  created_at: '2026-11-20T03:04:07.315+00:00',
  data: messageExample,
};

/** The Event of the API (spec: Event), which is also the body of a webhook. */
export const eventSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('event'),
    type: eventTypeSchema,
    created_at: Type.String({ format: 'date-time' }),
    data: messageSchema,
  },
  { title: 'Event', examples: [eventExample] },
);

export const listEventsQuerySchema = Type.Object({ type: Type.Optional(eventTypeSchema), ...pageQuery });
