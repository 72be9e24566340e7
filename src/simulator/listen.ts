import { once } from 'node:events';
import type { Server } from 'node:net';

/** Returns the port, which the system has chosen where 0 was asked for. */
export async function listen(server: Server, port: number, host: string): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}
