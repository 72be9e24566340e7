import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { checkout } from '../helpers/embedded.ts';
import { version } from '../../src/version.ts';
import { withFolder } from './cli.ts';

const command = path.join(checkout, 'scripts/heliograph.mjs');

/** Without what npm scripts put first: the Node.js of the machine, whichever that is. */
const systemPath = (process.env['PATH'] ?? '')
  .split(path.delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(path.delimiter);

function run(program: string, args: string[], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: checkout,
    env: { PATH: systemPath, DATA_DIR: path.join(checkout, 'no-such-folder'), ...env },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

const hasNode = run('node', ['--version']).status === 0;
const hasNpx = hasNode && run('npx', ['--version']).status === 0;

test('the command is what package.json names, and may be run', () => {
  const { bin } = JSON.parse(readFileSync(path.join(checkout, 'package.json'), 'utf8')) as { bin: object };
  expect(bin).toEqual({ heliograph: 'scripts/heliograph.mjs' });
  expect(() => accessSync(command, constants.X_OK)).not.toThrow();
});

test.runIf(hasNode)('runs with whatever Node.js the machine has, and ends as the program does', () => {
  expect(run(command, ['--version'])).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
  expect(run(command, ['account', 'list'])).toMatchObject({
    status: 2,
    stdout: '',
    stderr: expect.stringContaining('This needs the operator token'),
  });
});

test.runIf(hasNpx)('is found by npx in a checkout, without a registry', async () => {
  await withFolder(async (folder) => {
    const env = { npm_config_cache: folder, npm_config_offline: 'true', npm_config_update_notifier: 'false' };
    expect(run('npx', ['heliograph', '--version'], env)).toMatchObject({ status: 0, stdout: `${version}\n` });
  });
});

test('says what to do where the packages are not installed', async () => {
  await withFolder(async (folder) => {
    mkdirSync(path.join(folder, 'scripts'));
    const copy = path.join(folder, 'scripts/heliograph.mjs');
    copyFileSync(command, copy);
    const { status, stderr } = run(process.execPath, [copy, '--version']);
    expect([status, stderr]).toEqual([1, expect.stringContaining('Run "npm start" once')]);
  });
});

test('hands on the signal that ends it, so that what it began is undone', async () => {
  const child = spawn(process.execPath, [command, 'listen'], {
    env: { PATH: systemPath, DATA_DIR: path.join(checkout, 'no-such-folder') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for await (const line of createInterface({ input: child.stderr })) {
    if (line.startsWith('Listening at')) break;
  }
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});
