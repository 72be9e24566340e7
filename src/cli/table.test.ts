import { describe as group, expect, test } from 'vitest';
import { describe, printable, showTime, Table } from './table.ts';

group('a table', () => {
  const columns = [
    { title: 'NAME', of: ({ name }: { name: string | null }) => name },
    { title: 'LENGTH', of: ({ name }: { name: string | null }) => name?.length, align: 'right' as const },
  ];

  test('is as wide as its first page needs, and goes on below it', () => {
    const table = new Table(columns);
    expect(table.add([{ name: 'Alexandra' }, { name: null }])).toEqual([
      'NAME       LENGTH',
      'Alexandra       9',
      '-               -',
    ]);
    expect(table.add([{ name: 'Bo' }])).toEqual(['Bo              2']);
  });
});

test('names and values of one thing stand below each other', () => {
  expect(
    describe([
      ['id', 'acc_1'],
      ['balance', 5],
      ['company', null],
    ]),
  ).toEqual(['id       acc_1', 'balance  5', 'company  -']);
});

test.each([
  ['two\nlines\r\n', 'two\\nlines\\r\\n'],
  ['\u001b[2Jgone', '\\u001b[2Jgone'],
  ['\u009b31mred', '\\u009b31mred'],
  ['right\u202eleft', 'right\\u202eleft'],
  ['Grüße 👋', 'Grüße 👋'],
])('what others wrote is shown, and not obeyed by the terminal: %j', (text, shown) => {
  expect(printable(text)).toBe(shown);
});

test('a time is shown to the second', () => {
  expect(showTime('2026-11-20T03:04:05.678+00:00')).toBe('2026-11-20 03:04:05');
  expect(showTime(null)).toBe('-');
});
