import type { Socket } from 'node:net';
import type { CallbackResult } from '../upstream.ts';
import { createDeliveries } from './deliveries.ts';
import { createPduReader } from './framing.ts';
import {
  BodyReader,
  commandIds,
  commandStatus,
  cString,
  encodePdu,
  MalformedBody,
  type Pdu,
  RESPONSE_BIT,
  tags,
  tlv,
} from './pdu.ts';

const BIND_MS_MAX = 10_000;
const INTERFACE_VERSION = 0x34;
/** The carrier's name in answers to binds. */
const SMSC_ID = 'simulator';

export type Account = { readonly systemId: string; readonly password: string };

/** One connection of a customer. */
export type Session = {
  canReceive(): boolean;
  /** Sends a deliver_sm; `done` gets the status that answers it. */
  deliver(body: readonly Buffer[], done: (result: CallbackResult) => void): void;
  /** Without a goodbye. */
  drop(): void;
};

/** A submit_sm of a session that may send; `answer` gives its status and, where one was assigned, the message id. */
export type OnSubmit = (pdu: Pdu, answer: (status: number, messageId?: string) => void) => void;

type Role = { readonly transmits: boolean; readonly receives: boolean };

const roles: ReadonlyMap<number, Role> = new Map([
  [commandIds.bindTransmitter, { transmits: true, receives: false }],
  [commandIds.bindReceiver, { transmits: false, receives: true }],
  [commandIds.bindTransceiver, { transmits: true, receives: true }],
]);

export function createSession(options: { socket: Socket; account: Account; onSubmit: OnSubmit }): Session {
  const { socket, account, onSubmit } = options;
  const write = createWriter(socket);
  const respond = ({ commandId, sequence }: Pdu, status: number, body?: readonly Buffer[]) =>
    write(encodePdu((commandId | RESPONSE_BIT) >>> 0, status, sequence, body));
  const deliveries = createDeliveries(write);
  const bindTimer = setTimeout(() => socket.destroy(), BIND_MS_MAX).unref();
  let role: Role | undefined;

  function bind(pdu: Pdu, wanted: Role): void {
    const status = role === undefined ? bindStatus(pdu.body, account) : commandStatus.alreadyBound;
    if (status !== commandStatus.ok) {
      respond(pdu, status);
      if (role === undefined) socket.destroySoon();
      return;
    }
    role = wanted;
    clearTimeout(bindTimer);
    respond(pdu, status, [cString(SMSC_ID), tlv(tags.interfaceVersion, Buffer.of(INTERFACE_VERSION))]);
  }

  function submit(pdu: Pdu): void {
    if (role?.transmits !== true) {
      respond(pdu, commandStatus.notBoundForThis);
      return;
    }
    onSubmit(pdu, (status, messageId) => {
      respond(pdu, status, messageId === undefined ? undefined : [cString(messageId)]);
    });
  }

  function unbind(pdu: Pdu): void {
    respond(pdu, commandStatus.ok);
    socket.destroySoon();
  }

  function handle(pdu: Pdu): void {
    const wanted = roles.get(pdu.commandId);
    if (wanted !== undefined) bind(pdu, wanted);
    else if (pdu.commandId === commandIds.submitSm) submit(pdu);
    else if (pdu.commandId === commandIds.enquireLink) respond(pdu, commandStatus.ok);
    else if (pdu.commandId === commandIds.unbind) unbind(pdu);
    else if (pdu.commandId >= RESPONSE_BIT) deliveries.settle(pdu);
    else write(encodePdu(RESPONSE_BIT, commandStatus.invalidCommandId, pdu.sequence));
  }

  const readChunk = createPduReader(handle);
  socket.on('data', (chunk: Buffer) => {
    if (readChunk(chunk)) return;
    write(encodePdu(RESPONSE_BIT, commandStatus.invalidCommandLength, 0));
    socket.destroySoon();
  });
  // Followed by `close`, as every end is.
  socket.on('error', () => {});
  socket.on('close', () => {
    clearTimeout(bindTimer);
    deliveries.abandon();
  });

  return {
    canReceive: () => role?.receives === true && socket.writable,
    deliver: (body, done) => deliveries.send(body, done),
    drop: () => void socket.destroy(),
  };
}

/** Whoever does not read its answers is not read either. */
function createWriter(socket: Socket): (pdu: Buffer) => void {
  return (pdu) => {
    if (!socket.writable || socket.write(pdu) || socket.isPaused()) return;
    socket.pause();
    socket.once('drain', () => socket.resume());
  };
}

/** SMPP 3.4, 4.1: only the account is looked at; the address range of a receiver is not simulated. */
function bindStatus(body: Buffer, account: Account): number {
  try {
    const reader = new BodyReader(body);
    const systemId = reader.cString(16);
    const password = reader.cString(9);
    reader.cString(13);
    reader.octets(3);
    reader.cString(41);
    if (systemId !== account.systemId) return commandStatus.invalidSystemId;
    return password === account.password ? commandStatus.ok : commandStatus.invalidPassword;
  } catch (error) {
    if (error instanceof MalformedBody) return error.status;
    throw error;
  }
}
