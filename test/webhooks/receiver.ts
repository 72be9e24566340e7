import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Received = {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
  /** Which connection it came on, from 1. */
  connection: number;
};

export type Answer = (request: Received, response: ServerResponse) => void;

export const ok: Answer = (_request, response) => void response.writeHead(200).end('ok');
export const fail: Answer = (_request, response) => void response.writeHead(500).end('broken');
/** Takes the request and never says a word. */
export const hang: Answer = () => undefined;

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** A customer's webhook receiver: a real HTTP server that keeps what it got and answers as it is told. */
export class Receiver {
  readonly requests: Received[] = [];
  readonly url: string;
  readonly #server;
  answer: Answer = ok;
  connections = 0;
  #wake: Array<() => void> = [];

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    const numbers = new WeakMap<object, number>();
    server.on('connection', (socket) => numbers.set(socket, (this.connections += 1)));
    server.on('request', (request, response) => {
      void this.#receive(request, response, numbers.get(request.socket) ?? 0);
    });
  }

  static async start(answer: Answer = ok): Promise<Receiver> {
    const server = createServer({ keepAliveTimeout: 60_000 }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const receiver = new Receiver(server);
    receiver.answer = answer;
    return receiver;
  }

  async #receive(request: IncomingMessage, response: ServerResponse, connection: number): Promise<void> {
    const body = await readBody(request);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const { method = '', url: path = '' } = request;
    const received = { method, path, headers, body, connection };
    this.requests.push(received);
    for (const wake of this.#wake.splice(0)) wake();
    this.answer(received, response);
  }

  /** Resolves once so many requests have come. */
  async received(count: number): Promise<Received[]> {
    while (this.requests.length < count) await new Promise<void>((resolve) => this.#wake.push(resolve));
    return this.requests;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
