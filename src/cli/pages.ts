import type { Client, Query } from './client.ts';
import { misuse } from './failure.ts';

const pageMax = 100;

/** How many items of a list are wanted: a number, or `all`. */
export function readLimit(text: string): number {
  if (text === 'all') return Number.POSITIVE_INFINITY;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1) return limit;
  throw misuse(`"${text}" is not a number of items. Give a whole number from 1, or all.`);
}

/** The first `limit` items of a list, page by page, whether its pages have numbers or cursors. Tells where there are more. */
export async function* pagesOf<Item>(
  client: Client,
  path: string,
  query: Query,
  limit: number,
  onMore: (shown: number) => void,
): AsyncGenerator<Item[]> {
  let shown = 0;
  let place: Query = {};
  // A page keeps its size, so that the numbers of pages fit together.
  const size = Math.min(limit, pageMax);
  for (let page = 1; ; page += 1) {
    const answer = await client.request<Item[]>('GET', path, { query: { ...query, ...place, limit: size } });
    const items = answer.data.slice(0, limit - shown);
    shown += items.length;
    yield items;
    const hasMore = answer.pagination?.has_more === true || items.length < answer.data.length;
    if (hasMore && shown >= limit) onMore(shown);
    if (!hasMore || shown >= limit) return;
    const cursor = answer.pagination?.next_cursor;
    place = typeof cursor === 'string' ? { cursor } : { page: page + 1 };
  }
}

/** A list that comes whole. */
export async function* onePage<Item>(items: readonly Item[]): AsyncGenerator<readonly Item[]> {
  yield items;
}
