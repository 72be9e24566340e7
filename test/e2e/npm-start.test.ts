import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { cleanUp, isAlive, makeFolder, postmasterPid } from '../helpers/embedded.ts';
import { endProcesses, ServiceProcess } from '../helpers/process.ts';
import { until } from '../helpers/until.ts';

afterEach(endProcesses);
afterAll(() => cleanUp());

const hasNpm = spawnSync('npm', ['--version']).status === 0;

describe.skipIf(!hasNpm)('npm start', { timeout: 120_000 }, () => {
  it.each([
    ['its group is interrupted, as Ctrl-C does', (npm: number) => process.kill(-npm, 'SIGINT')],
    ['its terminal is closed', (npm: number) => process.kill(-npm, 'SIGHUP')],
    ['npm alone is asked to end', (npm: number) => process.kill(npm, 'SIGTERM')],
  ])('serves, and stops in order when %s', async (_when, stop) => {
    const dataDir = path.join(await makeFolder(undefined), 'data');
    const service = await ServiceProcess.start(dataDir, { command: ['npm', 'start'] });
    const postmaster = await postmasterPid(dataDir);
    // Its provider answers after 5 s.
    const sending = service.api.send({ to: '+999010140001' });
    await until(
      'a provider is asked',
      async () => (await service.api.list({ status: 'pending' })).pagination.total === 1,
    );
    stop(service.child.pid ?? 0);
    expect((await sending).data.status).toBe('sent');
    await until('npm has ended', () => service.child.exitCode !== null || service.child.signalCode !== null, 15_000);
    await until('the database has ended', () => !isAlive(postmaster), 15_000);
    await expect(fetch(service.quickstart.base_url)).rejects.toThrow();
  });
});
