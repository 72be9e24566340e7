/** One column: its heading and what of an item it shows. */
export type Column<Item> = {
  title: string;
  of: (item: Item) => string | number | null | undefined;
  align?: 'right';
};

/**
 * What other people wrote (bodies, names, answers of receivers) goes to a terminal as text: its control characters would otherwise be
 * obeyed there.
 */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (character) => {
    const escapes: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
    return escapes[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

function cellOf<Item>(column: Column<Item>, item: Item): string {
  const value = column.of(item);
  return value === null || value === undefined || value === '' ? '-' : printable(String(value));
}

/** A table whose pages come one after the other: the first page decides the widths. */
export class Table<Item> {
  readonly #columns: ReadonlyArray<Column<Item>>;
  #widths: number[] | undefined;

  constructor(columns: ReadonlyArray<Column<Item>>) {
    this.#columns = columns;
  }

  /** The lines of a page; the first has the headings above it. */
  add(items: readonly Item[]): string[] {
    const rows = items.map((item) => this.#columns.map((column) => cellOf(column, item)));
    if (this.#widths !== undefined) return rows.map((row) => this.#line(row));
    const headings = this.#columns.map(({ title }) => title);
    this.#widths = headings.map((heading, index) =>
      Math.max(heading.length, ...rows.map((row) => row[index]?.length ?? 0)),
    );
    return [headings, ...rows].map((row) => this.#line(row));
  }

  #line(cells: readonly string[]): string {
    return cells
      .map((cell, index) => {
        const width = this.#widths?.[index] ?? 0;
        return this.#columns[index]?.align === 'right' ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  }
}

/** Names and values of one thing, a line each. */
export function describe(fields: ReadonlyArray<readonly [name: string, value: string | number | null]>): string[] {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${value === null ? '-' : printable(String(value))}`);
}

/** `2026-11-20T03:04:05.678+00:00` as `2026-11-20 03:04:05`. All times are UTC. */
export function showTime(time: string | null): string {
  return time === null ? '-' : time.slice(0, 19).replace('T', ' ');
}
