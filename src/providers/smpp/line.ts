import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../lib/clock.ts';
import { reconnectDelayMs } from './reconnect.ts';
import { Session, type OpenFault, type SessionOptions } from './session.ts';

export type LineOptions = SessionOptions & {
  clock: Clock;
  /** Numbers from 0 up to, not including, 1. */
  random: () => number;
  /** Runs one attempt to bind at a time over all lines of an account. */
  inTurn: <Value>(attempt: () => Promise<Value>) => Promise<Value>;
  onChange: (state: LineState) => void;
};

/** `down`: the last attempt failed, or the link was lost, and the next attempt waits. */
export type LineState =
  | { kind: 'opening' }
  | { kind: 'bound'; session: Session }
  | { kind: 'down'; fault: OpenFault; retryAtMs: number }
  | { kind: 'closed' };

/** One session with the carrier, opened again whenever it is lost. */
export class Line {
  readonly #options: LineOptions;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #state: LineState = { kind: 'opening' };
  #failures = 0;

  constructor(options: LineOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  get state(): LineState {
    return this.#state;
  }

  get canSubmit(): boolean {
    return this.#options.role !== 'receiver';
  }

  /** Lets the session end in good order, within the drain time, and opens no other. */
  async close(drainMs: number): Promise<void> {
    const bound = this.#state.kind === 'bound' ? this.#state.session : undefined;
    this.#closing.abort();
    await bound?.close(drainMs);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      this.#enter({ kind: 'opening' });
      const fault = await this.#session();
      if (signal.aborted) break;
      this.#failures += 1;
      const { clock, timing, random } = this.#options;
      const delayMs = reconnectDelayMs(fault, this.#failures, timing, random());
      this.#enter({ kind: 'down', fault, retryAtMs: clock.now() + delayMs });
      await delay(delayMs, undefined, { signal }).catch(() => undefined);
    }
    this.#enter({ kind: 'closed' });
  }

  /** One session from its bind to its end; resolves to why it ended, or never began. */
  async #session(): Promise<OpenFault> {
    const { clock, timing, inTurn } = this.#options;
    const opened = await inTurn(() => Session.open(this.#options, this.#closing.signal));
    if (!opened.ok) return opened.fault;
    const boundAtMs = clock.now();
    this.#enter({ kind: 'bound', session: opened.session });
    if (this.#closing.signal.aborted) void opened.session.close(0);
    const fault = await opened.session.closed;
    if (clock.now() - boundAtMs >= timing.healthyAfterMs) this.#failures = 0;
    return fault;
  }

  #enter(state: LineState): void {
    this.#state = state;
    this.#options.onChange(state);
  }
}
