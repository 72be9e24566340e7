import {
  access,
  chmod,
  constants,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rmdir,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { errorCode, run, type Account } from './embedded-process.ts';

/**
 * Where everything of the embedded server is kept (`<dataDir>/postgres`, or what it links to), and the account PostgreSQL runs under.
 * The account can enter `dir` but read nothing of ours in it: we alone own what is not the cluster.
 */
export type Home = { dir: string; dataDir: string; account: Account };

/** Where root keeps a cluster whose data folder is closed to other accounts, best first. */
const shelters = ['/var/lib/heliograph', '/var/tmp/heliograph'];

/** Finds the home of a data folder, or makes it; every way in which it cannot be used is an error that names the folder and a remedy. */
export async function openHome(dataDir: string): Promise<Home> {
  await makeDataDir(dataDir);
  const real = await realpath(dataDir);
  const place = path.join(real, 'postgres');
  const asRoot = process.getuid?.() === 0;
  const existing = await statOf(place, lstat);
  if (!existing) {
    const account = asRoot ? await nobody() : undefined;
    await makeHome(real, place, account);
  }
  const dir = await realpath(place).catch((error: unknown) => {
    throw new Error(
      `"${place}" is a link to the database's folder, which is gone: restore that folder, or delete the link to start with an empty database`,
      { cause: error },
    );
  });
  await assertUsable(dir);
  const clusterOwner = await statOf(path.join(dir, 'cluster'), stat);
  if (!asRoot) {
    if (clusterOwner && clusterOwner.uid !== process.getuid?.()) {
      throw new Error(unusable(path.join(dir, 'cluster'), 'EACCES', clusterOwner.uid));
    }
    return { dir, dataDir: real, account: undefined };
  }
  const account =
    clusterOwner && clusterOwner.uid !== 0 ? { uid: clusterOwner.uid, gid: clusterOwner.gid } : await nobody();
  if (!(await canEnter(account, dir))) {
    throw new Error(
      `PostgreSQL does not run as root, and user id ${account.uid}, which it runs as, cannot enter "${dir}": ` +
        'let others pass through the folders on the way ("chmod o+x"), or start Heliograph as the user who owns the data',
    );
  }
  return { dir, dataDir: real, account };
}

async function makeDataDir(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true });
  } catch (error) {
    throw new Error(
      `cannot create the data folder "${dataDir}" (${errorCode(error)}): create it for the user Heliograph runs as, or choose another one with DATA_DIR`,
      { cause: error },
    );
  }
  await assertUsable(dataDir);
}

async function assertUsable(dir: string): Promise<void> {
  try {
    // oxlint-disable-next-line no-bitwise -- the access modes are bits
    await access(dir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(unusable(dir, errorCode(error), (await statOf(dir, stat))?.uid), { cause: error });
  }
}

function unusable(dir: string, code: string | undefined, owner: number | undefined): string {
  const us = process.getuid?.();
  return (
    `cannot read and write "${dir}" (${code}): it belongs to user id ${owner ?? 'unknown'}, and Heliograph runs as user id ${us}. ` +
    `Start it as the owner, hand the folder over ("sudo chown -R ${us} ${dir}"), or choose another one with DATA_DIR`
  );
}

/**
 * A new home is a folder of the data folder. Where the account PostgreSQL will run under cannot get there (a checkout under `/root`, a
 * data folder of mode 0700), it is a folder in a shelter and the data folder links to it, so the link is what the next start follows.
 */
async function makeHome(dataDir: string, place: string, account: Account): Promise<void> {
  try {
    if (!account || (await canEnter(account, dataDir))) {
      await mkdir(place);
      await chmod(place, account ? 0o711 : 0o700);
      return;
    }
    const sheltered = await makeSheltered(dataDir, account);
    try {
      await symlink(sheltered, place);
    } catch (error) {
      await rmdir(sheltered);
      throw error;
    }
  } catch (error) {
    // Another process made it at the same moment: the lock decides between the two.
    if (errorCode(error) !== 'EEXIST') {
      throw error;
    }
  }
}

async function makeSheltered(dataDir: string, account: Account): Promise<string> {
  const reasons: string[] = [];
  for (const shelter of shelters) {
    try {
      await mkdir(shelter, { recursive: true, mode: 0o711 });
      const { uid, mode } = await lstat(shelter);
      // oxlint-disable-next-line no-bitwise -- a mode is bits: not writable by anyone else
      if (uid !== 0 || (mode & 0o022) !== 0 || !(await canEnter(account, shelter))) {
        throw new Error('it must belong to root, be writable by root alone, and let others pass (mode 0711)');
      }
      const dir = await mkdtemp(path.join(shelter, `${path.basename(dataDir)}-`));
      await chmod(dir, 0o711);
      await writeFile(path.join(dir, 'README'), `The PostgreSQL cluster of the Heliograph data folder ${dataDir}\n`);
      return dir;
    } catch (error) {
      reasons.push(`"${shelter}": ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new Error(
    `PostgreSQL does not run as root, the user it runs as cannot enter "${dataDir}", and no other place can be used (${reasons.join('; ')}): ` +
      'choose a DATA_DIR that others can pass through, start Heliograph as an ordinary user, or give it a server with DATABASE_URL',
  );
}

/** Asked of the kernel, by trying it: access lists and security modules have a say that mode bits do not show. */
async function canEnter(account: Account, dir: string): Promise<boolean> {
  return (await run('/bin/sh', ['-c', 'cd -- "$1"', 'sh', dir], account, 5_000)).ok;
}

async function nobody(): Promise<{ uid: number; gid: number }> {
  const users = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(users) ?? [];
  if (uid === undefined || gid === undefined) {
    throw new Error(
      'PostgreSQL does not run as root, and this system has no user "nobody": start Heliograph as an ordinary user',
    );
  }
  return { uid: Number(uid), gid: Number(gid) };
}

async function statOf(
  file: string,
  look: typeof stat | typeof lstat,
): Promise<{ uid: number; gid: number } | undefined> {
  return look(file).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') {
      return undefined;
    }
    throw error;
  });
}
