import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';

export type Received = { path: string; headers: IncomingHttpHeaders; body: string };

export type Receiver = {
  url: string;
  /** What came, in order. */
  all: readonly Received[];
  /** What came to one path, in order. */
  at(path: string): Received[];
  stop(): Promise<void>;
};

/** A loopback receiver of callbacks. `answer` gives the status for each; 0 closes the connection without one. */
export async function startReceiver(
  answer: (received: Received) => number | Promise<number> = () => 204,
): Promise<Receiver> {
  const all: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const received = { path: request.url ?? '', headers: request.headers, body: String(Buffer.concat(chunks)) };
      all.push(received);
      void respond(response, received);
    });
  });

  async function respond(response: ServerResponse, received: Received): Promise<void> {
    const status = await answer(received);
    if (status === 0) response.destroy();
    else response.writeHead(status).end();
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The receiver has no port.');

  return {
    url: `http://127.0.0.1:${address.port}`,
    all,
    at: (path) => all.filter((received) => received.path === path),
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
