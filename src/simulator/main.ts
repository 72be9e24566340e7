import { parseArgs } from 'node:util';
import { startSimulator } from './simulator.ts';

// The simulator as a process of its own: `node src/simulator/main.ts --port 8081 --smpp-port 2775`.
const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, 'smpp-port': { type: 'string', default: '0' } },
});
const simulator = await startSimulator({
  port: parsePort('port', values.port),
  smppPort: parsePort('smpp-port', values['smpp-port']),
});
process.stdout.write(`${JSON.stringify({ url: simulator.url, smppPort: simulator.smppPort })}\n`);

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => void simulator.stop());
}

function parsePort(name: string, text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new Error(`--${name} must be a number from 0 to 65535, not ${text}.`);
  return port;
}
