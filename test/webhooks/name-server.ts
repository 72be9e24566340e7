import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

const typeA = 1;
const headerBytes = 12;

function questionOf(query: Buffer): { name: string; type: number; bytes: Buffer } {
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.subarray(at + 1, at + 1 + length).toString('latin1'));
    at += length + 1;
  }
  return {
    name: labels.join('.').toLowerCase(),
    type: query.readUInt16BE(at + 1),
    bytes: query.subarray(headerBytes, at + 5),
  };
}

function answerTo(query: Buffer, addresses: readonly string[] | undefined): Buffer {
  const question = questionOf(query);
  const found = question.type === typeA ? (addresses ?? []) : [];
  const header = Buffer.alloc(headerBytes);
  query.copy(header, 0, 0, 2);
  // A response, recursion available; NXDOMAIN for a name that nobody knows.
  header.writeUInt16BE(addresses === undefined ? 0x81_83 : 0x81_80, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(found.length, 6);
  // The name (a pointer to the question's), A, IN, no time to live, four bytes.
  const fixed = Buffer.from('c00c00010001000000000004', 'hex');
  const records = found.map((address) => Buffer.concat([fixed, Buffer.from(address.split('.').map(Number))]));
  return Buffer.concat([header, question.bytes, ...records]);
}

/** A name server on loopback that knows the IPv4 addresses it is given, and changes its mind when they are changed. */
export class NameServer {
  readonly addresses: Record<string, string[]> = {};
  readonly asked: string[] = [];
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (query, from) => {
      const { name } = questionOf(query);
      this.asked.push(name);
      socket.send(answerTo(query, this.addresses[name]), from.port, from.address);
    });
  }

  static async start(): Promise<NameServer> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new NameServer(socket);
  }

  /** `address:port`. */
  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  async stop(): Promise<void> {
    this.#socket.close();
    await once(this.#socket, 'close');
  }
}
