import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import { cleanUp, isAlive, makeFolder, postmasterPid } from '../helpers/embedded.ts';
import { endProcesses, ServiceProcess } from '../helpers/process.ts';
import { until } from '../helpers/until.ts';

afterEach(endProcesses);
afterAll(() => cleanUp());

const hasNpm = spawnSync('npm', ['--version']).status === 0;

it.skipIf(!hasNpm)(
  'npm start serves, and stops in order when its group is interrupted, as Ctrl-C does',
  { timeout: 120_000 },
  async () => {
    const dataDir = path.join(await makeFolder(undefined), 'data');
    const service = await ServiceProcess.start(dataDir, { command: ['/bin/sh', '-c', 'npm start'] });
    expect((await service.api.send({ to: '+14155550123' })).status).toBe(201);
    const postmaster = await postmasterPid(dataDir);
    process.kill(-(service.child.pid ?? 0), 'SIGINT');
    await until('npm has ended', () => service.child.exitCode !== null || service.child.signalCode !== null, 15_000);
    await until('the database has ended', () => !isAlive(postmaster), 15_000);
    await expect(fetch(service.quickstart.base_url)).rejects.toThrow();
  },
);
