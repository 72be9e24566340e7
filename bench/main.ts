import { parseArgs } from 'node:util';
import process from 'node:process';
import type { Bench } from './bench.ts';
import { adapters } from './adapters.ts';
import { bulk } from './bulk.ts';
import { failover } from './failover.ts';
import { endChildren } from './harness/child.ts';
import { describeMachine, print } from './harness/report.ts';
import { lists } from './lists.ts';
import { memory } from './memory.ts';
import { send } from './send.ts';
import { start } from './start.ts';
import { webhooks } from './webhooks.ts';

const benches: readonly Bench[] = [send, bulk, webhooks, memory, start, lists, failover, adapters];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    messages: { type: 'string', default: '5000000' },
    profile: { type: 'boolean', default: false },
  },
});

// Interrupted: whoever waits for a child gives up, and takes down what it has set up.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, endChildren);

const unknown = positionals.filter((name) => !benches.some((bench) => bench.name === name));
if (unknown.length > 0) {
  print(`There is no bench ${unknown.join(', ')}; there are ${benches.map(({ name }) => name).join(', ')}.`);
  process.exit(2);
}
const chosen = benches.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
for (const bench of chosen) {
  print('', `${bench.name}: ${bench.measures}`, `  ${describeMachine()}`);
  await bench.run({
    runs: Number(values.runs),
    seconds: Number(values.seconds),
    messages: Number(values.messages),
    profile: values.profile,
  });
}
