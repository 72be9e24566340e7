import { once } from 'node:events';
import { systemClock } from '../lib/clock.ts';
import { createCallbackClient } from './callback-client.ts';
import { createControl } from './control.ts';
import { createFaultBoard } from './faults.ts';
import { createHttpServer } from './http-server.ts';
import { createJournal } from './journal.ts';
import { createReceipts, POSTS_MAX } from './receipts.ts';
import { createThreads } from './threads.ts';
import { type SimulatorCredentials, simulatorCredentials, upstreams } from './upstreams/registry.ts';

export { type ProviderId, type SimulatorCredentials, simulatorCredentials } from './upstreams/registry.ts';

export type SimulatorOptions = {
  /** 0: any free port. */
  port: number;
  host?: string;
  /** From the acceptance of a message to its last receipt. */
  deliveryDelayMs?: number;
};

/** `url` + `/` + provider id is the base URL of that upstream; the control API is under `/control`. */
export type Simulator = {
  url: string;
  port: number;
  credentials: SimulatorCredentials;
  stop(): Promise<void>;
};

/** Starts the outside world: every upstream's wire protocol on one port. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { port, host = '127.0.0.1', deliveryDelayMs = 1_000 } = options;
  const clock = systemClock;
  const journal = createJournal();
  const faults = createFaultBoard();
  const threads = createThreads(clock);
  const client = createCallbackClient(POSTS_MAX);
  const receipts = createReceipts({ clock, client, deliveryDelayMs });
  const carrier = { clock, journal, faults, threads, receipts, deliveryDelayMs };
  const reset = () => {
    for (const part of [journal, faults, threads, receipts]) part.clear();
  };
  const control = createControl({ providers: Object.keys(upstreams), journal, faults, reset });

  const server = createHttpServer({ carrier, control, upstreams });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  const boundPort = typeof address === 'object' && address !== null ? address.port : port;

  async function stop(): Promise<void> {
    receipts.clear();
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await Promise.all([closed, client.stop()]);
  }
  let stopping: Promise<void> | undefined;

  return {
    url: `http://${host}:${boundPort}`,
    port: boundPort,
    credentials: simulatorCredentials,
    stop: () => (stopping ??= stop()),
  };
}
