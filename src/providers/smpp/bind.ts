import pLimit from 'p-limit';
import type { Clock } from '../../lib/clock.ts';
import type { SendResult } from '../provider.ts';
import type { DeliveryPdu } from './delivery.ts';
import { Line, type LineState } from './line.ts';
import type { Reply } from './link.ts';
import { Pace } from './pace.ts';
import { isCredentialFault } from './reconnect.ts';
import type { OpenFault, Role, Session } from './session.ts';
import type { SmppSettings } from './settings.ts';
import { classOfStatus, status, type StatusOverrides } from './status.ts';
import type { Submit } from './submit.ts';
import type { SmppTiming } from './timing.ts';

export type Refusal = Extract<SendResult, { outcome: 'retryable' }>;

/** Whether a PDU left; where it did, `answer` resolves within the response time-out. */
export type Submission = { written: true; answer: Promise<Reply> } | { written: false; refusal: Refusal };

/** For the operator's log and metrics. */
export type BindNotice = { role: Role } & (
  | { state: 'bound' }
  | { state: 'down'; code: string; message: string; retryAfterMs: number }
);

export type BindOptions = {
  settings: SmppSettings;
  timing: SmppTiming;
  overrides: StatusOverrides;
  clock: Clock;
  random: () => number;
  onDelivery: (pdu: DeliveryPdu) => Promise<number>;
  onNotice?: (notice: BindNotice) => void;
};

type Waiting = {
  pdu: Submit;
  giveUpAtMs: number;
  deadline: NodeJS.Timeout | undefined;
  resolve: (submission: Submission) => void;
};

/** Everything bound to one account at a carrier: its lines, and the submits that wait for a turn on them, at the carrier's pace. */
export class Bind {
  readonly #options: BindOptions;
  readonly #pace: Pace;
  readonly #waiting = new Set<Waiting>();
  #lines: Line[] = [];
  #wake: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: BindOptions) {
    this.#options = options;
    this.#pace = new Pace(options.settings.ratePerSecond, options.timing);
  }

  /** Begins to bind, and stays bound until closed. */
  open(): void {
    if (this.#isClosed || this.#lines.length > 0) return;
    const { settings } = this.#options;
    const inTurn = pLimit(1);
    const roles: Role[] = settings.mode === 'trx' ? ['transceiver'] : ['transmitter', 'receiver'];
    this.#lines = Array.from({ length: settings.sessions }, () => roles)
      .flat()
      .map((role) => new Line({ ...this.#options, role, inTurn, onChange: (state) => this.#onChange(role, state) }));
  }

  /** Resolves once the PDU is written, or will not be: within `waitMs`, and at once where waiting is in vain. */
  submit(pdu: Submit, waitMs: number): Promise<Submission> {
    const nowMs = this.#options.clock.now();
    const refusal = this.#refusalOfAll() ?? this.#refusalWithin(nowMs, nowMs + waitMs);
    if (refusal !== undefined) return Promise.resolve({ written: false, refusal });
    return new Promise((resolve) => {
      const waiting: Waiting = { pdu, giveUpAtMs: nowMs + waitMs, deadline: undefined, resolve };
      this.#waiting.add(waiting);
      this.#pump();
      if (!this.#waiting.has(waiting)) return;
      waiting.deadline = setTimeout(() => this.#refuse(waiting, this.#refusalOfDeadline()), waitMs);
    });
  }

  /** Takes nothing more, lets what was written be answered within the drain time, and unbinds. */
  async close(drainMs: number): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#wake);
    for (const waiting of this.#waiting) this.#refuse(waiting, closed);
    await Promise.all(this.#lines.map((line) => line.close(drainMs)));
  }

  /** Writes what waits, oldest first, as far as pace and windows allow. */
  #pump(): void {
    for (const waiting of this.#waiting) {
      const session = this.#roomiest();
      if (session === undefined) return;
      const waitMs = this.#pace.take(this.#options.clock.now());
      if (waitMs > 0) {
        this.#wake ??= setTimeout(() => {
          this.#wake = undefined;
          this.#pump();
        }, waitMs);
        return;
      }
      this.#waiting.delete(waiting);
      clearTimeout(waiting.deadline);
      waiting.resolve({ written: true, answer: this.#write(waiting.pdu, session) });
    }
  }

  async #write(pdu: Submit, session: Session): Promise<Reply> {
    const { period } = this.#pace;
    const reply = await session.submit(pdu);
    if (reply.kind === 'answer') {
      const code = reply.pdu.status;
      if (code === status.ok) this.#pace.accepted(period);
      else if (classOfStatus(code, this.#options.overrides) === 'throttled') {
        this.#pace.throttled(period, this.#options.clock.now());
        this.#refuseHopeless();
      }
      if (code === status.notBound)
        session.drop({ code: 'not_bound', message: 'the carrier says that we are not bound' });
    }
    this.#pump();
    return reply;
  }

  #roomiest(): Session | undefined {
    let best: Session | undefined;
    for (const { state } of this.#lines) {
      if (state.kind === 'bound' && state.session.room > (best?.room ?? 0)) best = state.session;
    }
    return best;
  }

  #onChange(role: Role, state: LineState): void {
    this.#refuseHopeless();
    this.#pump();
    const { clock, onNotice } = this.#options;
    if (state.kind === 'bound') onNotice?.({ role, state: 'bound' });
    if (state.kind !== 'down') return;
    const { code, message } = state.fault;
    onNotice?.({ role, state: 'down', code, message, retryAfterMs: state.retryAtMs - clock.now() });
  }

  #refuseHopeless(): void {
    const nowMs = this.#options.clock.now();
    for (const waiting of this.#waiting) {
      const refusal = this.#refusalWithin(nowMs, waiting.giveUpAtMs);
      if (refusal !== undefined) this.#refuse(waiting, refusal);
    }
  }

  #refuse(waiting: Waiting, refusal: Refusal): void {
    if (!this.#waiting.delete(waiting)) return;
    clearTimeout(waiting.deadline);
    waiting.resolve({ written: false, refusal });
  }

  #refusalOfAll(): Refusal | undefined {
    if (this.#isClosed) return closed;
    return this.#waiting.size < this.#options.settings.waitingMax
      ? undefined
      : throttled('queue_full', `${this.#waiting.size} parts wait for their turn already`);
  }

  /** Why nothing can be written before `giveUpAtMs`: no line will be bound by then, or the carrier asked for a longer pause. */
  #refusalWithin(nowMs: number, giveUpAtMs: number): Refusal | undefined {
    const fault = this.#faultUntil(giveUpAtMs);
    if (fault !== undefined) return refusalOfFault(fault);
    const pausedMs = this.#pace.pausedMs(nowMs);
    if (pausedMs === 0 || nowMs + pausedMs < giveUpAtMs) return undefined;
    return { ...throttled('paused', 'the carrier throttles this bind'), retryAfterMs: Math.ceil(pausedMs) };
  }

  #faultUntil(giveUpAtMs: number): OpenFault | undefined {
    let fault: OpenFault | undefined;
    for (const line of this.#lines) {
      if (!line.canSubmit) continue;
      if (line.state.kind !== 'down' || line.state.retryAtMs < giveUpAtMs) return undefined;
      fault ??= line.state.fault;
    }
    return fault;
  }

  #refusalOfDeadline(): Refusal {
    const isBound = this.#lines.some((line) => line.canSubmit && line.state.kind === 'bound');
    if (isBound) return throttled('no_turn', 'neither rate nor window gave the part its turn in time');
    return refusalOfFault(
      this.#faultUntil(Infinity) ?? { code: 'not_bound', message: 'the bind was not ready in time' },
    );
  }
}

const closed: Refusal = { outcome: 'retryable', reason: 'unavailable', code: 'closed', message: 'the bind is closed' };

function throttled(code: string, message: string): Refusal {
  return { outcome: 'retryable', reason: 'throttled', code, message };
}

function refusalOfFault(fault: OpenFault): Refusal {
  const reason = isCredentialFault(fault) ? 'credentials' : 'unavailable';
  return { outcome: 'retryable', reason, code: fault.code, message: fault.message };
}
