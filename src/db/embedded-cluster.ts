import { randomBytes } from 'node:crypto';
import { chown, mkdtemp, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Binaries } from './embedded-binaries.ts';
import type { Home } from './embedded-home.ts';
import { errorCode, run } from './embedded-process.ts';

/** `dir` is the PostgreSQL data directory; `password` that of `user`, its only role. */
export type Cluster = { dir: string; user: string; password: string };

const user = 'heliograph';
const draftPrefix = 'initdb-';

/** The cluster of a home, made first if it has none. */
export async function openCluster(home: Home, binaries: Binaries, log: (line: string) => void): Promise<Cluster> {
  const dir = path.join(home.dir, 'cluster');
  await removeDrafts(home);
  const version = await readIfThere(path.join(dir, 'PG_VERSION'));
  if (version === undefined) {
    log(`making an empty database in ${dir}`);
    await createCluster(home, binaries, dir);
  } else if (version.trim() !== binaries.majorVersion) {
    throw new Error(
      `"${dir}" was written by PostgreSQL ${version.trim()}, and this Heliograph comes with PostgreSQL ${binaries.majorVersion}: ` +
        'start the Heliograph that wrote it, save the data with pg_dump, and load that into an empty DATA_DIR',
    );
  }
  const password = await readIfThere(passwordFile(home));
  if (password === undefined) {
    throw new Error(
      `"${passwordFile(home)}" is missing, and without it the database in "${dir}" cannot be opened: restore it from a backup, ` +
        'or move the database away to start with an empty one',
    );
  }
  return { dir, user, password };
}

/**
 * A cluster appears under its name by one rename, when it is complete and its password is on the disk. What a crash leaves behind is a
 * draft, which no start ever uses.
 */
async function createCluster(home: Home, binaries: Binaries, dir: string): Promise<void> {
  const password = randomBytes(24).toString('base64url');
  const { account } = home;
  const draft = await mkdtemp(path.join(home.dir, draftPrefix));
  const draftPassword = path.join(draft, 'password');
  for (const file of [passwordFile(home), draftPassword]) {
    await writeFile(file, password, { mode: 0o600, flush: true });
  }
  if (account) {
    await chown(draft, account.uid, account.gid);
    await chown(draftPassword, account.uid, account.gid);
  }
  const draftCluster = path.join(draft, 'cluster');
  const access = ['--username', user, '--pwfile', draftPassword, '--auth', 'scram-sha-256'];
  // Text sorts by code point, the same on every system, whatever its C library: no index breaks by moving the data.
  const text = ['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'];
  const { ok, output } = await run(binaries.initdb, ['--pgdata', draftCluster, ...access, ...text], account, 120_000);
  if (!ok) {
    throw new Error(
      `could not make a database in "${draftCluster}": ${output}. If that cannot be mended, set DATABASE_URL to a server of your own`,
    );
  }
  await rename(draftCluster, dir);
  await syncDir(home.dir);
  await removeDrafts(home);
}

function passwordFile(home: Home): string {
  return path.join(home.dir, 'password');
}

/** Best effort: an initdb that outlived its Heliograph may still be writing into its draft. A later start gets it. */
async function removeDrafts(home: Home): Promise<void> {
  const drafts = (await readdir(home.dir)).filter((name) => name.startsWith(draftPrefix));
  await Promise.all(
    drafts.map((name) => rm(path.join(home.dir, name), { recursive: true, force: true }).catch(() => undefined)),
  );
}

async function syncDir(dir: string): Promise<void> {
  const handle = await open(dir);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') {
      return undefined;
    }
    throw error;
  });
}
