import type { FastifyRequest } from 'fastify';
import { Type, type TSchema } from 'typebox';
import type { Pagination } from './pagination.ts';
import { paginationSchema } from './pagination.ts';

export const apiVersion = 'v1';

export type Meta = { request_id: string; api_version: typeof apiVersion };

export function metaOf(request: FastifyRequest): Meta {
  return { request_id: request.id, api_version: apiVersion };
}

/** Every successful answer (spec: What the service does, 5). */
export function envelope<Data>(request: FastifyRequest, data: Data) {
  return { success: true as const, data, meta: metaOf(request) };
}

/** Lists of messages, senders and events: `pagination` is a sibling of `data`. */
export function listEnvelope<Item>(request: FastifyRequest, data: Item[], pagination: Pagination) {
  return { success: true as const, data, pagination, meta: metaOf(request) };
}

/** Lists of API keys and webhook endpoints: an object of its own and no pagination (spec: List wrappers). */
export function wrappedList<Item>(items: Item[]) {
  return { object: 'list' as const, data: items };
}

/** The `meta` of examples in the documents. */
export const exampleMeta: Meta = { request_id: 'req_01kagq3v5xf7r8t2m9n4c6w0dr', api_version: apiVersion };

/** What every answer carries besides its data or its error. */
export const metaSchema = Type.Object(
  {
    request_id: Type.String({ description: 'Equals the X-Request-Id header; quote it when asking for help.' }),
    api_version: Type.Literal(apiVersion),
  },
  { title: 'Meta', examples: [exampleMeta] },
);

const success = { 'x-response-description': 'It succeeded.' };

export function envelopeSchema<Data extends TSchema>(data: Data) {
  return Type.Object({ success: Type.Literal(true), data, meta: metaSchema }, success);
}

export function listEnvelopeSchema<Item extends TSchema>(item: Item) {
  return Type.Object(
    { success: Type.Literal(true), data: Type.Array(item), pagination: paginationSchema, meta: metaSchema },
    success,
  );
}

export function wrappedListSchema<Item extends TSchema>(item: Item) {
  return Type.Object({ object: Type.Literal('list'), data: Type.Array(item) });
}

/** What deleting a resource answers with (spec: Deleted marker). */
export function deletedSchema(object: string, exampleId: string) {
  return Type.Object(
    {
      id: Type.String({ description: 'What was deleted.' }),
      object: Type.String({ description: 'What kind of resource it was.' }),
      deleted: Type.Literal(true),
    },
    { title: 'Deleted', examples: [{ id: exampleId, object, deleted: true }] },
  );
}
