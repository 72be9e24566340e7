import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { listMessages } from './control-client.ts';
import { connectSmpp } from './smpp-client.ts';
import { twilio } from './wires/twilio.ts';

const main = fileURLToPath(new URL('../../src/simulator/main.ts', import.meta.url));

function run(...args: string[]) {
  return spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

it('runs as a process of its own: prints its addresses, serves, and exits with 0 on SIGTERM', async () => {
  const child = run('--port', '0');
  try {
    const [line] = await once(child.stdout, 'data');
    const { url, smppPort }: { url: string; smppPort: number } = JSON.parse(String(line));
    const client = await connectSmpp(smppPort);
    expect((await client.bind()).command_status).toBe(0);
    // A request held open, and a receipt to come, must not keep it from exiting.
    const held = expect(twilio.send(url, { to: '+99901007201', text: 'Hello' })).rejects.toThrow();
    await expect.poll(async () => (await listMessages(url, {})).total).toBe(1);
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    await Promise.all([held, client.closed]);
  } finally {
    child.kill('SIGKILL');
  }
});

it.each(['--port=abc', '--port=-1', '--port=70000', '--smpp-port=abc'])('refuses %s', async (argument) => {
  const child = run(argument);
  const [code] = await once(child, 'exit');
  expect(code).toBe(1);
});
