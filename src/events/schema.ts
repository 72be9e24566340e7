import { Type } from 'typebox';
import { pageQuery } from '../http/pagination.ts';
import { eventTypes, type EventType } from './event.ts';
import type { MessageStatus } from './message-view.ts';

/** A type array rather than a union: the serializer writes it directly instead of validating each branch. */
const nullableString = (options: { description?: string; format?: string } = {}) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], ...options });

const messageStatuses: readonly MessageStatus[] = ['pending', 'sent', 'delivered', 'failed', 'undelivered'];

/** The Message of the API (spec: Message). */
export const messageSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('message'),
    to: Type.String({ description: 'Recipient, E.164.' }),
    from: Type.String({ description: 'Sender ID.' }),
    body: Type.String(),
    status: Type.Unsafe<MessageStatus>({ type: 'string', enum: messageStatuses }),
    cost: Type.Number({ description: 'For all segments together.' }),
    currency: Type.String(),
    provider: nullableString({ description: 'The upstream provider that handled it; null while none has.' }),
    provider_message_id: nullableString(),
    attempts: Type.Integer({ description: 'Provider attempts made.' }),
    error: Type.Unsafe<{ code: string; message: string } | null>({
      type: ['object', 'null'],
      properties: { code: { type: 'string' }, message: { type: 'string' } },
      required: ['code', 'message'],
    }),
    reference: nullableString(),
    created_at: Type.String({ format: 'date-time' }),
    sent_at: nullableString({ format: 'date-time' }),
    delivered_at: nullableString({ format: 'date-time' }),
    failed_at: nullableString({ format: 'date-time' }),
  },
  { title: 'Message' },
);

/** One of the event types, as a schema. */
export const eventTypeSchema = Type.Unsafe<EventType>({ type: 'string', enum: [...eventTypes] });

/** The Event of the API (spec: Event), which is also the body of a webhook. */
export const eventSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('event'),
    type: eventTypeSchema,
    created_at: Type.String({ format: 'date-time' }),
    data: messageSchema,
  },
  { title: 'Event' },
);

export const listEventsQuerySchema = Type.Object({ type: Type.Optional(eventTypeSchema), ...pageQuery });
