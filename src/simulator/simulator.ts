import { once } from 'node:events';
import { systemClock } from '../lib/clock.ts';
import { createCallbackClient } from './callback-client.ts';
import { createCallbackUrls } from './callback-urls.ts';
import { createControl } from './control.ts';
import { createFaultBoard } from './faults.ts';
import { createHttpServer, type HttpLine } from './http-server.ts';
import { createJournal } from './journal.ts';
import { listen } from './listen.ts';
import { createReceipts, POSTS_MAX } from './receipts.ts';
import { createCallbackReporter } from './reporter.ts';
import { createSmsc } from './smpp/smsc.ts';
import { createThreads } from './threads.ts';
import type { Upstream } from './upstream.ts';
import { type SimulatorCredentials, simulatorCredentials, upstreams } from './upstreams/registry.ts';

export { type ProviderId, type SimulatorCredentials, simulatorCredentials } from './upstreams/registry.ts';

export type SimulatorOptions = {
  /** 0: any free port. */
  port: number;
  /** Of the SMPP message centre; 0, as without it: any free port. */
  smppPort?: number;
  host?: string;
  /** From the acceptance of a message to its last receipt. */
  deliveryDelayMs?: number;
  /** Where upstreams call back whose requests carry no URL, as a customer would set it in their dashboard. */
  callbackUrls?: { readonly africastalking?: string };
};

/** `url` + `/` + provider id is the base URL of that upstream; the control API is under `/control`. */
export type Simulator = {
  url: string;
  port: number;
  smppPort: number;
  credentials: SimulatorCredentials;
  stop(): Promise<void>;
};

/** Starts the outside world: every upstream's wire protocol, HTTP on one port and SMPP on another. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { port, smppPort = 0, host = '127.0.0.1', deliveryDelayMs = 1_000 } = options;
  const clock = systemClock;
  const journal = createJournal();
  const faults = createFaultBoard();
  const threads = createThreads(clock);
  const client = createCallbackClient(POSTS_MAX);
  const receipts = createReceipts({ clock, deliveryDelayMs });
  const http: [provider: string, Upstream][] = Object.entries(upstreams);
  const callbackUrls = createCallbackUrls(
    http.filter(([, upstream]) => upstream.hasAccountCallback).map(([provider]) => provider),
    options.callbackUrls ?? {},
  );
  const carrier = { clock, journal, faults, threads, receipts, deliveryDelayMs };
  const smsc = createSmsc(carrier);
  const reset = () => {
    for (const part of [journal, faults, threads, receipts, callbackUrls, smsc]) part.clear();
  };
  const lines = new Map<string, HttpLine>();
  for (const [provider, upstream] of http) {
    const reporter = createCallbackReporter({ provider, upstream, client, callbackUrls });
    lines.set(provider, { provider, upstream, reporter });
  }
  const control = createControl({ providers: [...lines.keys(), 'smpp'], journal, faults, callbackUrls, reset });

  const server = createHttpServer({ carrier, control, lines });

  async function stop(): Promise<void> {
    receipts.clear();
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await Promise.all([closed, smsc.stop(), client.stop()]);
  }
  let stopping: Promise<void> | undefined;

  try {
    const httpPort = await listen(server, port, host);
    return {
      url: `http://${host}:${httpPort}`,
      port: httpPort,
      smppPort: await smsc.listen(smppPort, host),
      credentials: simulatorCredentials,
      stop: () => (stopping ??= stop()),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
