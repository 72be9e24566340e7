import type { Readable } from 'node:stream';
import { Client, type Query } from './client.ts';
import type { CliEnvironment } from './environment.ts';
import { Output, type OutputStream } from './output.ts';
import { pagesOf, readLimit } from './pages.ts';
import type { Column } from './table.ts';
import { resolveTarget, type GlobalOptions, type Target } from './target.ts';

/** What a command has of the process it runs in. */
export type Shell = {
  environment: CliEnvironment;
  stdin: Readable;
  stdout: OutputStream;
  stderr: OutputStream;
  /** From the call on, SIGINT and SIGTERM abort this signal instead of ending the process. */
  stopOnSignal: () => AbortSignal;
};

/** One command under way: where it writes, and whom it talks to. */
export class Session {
  readonly shell: Shell;
  readonly output: Output;
  readonly #options: GlobalOptions;
  #target: Target | undefined;

  constructor(shell: Shell, options: GlobalOptions) {
    this.shell = shell;
    this.#options = options;
    this.output = new Output({ out: shell.stdout, err: shell.stderr, isJson: options.json === true });
  }

  get target(): Target {
    this.#target ??= resolveTarget(this.#options, this.shell.environment);
    return this.#target;
  }

  /** The operator API. */
  get operator(): Client {
    return Client.operator(this.target);
  }

  /** The API of the account whose key it is. */
  get account(): Client {
    return Client.public(this.target);
  }

  /** Prints a list of the operator API, as much of it as was asked for. */
  list<Item>(
    path: string,
    query: Query,
    { limit, columns, empty }: { limit: string; columns: ReadonlyArray<Column<Item>>; empty: string },
  ): Promise<void> {
    const tellMore = (shown: number): void =>
      this.output.remark(`There are more than these ${shown}: --limit 500 shows more, --limit all shows all.`);
    return this.output.list(pagesOf<Item>(this.operator, path, query, readLimit(limit), tellMore), columns, empty);
  }
}

/** Opens the session of the command that runs. */
export type OpenSession = () => Session;
