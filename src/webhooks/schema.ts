import { Type, type Static } from 'typebox';
import { eventTypes } from '../events/event.ts';
import { eventTypeSchema } from '../events/schema.ts';
import { formatTime, formatTimeOrNull } from '../lib/clock.ts';
import { toPublicId } from '../lib/ids.ts';
import type { EndpointRow } from './queries.ts';

const nullableTime = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });

const endpointFields = {
  id: Type.String(),
  object: Type.Literal('webhook_endpoint'),
  url: Type.String({ format: 'uri' }),
  description: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  events: Type.Array(eventTypeSchema, { description: 'The types that are sent to it.' }),
  is_active: Type.Boolean(),
  failure_count: Type.Integer({ description: 'Failed attempts since the last successful one.' }),
  last_success_at: nullableTime,
  last_failure_at: nullableTime,
  disabled_at: nullableTime,
  created_at: Type.String({ format: 'date-time' }),
};

const endpointExample = {
  id: 'whe_01kagpa3c1f4dy8f2a6k0m5nsg',
  object: 'webhook_endpoint',
  url: 'https://example.com/hooks/sms',
  description: 'Orders',
  events: ['message.delivered', 'message.failed'],
  is_active: true,
  failure_count: 0,
  last_success_at: '2026-11-20T03:04:07.398+00:00',
  last_failure_at: null,
  disabled_at: null,
  created_at: '2026-11-01T09:00:00.000+00:00',
};

/** The Webhook endpoint of the API (spec: Webhook endpoint). */
export const endpointSchema = Type.Object(endpointFields, { title: 'WebhookEndpoint', examples: [endpointExample] });

const createdEndpointExample = {
  ...endpointExample,
  last_success_at: null,
  signing_secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw4q3bIHrqPYE=',
};

export const createdEndpointSchema = Type.Object(
  {
    ...endpointFields,
    signing_secret: Type.String({ description: 'Shown only now. What `Service-Signature` is keyed with.' }),
  },
  { title: 'CreatedWebhookEndpoint', examples: [createdEndpointExample] },
);

/** PostgreSQL's text has no NUL. */
const withoutNul = '^[^\\u0000]*$';

export const createBodySchema = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      maxLength: 2_048,
      pattern: withoutNul,
      description: 'Where events are POSTed. HTTPS on the public internet is recommended.',
    }),
    description: Type.Optional(
      Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 255, pattern: withoutNul }),
    ),
    events: Type.Optional(
      Type.Array(Type.Unsafe<(typeof eventTypes)[number] | '*'>({ type: 'string', enum: ['*', ...eventTypes] }), {
        minItems: 1,
        maxItems: 100,
        description: 'Which types to send; `*` and omitted mean all.',
      }),
    ),
  },
  {
    examples: [
      { url: 'https://example.com/hooks/sms', description: 'Orders', events: ['message.delivered', 'message.failed'] },
    ],
  },
);

export type CreateBody = Static<typeof createBodySchema>;

export function showEndpoint(row: EndpointRow): Static<typeof endpointSchema> {
  return {
    id: toPublicId('whe', row.id),
    object: 'webhook_endpoint',
    url: row.url,
    description: row.description,
    events: row.events,
    is_active: row.is_active,
    failure_count: row.failure_count,
    last_success_at: formatTimeOrNull(row.last_success_at),
    last_failure_at: formatTimeOrNull(row.last_failure_at),
    disabled_at: formatTimeOrNull(row.disabled_at),
    created_at: formatTime(row.created_at),
  };
}
