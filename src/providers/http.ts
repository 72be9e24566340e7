import { Pool, type Dispatcher } from 'undici';
import type { Clock } from '../lib/clock.ts';

/** The upstream's answer. `body` may be cut short (size, reset, deadline): what cannot be parsed is judged by its status. */
export type HttpAnswer = {
  kind: 'answer';
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
};

/**
 * `not_written`: no byte of the request left this process, so sending again cannot duplicate.
 * `no_answer`: bytes may have left and no status line came back, so nobody here knows what the upstream did.
 */
export type HttpFault = { kind: 'not_written' | 'no_answer'; code: string; message: string };

export type HttpResult = HttpAnswer | HttpFault;

/** What an adapter that speaks HTTP is given besides its settings. */
export type HttpAdapterDependencies = {
  clock: Clock;
  /** As many as there may be messages under way. */
  connectionsMax?: number;
};

export type UpstreamOptions = {
  /** Scheme, host, optional port and optional path prefix. */
  baseUrl: string;
  /** Sent with every request; `content-type` only with one that has a body. */
  headers: Readonly<Record<string, string>>;
  /** For one whole attempt: waiting for a connection, connecting, writing and reading. */
  timeoutMs: number;
  connectionsMax?: number | undefined;
};

const connectionsMaxDefault = 128;
const connectTimeoutMsMax = 5_000;
const waitingMax = 10_000;
const answerBytesMax = 64 * 1024;

/** One upstream's HTTP side: a bounded pool of keep-alive connections, and faults as data. */
export class Upstream {
  readonly #pool: Pool;
  readonly #pathPrefix: string;
  readonly #headers: { post: string[]; get: string[] };
  readonly #timeoutMs: number;
  readonly #line: Line = { waiting: 0 };
  #closed: Promise<void> | undefined;

  constructor({ baseUrl, headers, timeoutMs, connectionsMax = connectionsMaxDefault }: UpstreamOptions) {
    const url = new URL(baseUrl);
    this.#pathPrefix = url.pathname.replace(/\/+$/, '');
    const named = Object.entries({ 'accept-encoding': 'identity', 'user-agent': 'heliograph', ...headers });
    this.#headers = { post: named.flat(), get: named.filter(([name]) => name !== 'content-type').flat() };
    this.#timeoutMs = timeoutMs;
    this.#pool = new Pool(url.origin, {
      connections: connectionsMax,
      pipelining: 1,
      // Over HTTP/2 a stream can be refused after it was opened; over HTTP/1.1 "on the socket or not" has one answer.
      allowH2: false,
      connect: { timeout: Math.min(connectTimeoutMsMax, timeoutMs) },
      // The deadline of the exchange covers both.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** Posts `body` and resolves to what came of it, within the deadline. Never rejects. */
  post(path: string, body: string): Promise<HttpResult> {
    return this.#request(path, { method: 'POST', headers: this.#headers.post, body });
  }

  /** Asks for `path` and resolves to what came of it, within the deadline. Never rejects. */
  get(path: string): Promise<HttpResult> {
    return this.#request(path, { method: 'GET', headers: this.#headers.get });
  }

  #request(path: string, options: { method: 'POST' | 'GET'; headers: string[]; body?: string }): Promise<HttpResult> {
    if (this.#line.waiting >= waitingMax) {
      return Promise.resolve({
        kind: 'not_written',
        code: 'queue_full',
        message: `${waitingMax} requests wait for a connection already`,
      });
    }
    return new Promise((resolve) => {
      const exchange = new Exchange(this.#line, this.#timeoutMs, resolve);
      this.#pool.dispatch({ ...options, path: this.#pathPrefix + path }, exchange);
    });
  }

  /** Lets running requests end (each has its deadline), then closes the connections. */
  close(): Promise<void> {
    this.#closed ??= this.#pool.close();
    return this.#closed;
  }
}

/** How many requests the pool holds that have no socket yet, those whose deadline has passed included. */
type Line = { waiting: number };

/**
 * One request and its answer. undici calls `onRequestStart` in the same turn in which it writes the request, and never writes one
 * for which that call threw: a request that never saw the call has certainly not left.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #line: Line;
  readonly #resolve: (result: HttpResult) => void;
  readonly #deadline: NodeJS.Timeout;
  #inLine = true;
  #settled = false;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: HttpAnswer['headers'] = {};
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(line: Line, timeoutMs: number, resolve: (result: HttpResult) => void) {
    this.#line = line;
    this.#line.waiting += 1;
    this.#resolve = resolve;
    this.#deadline = setTimeout(() => {
      this.#end('deadline', `no complete answer within ${timeoutMs} ms`);
      this.#controller?.abort(new Error('deadline'));
    }, timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#leaveLine();
    // Throwing drops the request and keeps the connection; `abort` would destroy it. A second start would be a second copy.
    if (this.#settled || this.#controller !== undefined) throw new Error('this request must not be written any more');
    this.#controller = controller;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: HttpAnswer['headers']): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size <= answerBytesMax) return;
    this.#end('answer_too_large', `the answer has more than ${answerBytesMax} bytes`);
    controller.abort(new Error('answer too large'));
  }

  onResponseEnd(): void {
    this.#end('empty', 'the answer ended before its status');
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#leaveLine();
    this.#end('code' in error ? String(error.code) : error.name, error.message || 'the connection failed');
  }

  #leaveLine(): void {
    if (!this.#inLine) return;
    this.#inLine = false;
    this.#line.waiting -= 1;
  }

  /** Settles with the answer where a status has arrived, with the given fault otherwise. */
  #end(code: string, message: string): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#deadline);
    if (this.#status === 0) {
      this.#resolve({ kind: this.#controller === undefined ? 'not_written' : 'no_answer', code, message });
    } else {
      this.#resolve({ kind: 'answer', status: this.#status, headers: this.#headers, body: this.#text() });
    }
    this.#chunks = [];
  }

  #text(): string {
    const [first] = this.#chunks;
    if (first !== undefined && this.#chunks.length === 1 && this.#size <= answerBytesMax) return first.toString();
    return Buffer.concat(this.#chunks).toString('utf8', 0, answerBytesMax);
  }
}
