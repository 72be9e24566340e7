import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { systemClock } from '../../src/lib/clock.ts';
import { latencyOf } from '../quantile.ts';

/** What a receiver tells of the deliveries since it was last asked. */
export type Received = {
  deliveries: number;
  /** From the first to the last of them. */
  elapsedMs: number;
  /** From an event to its delivery. */
  lagMs: { p50: number; p99: number; max: number };
};

// A receiver of webhooks, as a process of its own: takes everything, at once, and remembers how late it came.
let lagsMs: number[] = [];
let firstMs = 0;
let lastMs = 0;

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    lastMs = systemClock.now();
    if (lagsMs.length === 0) firstMs = lastMs;
    // The event's own time comes first in its body; its message has one too.
    const [, createdAt = ''] = /"created_at":"([^"]+)"/.exec(Buffer.concat(chunks).toString('latin1')) ?? [];
    lagsMs.push(lastMs - Date.parse(createdAt));
    response.writeHead(200, { 'Content-Length': 0 }).end();
  });
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` });
});

process.on('message', (question: 'count' | 'report') => {
  const received: Received = {
    deliveries: lagsMs.length,
    elapsedMs: lastMs - firstMs,
    lagMs: question === 'report' ? latencyOf(lagsMs) : { p50: 0, p99: 0, max: 0 },
  };
  if (question === 'report') lagsMs = [];
  process.send?.(received);
});
process.on('disconnect', () => process.exit(0));
