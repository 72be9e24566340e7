import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { startSimulatorChild } from '../../src/simulator/child.ts';
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

it('forked by a service, it outlives a signal to the whole group and ends when its parent has gone', async () => {
  const child = fork(main, ['--port', '0'], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  try {
    const [{ url }] = (await once(child, 'message')) as [{ url: string }];
    child.kill('SIGINT');
    child.kill('SIGTERM');
    expect((await listMessages(url, {})).total).toBe(0);
    child.disconnect();
    expect(await once(child, 'exit')).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
  }
});

it('says why it cannot start', async () => {
  const first = await startSimulatorChild(0);
  try {
    const { port } = new URL(first.url);
    const child = run('--port', port);
    const [[said], [code]] = await Promise.all([once(child.stderr, 'data'), once(child, 'exit')]);
    expect(String(said)).toContain(port);
    expect(code).toBe(1);
    await expect(startSimulatorChild(Number(port))).rejects.toThrow('choose another with SIMULATOR_PORT');
  } finally {
    await first.stop();
  }
});

it('that ends on its own is missed', async () => {
  const child = await startSimulatorChild(0);
  process.kill(child.pid, 'SIGKILL');
  await expect(child.lost).rejects.toThrow('the carrier simulator ended on its own (SIGKILL)');
  await child.stop();
});
