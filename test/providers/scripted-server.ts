import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A request as it came over the wire; header names in lower case. */
export type WireRequest = { method: string; path: string; headers: Record<string, string>; body: string };

/** What the server does with one whole request. */
export type Script = (socket: Socket, request: WireRequest) => void;

export type WireAnswer = { status: number; headers?: Record<string, string>; body: string };

/** An upstream on a loopback port that keeps every request and plays one script for each: it can misbehave at the byte. */
export class ScriptedServer {
  readonly requests: WireRequest[] = [];
  connections = 0;
  script: Script = answer({ status: 500, body: '' });
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #onRequest = (): void => {};

  private constructor() {
    this.#server = createServer((socket) => this.#serve(socket));
  }

  static async start(script?: Script): Promise<ScriptedServer> {
    const server = new ScriptedServer();
    if (script) server.script = script;
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get baseUrl(): string {
    return `http://${this.host}`;
  }

  /** Resolves once so many requests were taken and their scripts begun. */
  taken(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#onRequest = () => {
        if (this.requests.length >= count) resolve();
      };
      this.#onRequest();
    });
  }

  /** Resolves once somebody has connected. */
  async connected(): Promise<void> {
    if (this.connections === 0) await once(this.#server, 'connection');
  }

  /** Ends the connections, as a restart of the upstream would. Resolves once they are gone. */
  async disconnect(): Promise<void> {
    await Promise.all(
      [...this.#sockets].map(async (socket) => {
        const closed = new Promise((resolve) => socket.once('close', resolve));
        socket.destroy();
        await closed;
      }),
    );
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #serve(socket: Socket): void {
    this.connections += 1;
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    let received = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      for (let parsed = parse(received); parsed !== undefined; parsed = parse(received)) {
        received = received.subarray(parsed.length);
        this.requests.push(parsed.request);
        this.script(socket, parsed.request);
        this.#onRequest();
      }
    });
  }
}

function parse(received: Buffer): { request: WireRequest; length: number } | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [requestLine = '', ...lines] = received.toString('latin1', 0, headEnd).split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const length = headEnd + 4 + Number(headers['content-length'] ?? 0);
  if (received.length < length) return undefined;
  const [method = '', path = ''] = requestLine.split(' ');
  return { request: { method, path, headers, body: received.toString('utf8', headEnd + 4, length) }, length };
}

/** The whole answer at once; the connection stays open. */
export function answer(given: WireAnswer): Script {
  return (socket) => void socket.write(bytesOf(given));
}

/** The answer cut after `length` bytes of its body, then the connection is reset. */
export function answerCutAfter(length: number, given: WireAnswer): Script {
  const bytes = bytesOf(given);
  const cut = bytes.length - Buffer.byteLength(given.body) + length;
  return (socket) => void socket.write(bytes.subarray(0, cut), () => socket.resetAndDestroy());
}

/** The answer's head, then one byte of its body every few milliseconds, never all of it. */
export function trickle(given: WireAnswer): Script {
  const head = bytesOf({ ...given, body: '' })
    .toString('latin1')
    .replace('content-length: 0', 'content-length: 9999');
  return (socket) => {
    socket.write(head);
    const timer = setInterval(() => socket.write(' '), 5);
    socket.on('close', () => clearInterval(timer));
  };
}

/** A success whose body never ends, as fast as the client takes it. */
export const flood: Script = (socket) => {
  socket.write('HTTP/1.1 200 OK\r\n\r\n');
  const block = Buffer.alloc(16 * 1024, 'x');
  const pour = () => {
    if (!socket.destroyed) socket.write(block, pour);
  };
  pour();
};

/** Takes the request and never answers. */
export const silence: Script = () => {};

/** Takes the request and resets the connection. */
export const reset: Script = (socket) => void socket.resetAndDestroy();

/** Takes the request and ends the connection in good order, without a word. */
export const hangUp: Script = (socket) => void socket.end();

/** Writes what no HTTP server would. */
export const garbage: Script = (socket) => void socket.write('\u0015\u0003\u0001 this is not HTTP\r\n\r\n');

function bytesOf({ status, headers = {}, body }: WireAnswer): Buffer {
  const all: Record<string, string> = { 'content-length': String(Buffer.byteLength(body)), ...headers };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`HTTP/1.1 ${status} Whatever\r\n${head.join('')}\r\n${body}`);
}
