import fc from 'fast-check';
import { expect, it } from 'vitest';
import { offsetOf, paginationOf } from './pagination.ts';

it.each([
  [1, 50, 0, 0, false],
  [1, 50, 1, 1, false],
  [1, 50, 50, 1, false],
  [1, 50, 51, 2, true],
  [2, 50, 51, 2, false],
  [3, 50, 51, 2, false],
  [9, 10, 100, 10, true],
])('page %i with %i a page of %i items: %i pages, more: %s', (page, limit, total, pages, has_more) => {
  expect(paginationOf(page, limit, total)).toEqual({ page, limit, total, pages, has_more });
});

it('the pages of any list end with the one that has no more', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), fc.nat({ max: 10_000 }), (limit, total) => {
      const { pages } = paginationOf(1, limit, total);
      expect(pages * limit).toBeGreaterThanOrEqual(total);
      expect((pages - 1) * limit).toBeLessThan(Math.max(total, 1));
      expect(paginationOf(pages, limit, total).has_more).toBe(false);
      if (pages > 1) expect(paginationOf(pages - 1, limit, total).has_more).toBe(true);
    }),
  );
});

it('the offset of any page is one that PostgreSQL takes', () => {
  expect(offsetOf(3, 50)).toBe(100);
  for (const page of [Number.MAX_SAFE_INTEGER, 1e20, 1e308]) expect(offsetOf(page, 100)).toBe(Number.MAX_SAFE_INTEGER);
});
