import { Type, type Static } from 'typebox';

export const paginationSchema = Type.Object(
  {
    page: Type.Integer(),
    limit: Type.Integer(),
    total: Type.Integer({ description: 'Items in the whole list, exactly.' }),
    pages: Type.Integer({ description: 'How many pages of this limit the whole list has.' }),
    has_more: Type.Boolean({ description: 'Whether there is a page after this one.' }),
  },
  { title: 'Pagination', examples: [{ page: 1, limit: 50, total: 1, pages: 1, has_more: false }] },
);

export type Pagination = Static<typeof paginationSchema>;

/** Query parameters of every paged list (spec: Limits). */
export const pageQuery = {
  // A text of 400 digits would be Infinity, which is no number that the answer could name.
  page: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 1, description: 'Which page, from 1.' }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Items on a page.' }),
};

/** How many items come before a page. Any page may be asked for; a bigint of PostgreSQL holds no more than this. */
export function offsetOf(page: number, limit: number): number {
  return Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER);
}

export function paginationOf(page: number, limit: number, total: number): Pagination {
  const pages = Math.ceil(total / limit);
  return { page, limit, total, pages, has_more: page < pages };
}
