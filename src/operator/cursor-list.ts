import type { FastifyRequest } from 'fastify';
import { Type, type Static, type TSchema } from 'typebox';
import { envelopeSchema, metaOf } from '../http/envelope.ts';
import { ApiError } from '../lib/errors.ts';
import { nullableString, text } from './fields.ts';

/** Query parameters of lists that have no end worth counting. */
export const cursorQuery = {
  cursor: Type.Optional(text({ maxLength: 64, description: 'The `next_cursor` of the page before.' })),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Items on a page.' }),
};

const cursorPaginationSchema = Type.Object({
  limit: Type.Integer({ examples: [50] }),
  has_more: Type.Boolean({ examples: [false] }),
  next_cursor: nullableString('Where the next page begins.'),
});

export function cursorEnvelopeSchema<Item extends TSchema>(item: Item) {
  const { data, ...rest } = envelopeSchema(Type.Array(item)).properties;
  return Type.Object({ success: rest.success, data, pagination: cursorPaginationSchema, meta: rest.meta });
}

/** Out of one more row than the page holds: whether there is a next page, and where it begins. */
export function cursorEnvelope<Row, Item>(
  request: FastifyRequest,
  rows: readonly Row[],
  limit: number,
  { show, cursorOf }: { show: (row: Row) => Item; cursorOf: (row: Row) => string },
) {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  const pagination: Static<typeof cursorPaginationSchema> = {
    limit,
    has_more: hasMore,
    next_cursor: hasMore ? cursorOf(last) : null,
  };
  return { success: true as const, data: page.map(show), pagination, meta: metaOf(request) };
}

export function invalidCursor(): ApiError {
  return new ApiError('invalid_request', 'The cursor is not one this list gave. Leave it out to begin anew.', {
    param: 'cursor',
  });
}
