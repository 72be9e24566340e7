import type { Writable } from 'node:stream';
import { systemClock } from '../lib/clock.ts';
import { Table, type Column } from './table.ts';

/** A stream a command writes to, and whether somebody is looking at it. */
export type OutputStream = Writable & { isTTY?: boolean };

/** Between two lines of progress that nobody can overwrite. */
const progressEveryMs = 2_000;

/** Results go to standard output, for people or as JSON; progress and remarks go to standard error. */
export class Output {
  readonly isJson: boolean;
  readonly #out: OutputStream;
  readonly #err: OutputStream;
  #hasProgressLine = false;
  #toldAtMs = 0;

  constructor(options: { out: OutputStream; err: OutputStream; isJson: boolean }) {
    this.isJson = options.isJson;
    this.#out = options.out;
    this.#err = options.err;
  }

  /** One result: as it is for a script, in `lines` for people. */
  result<Data>(data: Data, lines: (data: Data) => string | readonly string[]): void {
    this.#endProgress();
    if (this.isJson) this.#out.write(`${JSON.stringify(data, null, 2)}\n`);
    else this.#lines([lines(data)].flat());
  }

  /** A list, page by page: one JSON array, or one table. */
  async list<Item>(
    pages: AsyncIterable<readonly Item[]>,
    columns: ReadonlyArray<Column<Item>>,
    emptyText: string,
  ): Promise<void> {
    const table = new Table(columns);
    let count = 0;
    for await (const items of pages) {
      this.#endProgress();
      if (this.isJson) {
        for (const [index, item] of items.entries()) {
          this.#out.write(`${count + index === 0 ? '[\n' : ',\n'}${JSON.stringify(item)}`);
        }
      } else if (items.length > 0) this.#lines(table.add(items));
      count += items.length;
    }
    if (this.isJson) this.#out.write(count === 0 ? '[]\n' : '\n]\n');
    else if (count === 0) this.remark(emptyText);
  }

  /** One of many results that come over time: a line of JSON, or lines for people. */
  event<Data>(data: Data, lines: (data: Data) => readonly string[]): void {
    if (this.isJson) this.#out.write(`${JSON.stringify(data)}\n`);
    else this.#lines(lines(data));
  }

  /** Something besides the result. */
  remark(text: string): void {
    this.#endProgress();
    this.#err.write(`${text}\n`);
  }

  /** How far long work has come: in place on a terminal, now and then a line elsewhere. */
  progress(text: string): void {
    if (this.#err.isTTY === true) {
      this.#err.write(`\r\u001b[2K${text}`);
      this.#hasProgressLine = true;
      return;
    }
    const nowMs = systemClock.now();
    if (nowMs - this.#toldAtMs < progressEveryMs) return;
    this.#toldAtMs = nowMs;
    this.#err.write(`${text}\n`);
  }

  #endProgress(): void {
    if (!this.#hasProgressLine) return;
    this.#err.write('\r\u001b[2K');
    this.#hasProgressLine = false;
  }

  #lines(lines: readonly string[]): void {
    this.#out.write(lines.map((line) => `${line}\n`).join(''));
  }
}
