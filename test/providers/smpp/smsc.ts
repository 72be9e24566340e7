import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import smpp, { type PDU, type Session } from 'smpp';
import { until } from '../../helpers/until.ts';

export type SmscOptions = { key?: string; cert?: string };

/** A carrier on a loopback port, spoken by the npm package `smpp`. By default it binds everybody and accepts everything. */
export class Smsc {
  /** Every session that was ever opened, also those that have ended. */
  readonly sessions: Session[] = [];
  readonly binds: PDU[] = [];
  readonly submits: PDU[] = [];
  unbinds = 0;
  enquiries = 0;
  onBind: (session: Session, pdu: PDU) => void = (session, pdu) => void session.send(pdu.response());
  onSubmit: (session: Session, pdu: PDU) => void = (session, pdu) => this.accept(session, pdu);
  onEnquire: (session: Session, pdu: PDU) => void = (session, pdu) => void session.send(pdu.response());
  onUnbind: (session: Session, pdu: PDU) => void = (session, pdu) => void session.send(pdu.response());
  readonly #server: Server;
  #ids = 0;

  private constructor(options: SmscOptions) {
    this.#server = smpp.createServer(options, (session) => this.#serve(session));
    // A client that refuses the certificate is an error of the server's.
    this.#server.on('tlsClientError', () => undefined);
  }

  static async start(options: SmscOptions = {}, port = 0): Promise<Smsc> {
    const smsc = new Smsc(options);
    smsc.#server.listen(port, '127.0.0.1');
    await once(smsc.#server, 'listening');
    return smsc;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The latest session that is bound, once there is one. */
  async bound(count = 1): Promise<Session> {
    await until('a session is bound', () => this.binds.length >= count);
    return this.sessions.at(-1) as Session;
  }

  accept(session: Session, pdu: PDU, messageId = String((this.#ids += 1))): void {
    session.send(pdu.response({ message_id: messageId }));
  }

  refuse(session: Session, pdu: PDU, status: number): void {
    session.send(pdu.response({ command_status: status }));
  }

  /** Delivers and resolves to the status of the answer. */
  async deliver(fields: Record<string, unknown>): Promise<number> {
    const session = await this.bound();
    return new Promise((resolve) => {
      session.deliver_sm(fields, (answer) => resolve(answer.command_status));
    });
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const session of this.sessions) session.destroy();
    await closed;
  }

  #serve(session: Session): void {
    this.sessions.push(session);
    // Without a listener the package throws what the socket says.
    session.on('error', () => session.destroy());
    for (const command of ['bind_transceiver', 'bind_transmitter', 'bind_receiver']) {
      session.on(command, (pdu: PDU) => {
        this.binds.push(pdu);
        this.onBind(session, pdu);
      });
    }
    session.on('submit_sm', (pdu: PDU) => {
      this.submits.push(pdu);
      this.onSubmit(session, pdu);
    });
    session.on('enquire_link', (pdu: PDU) => {
      this.enquiries += 1;
      this.onEnquire(session, pdu);
    });
    session.on('unbind', (pdu: PDU) => {
      this.unbinds += 1;
      this.onUnbind(session, pdu);
    });
  }
}

/** The text of a submit, read by the package. */
export function textOf(pdu: PDU): string {
  return (pdu['short_message'] as { message: string }).message;
}
