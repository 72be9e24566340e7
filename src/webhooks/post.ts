import { StringDecoder } from 'node:string_decoder';
import type { Dispatcher } from 'undici';

/** What an attempt came to: the receiver's status and the beginning of its answer, or why there was none. */
export type PostOutcome = { status: number; answer: string } | { error: string };

export type PostRequest = { path: string; headers: Record<string, string>; body: Buffer; timeoutMs: number };

/** Of each answer, so much is kept. */
const keptBytesMax = 1_024;
/** A longer answer costs its connection: reading on would cost more than connecting again. */
const readBytesMax = 16 * 1_024;
const errorLengthMax = 200;

class Exchange implements Dispatcher.DispatchHandler {
  readonly #resolve: (outcome: PostOutcome) => void;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #isOver = false;
  #status: number | undefined;
  #kept: Buffer[] = [];
  #readBytes = 0;

  constructor(timeoutMs: number, resolve: (outcome: PostOutcome) => void) {
    this.#resolve = resolve;
    this.#timer = setTimeout(() => this.#stop(`no answer within ${timeoutMs / 1_000} s`), timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('the time was up before the connection stood'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    // 1xx: the answer proper follows.
    if (status >= 200) this.#status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const room = keptBytesMax - this.#readBytes;
    // A copy: a slice would hold the whole chunk in memory.
    if (room > 0) this.#kept.push(Buffer.from(chunk.subarray(0, room)));
    this.#readBytes += chunk.length;
    if (this.#readBytes > readBytesMax) this.#stop('the answer is too long');
  }

  onResponseEnd(): void {
    this.#finish('the answer ended before it began');
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#finish(error.message === '' ? error.name : error.message);
  }

  /** Ends the exchange from our side. An answer whose head came in time counts, however its body ends. */
  #stop(reason: string): void {
    this.#finish(reason);
    this.#controller?.abort(new Error(reason));
  }

  #finish(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    const status = this.#status;
    this.#resolve(
      status === undefined ? { error: reason.slice(0, errorLengthMax) } : { status, answer: this.#answer() },
    );
  }

  #answer(): string {
    // A character cut in two is left out; PostgreSQL's text has no NUL.
    return new StringDecoder('utf8').write(Buffer.concat(this.#kept)).replaceAll('\0', '\u{FFFD}');
  }
}

/** POSTs once. `timeoutMs` runs from now to the last byte that is read; the outcome is data, nothing throws. */
export function post(dispatcher: Dispatcher, { path, headers, body, timeoutMs }: PostRequest): Promise<PostOutcome> {
  return new Promise((resolve) => {
    const exchange = new Exchange(timeoutMs, resolve);
    dispatcher.dispatch({ path, method: 'POST', headers, body, headersTimeout: 0, bodyTimeout: 0 }, exchange);
  });
}
