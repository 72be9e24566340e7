import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { listMessages } from './control-client.ts';
import { twilio } from './wires/twilio.ts';

const main = fileURLToPath(new URL('../../src/simulator/main.ts', import.meta.url));

function run(...args: string[]) {
  return spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

it('runs as a process of its own: prints its URL, serves, and exits with 0 on SIGTERM', async () => {
  const child = run('--port', '0');
  try {
    const [line] = await once(child.stdout, 'data');
    const { url }: { url: string } = JSON.parse(String(line));
    // A request held open, and a receipt to come, must not keep it from exiting.
    const held = expect(twilio.send(url, { to: '+99901007201', text: 'Hello' })).rejects.toThrow();
    await expect.poll(async () => (await listMessages(url, {})).total).toBe(1);
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    await held;
  } finally {
    child.kill('SIGKILL');
  }
});

it.each(['abc', '-1', '70000'])('refuses --port=%s', async (port) => {
  const child = run(`--port=${port}`);
  const [code] = await once(child, 'exit');
  expect(code).toBe(1);
});
