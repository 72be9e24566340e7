import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** The way to a database, which a test can cut and mend. */
export class Cable {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;
  #cuts = 0;

  private constructor(server: Server, databaseUrl: string) {
    this.#server = server;
    const target = new URL(databaseUrl);
    const near = new URL(databaseUrl);
    near.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.url = near.href;
    server.on('connection', (socket) => {
      const host = decodeURIComponent(target.hostname);
      const port = Number(target.port || 5_432);
      const far = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
      for (const [end, other] of [
        [socket, far],
        [far, socket],
      ] as const) {
        this.#sockets.add(end.on('error', () => undefined).on('close', () => other.destroy()));
        end.pipe(other);
      }
      if (this.#isCut) this.#refuse(socket);
    });
  }

  static async to(databaseUrl: string): Promise<Cable> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Cable(server, databaseUrl);
  }

  /** Connections that were tried in vain. */
  get refused(): number {
    return this.#cuts;
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#isCut = false;
  }

  async stop(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #refuse(socket: Socket): void {
    this.#cuts += 1;
    socket.destroy();
  }
}
