import type { Socket } from 'node:net';
import { faultOf, type LinkFault } from './dial.ts';
import { frameLengthMax, FrameReader } from './framing.ts';
import { decode, encode, isResponse, type CommandName, type Pdu } from './pdu.ts';
import { status } from './status.ts';

/** What came of a request that was written. `no_answer`: nobody here knows what the carrier did with it. */
export type Reply = { kind: 'answer'; pdu: Pdu } | ({ kind: 'no_answer' } & LinkFault);

type Unnumbered<Each extends Pdu> = Each extends Pdu ? Omit<Each, 'sequence'> : never;
export type UnnumberedPdu = Unnumbered<Pdu>;

export type LinkListener = {
  /** A request of the carrier's, to be answered. */
  onRequest(pdu: Pdu): void;
  /** Anything whole that came from the carrier, answers included. */
  onTraffic(): void;
};

type Pending = { command: CommandName; resolve: (reply: Reply) => void; deadline: NodeJS.Timeout };

const sequenceMax = 0x7fff_ffff;
/** What a carrier leaves unread before it counts as gone. */
const unreadOctetsMax = 1024 * 1024;
/** For the last octets to leave when the link is closed in good order. */
const lingerMs = 1_000;

/**
 * PDUs over one connection: requests and their answers, which may come in any order. Whatever the carrier writes, nothing here throws:
 * what cannot be read is refused by a generic_nack, or ends the link where its end cannot be known.
 */
export class Link {
  readonly closed: Promise<LinkFault>;
  readonly #socket: Socket;
  readonly #listener: LinkListener;
  readonly #frames = new FrameReader();
  readonly #pending = new Map<number, Pending>();
  #sequence = 0;
  #fault: LinkFault | undefined;

  constructor(socket: Socket, listener: LinkListener) {
    this.#socket = socket;
    this.#listener = listener;
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('error', (error) => {
      this.#fault ??= faultOf(error);
    });
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        const fault = this.#fault ?? { code: 'link_closed', message: 'the carrier closed the connection' };
        this.#fault = fault;
        for (const sequence of this.#pending.keys()) this.#settle(sequence, { kind: 'no_answer', ...fault });
        resolve(fault);
      });
    });
  }

  get isOpen(): boolean {
    return this.#fault === undefined && this.#socket.writable;
  }

  /** Writes a request and resolves to its answer, or to why there is none. */
  request(pdu: UnnumberedPdu, timeoutMs: number): Promise<Reply> {
    if (!this.isOpen) return Promise.resolve({ kind: 'no_answer', code: 'link_closed', message: 'the link is closed' });
    const sequence = this.#nextSequence();
    return new Promise((resolve) => {
      const deadline = setTimeout(() => {
        this.#settle(sequence, {
          kind: 'no_answer',
          code: 'response_timeout',
          message: `no answer within ${timeoutMs} ms`,
        });
      }, timeoutMs);
      this.#pending.set(sequence, { command: pdu.command, resolve, deadline });
      this.#write({ ...pdu, sequence });
    });
  }

  respond(pdu: Pdu): void {
    if (this.isOpen) this.#write(pdu);
  }

  /** Closes once what was written is on its way. */
  end(fault: LinkFault): void {
    this.#fault ??= fault;
    if (this.#socket.destroyed) return;
    const linger = setTimeout(() => this.#socket.destroy(), lingerMs);
    this.#socket.once('close', () => clearTimeout(linger));
    this.#socket.end(() => this.#socket.destroy());
  }

  destroy(fault: LinkFault): void {
    this.#fault ??= fault;
    this.#socket.destroy();
  }

  #nextSequence(): number {
    do this.#sequence = (this.#sequence % sequenceMax) + 1;
    while (this.#pending.has(this.#sequence));
    return this.#sequence;
  }

  #write(pdu: Pdu): void {
    this.#socket.write(encode(pdu));
    if (this.#socket.writableLength > unreadOctetsMax) {
      this.destroy({ code: 'peer_not_reading', message: `the carrier left ${unreadOctetsMax} octets unread` });
    }
  }

  #read(chunk: Buffer): void {
    if (this.#fault !== undefined) return;
    const { frames, badLength } = this.#frames.read(chunk);
    for (const frame of frames) this.#take(frame);
    if (badLength === undefined) return;
    this.respond({ command: 'generic_nack', status: status.invalidCommandLength, sequence: 0 });
    this.end({
      code: 'bad_length',
      message: `the carrier wrote a PDU of ${badLength} octets; SMPP has 16 to ${frameLengthMax}`,
    });
  }

  #take(frame: Buffer): void {
    this.#listener.onTraffic();
    const decoded = decode(frame);
    if (!decoded.ok) {
      if (decoded.isResponse) return;
      const refusal = decoded.problem === 'malformed' ? status.invalidCommandLength : status.invalidCommandId;
      this.respond({ command: 'generic_nack', status: refusal, sequence: decoded.sequence });
      return;
    }
    const { pdu } = decoded;
    if (!isResponse(pdu.command)) {
      this.#listener.onRequest(pdu);
      return;
    }
    const asked = this.#pending.get(pdu.sequence)?.command;
    if (pdu.command === `${asked}_resp` || pdu.command === 'generic_nack')
      this.#settle(pdu.sequence, { kind: 'answer', pdu });
  }

  #settle(sequence: number, reply: Reply): void {
    const pending = this.#pending.get(sequence);
    if (pending === undefined) return;
    this.#pending.delete(sequence);
    clearTimeout(pending.deadline);
    pending.resolve(reply);
  }
}
