import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A PDU as far as a test needs to know it. */
export type Frame = { command: number; status: number; sequence: number; body: Buffer };

export const command = {
  bindTransceiver: 0x09,
  submit: 0x04,
  deliver: 0x05,
  unbind: 0x06,
  enquireLink: 0x15,
  genericNack: 0x8000_0000,
} as const;

const response = 0x8000_0000;

/** A carrier on a loopback port that can misbehave at the octet. Binds everybody unless told otherwise. */
export class RawSmsc {
  readonly frames: Frame[] = [];
  readonly sockets: Socket[] = [];
  onFrame: (socket: Socket, frame: Frame) => void = (socket, frame) => {
    if (frame.command === command.bindTransceiver) socket.write(answerTo(frame));
  };
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((socket) => this.#serve(socket));
  }

  static async start(): Promise<RawSmsc> {
    const smsc = new RawSmsc();
    smsc.#server.listen(0, '127.0.0.1');
    await once(smsc.#server, 'listening');
    return smsc;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The PDUs of one command, in the order in which they came. */
  received(id: number): Frame[] {
    return this.frames.filter((frame) => frame.command === id);
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  #serve(socket: Socket): void {
    this.sockets.push(socket);
    socket.on('error', () => socket.destroy());
    let rest = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 16 && rest.length >= rest.readUInt32BE(0)) {
        const length = rest.readUInt32BE(0);
        const frame: Frame = {
          command: rest.readUInt32BE(4),
          status: rest.readUInt32BE(8),
          sequence: rest.readUInt32BE(12),
          body: rest.subarray(16, length),
        };
        rest = rest.subarray(length);
        this.frames.push(frame);
        this.onFrame(socket, frame);
      }
    });
  }
}

export function pdu(id: number, sequence: number, body: Buffer | string = '', status = 0): Buffer {
  const octets = Buffer.concat([Buffer.alloc(16), Buffer.from(body)]);
  octets.writeUInt32BE(octets.length, 0);
  octets.writeUInt32BE(id, 4);
  octets.writeUInt32BE(status, 8);
  octets.writeUInt32BE(sequence, 12);
  return octets;
}

/** The answer to a PDU: its id with the high bit set, a name or an id as its body. */
export function answerTo(frame: Frame, body: Buffer | string = 'SMSC\0', status = 0): Buffer {
  return pdu((frame.command | response) >>> 0, frame.sequence, body, status);
}
