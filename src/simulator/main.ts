import process from 'node:process';
import { parseArgs } from 'node:util';
import { startSimulator } from './simulator.ts';

// The simulator as a process of its own: `node src/simulator/main.ts --port 8081 --smpp-port 2775`, or forked by the service.
const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, 'smpp-port': { type: 'string', default: '0' } },
});

function parsePort(name: string, text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new Error(`--${name} must be a number from 0 to 65535, not ${text}.`);
  return port;
}

try {
  const simulator = await startSimulator({
    port: parsePort('port', values.port),
    smppPort: parsePort('smpp-port', values['smpp-port']),
  });
  const address = { url: simulator.url, smppPort: simulator.smppPort };
  if (process.send === undefined) {
    process.stdout.write(`${JSON.stringify(address)}\n`);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void simulator.stop());
  } else {
    // A signal to the whole group is for our parent: it finishes what is in flight, for which it needs us, and then lets go.
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
    process.once('disconnect', () => void simulator.stop().then(() => process.exit(0)));
    process.send(address);
  }
} catch (error) {
  process.stderr.write(
    `The carrier simulator cannot start: ${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exit(1);
}
