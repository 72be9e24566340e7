import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Command } from 'commander';
import type { Event } from '../../events/event.ts';
import { systemClock } from '../../lib/clock.ts';
import { withExamples } from '../examples.ts';
import { Failure, misuse } from '../failure.ts';
import type { OpenSession, Session } from '../session.ts';
import { printable } from '../table.ts';
import { findSignatureFault } from '../verify-signature.ts';

type ListenOptions = {
  host: string;
  port: number;
  secret?: string;
  register?: true;
  publicUrl?: string;
  event?: string[];
};

type Registered = { id: string; signing_secret: string };

/** Events are far smaller. */
const bodyBytesMax = 1024 * 1024;

function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw misuse(`"${text}" is not a port.`);
}

/** `listen`: a webhook receiver to look at events with. */
export function listenCommand(program: Command, open: OpenSession): void {
  withExamples(
    program
      .command('listen')
      .description('receive webhooks here, verify their signatures and print them, until Ctrl-C'),
    ['listen --register', 'listen --port 9000 --secret whsec_…', 'listen --register --event message.failed --json'],
  )
    .option('--host <address>', 'where to listen', '127.0.0.1')
    .option('--port <port>', '0 is any free one', readPort, 0)
    .option('--secret <secret>', "the endpoint's signing secret: what it did not sign is refused")
    .option('--register', "register as an endpoint with the account's key, until the end")
    .option('--public-url <url>', 'with --register: how the service reaches this receiver (default: its own address)')
    .option('--event <type...>', 'with --register: message.sent, message.delivered, message.failed (default: all)')
    .action(async (options: ListenOptions) => {
      if (options.register === true && options.secret !== undefined) {
        throw misuse('--register brings a secret of its own: leave --secret out.');
      }
      if (options.register !== true && (options.publicUrl !== undefined || options.event !== undefined)) {
        throw misuse('--public-url and --event say how to register: give --register too.');
      }
      await listen(open(), options);
    });
}

async function listen(session: Session, options: ListenOptions): Promise<void> {
  const { output, shell } = session;
  const stopping = shell.stopOnSignal();
  // Deliveries that come while the endpoint is being registered wait for its secret.
  const { promise: secret, resolve: setSecret } = Promise.withResolvers<string | undefined>();
  const server = createServer((request, response) => {
    void receive(request, response, session, secret);
  });
  server.listen(options.port, options.host);
  await Promise.race([
    once(server, 'listening'),
    once(server, 'error').then(([error]) => {
      throw new Failure(`Cannot listen on port ${options.port}: ${(error as Error).message}`);
    }),
  ]);
  try {
    const url = urlOf(server, options);
    const registered = options.register === true ? await register(session, url, options.event) : undefined;
    setSecret(registered?.signing_secret ?? options.secret);
    const known = registered === undefined ? '' : `, registered as ${registered.id}`;
    output.remark(`Listening at ${url}${known}. Stop with Ctrl-C.`);
    if (registered === undefined && options.secret === undefined) {
      output.remark('Without --secret, signatures are not verified.');
    }
    if (!stopping.aborted) await once(stopping, 'abort');
    if (registered !== undefined) {
      await session.account.delete(`/webhooks/${registered.id}`);
      output.remark(`${registered.id} is deleted.`);
    }
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

function urlOf(server: Server, { publicUrl, host }: ListenOptions): string {
  if (publicUrl !== undefined) return publicUrl;
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}/`;
}

function register({ account }: Session, url: string, events: string[] | undefined): Promise<Registered> {
  return account.post<Registered>('/webhooks/create', { url, events, description: 'heliograph listen' });
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { output }: Session,
  knownSecret: Promise<string | undefined>,
): Promise<void> {
  try {
    const body = await readBody(request);
    const secret = await knownSecret;
    const header = request.headers['service-signature'];
    const fault =
      secret === undefined
        ? undefined
        : findSignatureFault(typeof header === 'string' ? header : undefined, {
            secret,
            body,
            nowMs: systemClock.now(),
          });
    if (fault !== undefined) {
      output.remark(`Refused a request: ${fault}.`);
      response.writeHead(400).end(`refused: ${fault}\n`);
      return;
    }
    const event = JSON.parse(body.toString('utf8')) as Event;
    output.event(event, ({ id, type, data }) => [
      `${event.created_at}  ${type}  ${id}${secret === undefined ? '' : '  (signature verified)'}`,
      `  ${data.id} to ${printable(data.to)} is ${data.status}${data.error === null ? '' : `: ${data.error.code}`}`,
    ]);
    response.writeHead(200).end();
  } catch (error) {
    output.remark(`Refused a request that is not an event: ${error instanceof Error ? error.message : String(error)}`);
    if (!response.headersSent) response.writeHead(400).end('not an event\n');
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) throw new Error(`its body is larger than ${bodyBytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
