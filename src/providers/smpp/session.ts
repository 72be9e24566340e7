import type { Socket } from 'node:net';
import { within } from './deadline.ts';
import type { DeliveryPdu } from './delivery.ts';
import { dial, type LinkFault } from './dial.ts';
import { Link, type Reply } from './link.ts';
import type { Pdu } from './pdu.ts';
import type { SmppSettings } from './settings.ts';
import { formatStatus, status, statusTable } from './status.ts';
import type { Submit } from './submit.ts';
import type { SmppTiming } from './timing.ts';

export type Role = 'transceiver' | 'transmitter' | 'receiver';

/** Why a session could not be opened; `status` where the carrier refused the bind. */
export type OpenFault = LinkFault & { status?: number };

export type SessionOptions = {
  role: Role;
  settings: SmppSettings;
  timing: SmppTiming;
  /** Resolves to the status to answer with. */
  onDelivery: (pdu: DeliveryPdu) => Promise<number>;
};

export type Opened = { ok: true; session: Session } | { ok: false; fault: OpenFault };

/** SMPP 3.4. */
const interfaceVersion = 0x34;
const missesMax = 2;
/** Deliveries being stored at a time; a carrier that sends more at once is told that the queue is full. */
const storingMax = 500;

/** A bound link: a window of unanswered submits, deliveries, and the proof that the carrier is still there. */
export class Session {
  readonly closed: Promise<LinkFault>;
  readonly #options: SessionOptions;
  readonly #link: Link;
  #silence: NodeJS.Timeout | undefined;
  #isProbing = false;
  #unanswered = 0;
  #storing = 0;
  #isClosing = false;
  #onIdle: (() => void) | undefined;

  private constructor(socket: Socket, options: SessionOptions) {
    this.#options = options;
    this.#link = new Link(socket, {
      onRequest: (pdu) => this.#answer(pdu),
      onTraffic: () => this.#silence?.refresh(),
    });
    this.closed = this.#end();
  }

  /** Connects and binds. */
  static async open(options: SessionOptions, signal: AbortSignal): Promise<Opened> {
    const dialled = await dial(options.settings, options.timing.connectTimeoutMs, signal);
    if (!dialled.ok) return dialled;
    const session = new Session(dialled.socket, options);
    const abort = (): void => session.drop({ code: 'closed', message: 'the bind is being closed' });
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    const fault = await session.#bind();
    signal.removeEventListener('abort', abort);
    if (fault === undefined) return { ok: true, session };
    session.#link.end(fault);
    await session.closed;
    return { ok: false, fault };
  }

  /** How many more submits the carrier takes before it has answered one. */
  get room(): number {
    if (this.#isClosing || !this.#link.isOpen || this.#options.role === 'receiver') return 0;
    return this.#options.settings.window - this.#unanswered;
  }

  /** Writes the message and resolves to its answer. There must be room. */
  async submit(pdu: Submit): Promise<Reply> {
    this.#unanswered += 1;
    try {
      return await this.#link.request(pdu, this.#options.settings.responseTimeoutMs);
    } finally {
      this.#unanswered -= 1;
      this.#notice();
    }
  }

  /** Ends the session without a word; what was written and not answered stays unknown. */
  drop(fault: LinkFault): void {
    this.#link.destroy(fault);
  }

  /** Waits for answers and for what is being stored, then unbinds and closes. */
  async close(drainMs: number): Promise<void> {
    this.#isClosing = true;
    await within(this.#idle(), drainMs);
    await this.#link.request({ command: 'unbind', status: status.ok }, this.#options.timing.unbindTimeoutMs);
    this.#link.end({ code: 'closed', message: 'the bind was closed' });
    await this.closed;
  }

  async #bind(): Promise<OpenFault | undefined> {
    const { role, settings, timing } = this.#options;
    const reply = await this.#link.request(
      {
        command: `bind_${role}`,
        status: status.ok,
        systemId: settings.systemId,
        password: settings.password,
        systemType: settings.systemType,
        interfaceVersion,
        addressTon: 0,
        addressNpi: 0,
        addressRange: '',
      },
      timing.bindTimeoutMs,
    );
    if (reply.kind === 'no_answer') {
      return reply.code === 'response_timeout'
        ? { code: 'bind_timeout', message: `the bind was not answered within ${timing.bindTimeoutMs} ms` }
        : { code: reply.code, message: reply.message };
    }
    const { pdu } = reply;
    if (pdu.command === 'generic_nack' || pdu.status !== status.ok) {
      const text = statusTable.get(pdu.status)?.text ?? 'the bind was refused';
      return { code: formatStatus(pdu.status), message: text, status: pdu.status };
    }
    this.#silence = setTimeout(() => void this.#probe(), settings.enquireLinkMs);
    return undefined;
  }

  #answer(pdu: Pdu): void {
    const { sequence } = pdu;
    switch (pdu.command) {
      case 'enquire_link':
        this.#link.respond({ command: 'enquire_link_resp', status: status.ok, sequence });
        break;
      case 'unbind':
        this.#link.respond({ command: 'unbind_resp', status: status.ok, sequence });
        this.#link.end({ code: 'unbound', message: 'the carrier ended the bind' });
        break;
      case 'deliver_sm':
      case 'data_sm':
        void this.#deliver(pdu);
        break;
      default:
        this.#link.respond({ command: 'generic_nack', status: status.invalidCommandId, sequence });
    }
  }

  async #deliver(pdu: DeliveryPdu): Promise<void> {
    const answer = (code: number): void =>
      this.#link.respond({ command: `${pdu.command}_resp`, status: code, sequence: pdu.sequence, messageId: '' });
    if (this.#storing >= storingMax) {
      answer(status.queueFull);
      return;
    }
    this.#storing += 1;
    answer(await this.#options.onDelivery(pdu).catch(() => status.systemError));
    this.#storing -= 1;
    this.#notice();
  }

  /** Asks a silent carrier whether it is there; one that says nothing twice is gone, whatever TCP believes. */
  async #probe(): Promise<void> {
    if (this.#isProbing) return;
    this.#isProbing = true;
    const { enquireTimeoutMs } = this.#options.timing;
    for (let misses = 0; misses < missesMax; misses += 1) {
      const reply = await this.#link.request({ command: 'enquire_link', status: status.ok }, enquireTimeoutMs);
      if (reply.kind === 'answer' || !this.#link.isOpen) {
        this.#isProbing = false;
        return;
      }
    }
    this.drop({ code: 'enquire_link_timeout', message: `the carrier left ${missesMax} enquire_link unanswered` });
  }

  async #end(): Promise<LinkFault> {
    const fault = await this.#link.closed;
    clearTimeout(this.#silence);
    // A cleared timer that is refreshed would run again.
    this.#silence = undefined;
    return fault;
  }

  #idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      this.#notice();
    });
  }

  #notice(): void {
    if (this.#unanswered === 0 && this.#storing === 0) this.#onIdle?.();
  }
}
