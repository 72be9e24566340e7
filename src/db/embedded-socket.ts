import { chmod, chown, mkdir, mkdtemp, readlink, rm, rmdir, symlink } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import type { Home } from './embedded-home.ts';

/** Part of the socket's name; no TCP port is ever opened. */
export const socketPort = 5432;

const socketName = `.s.PGSQL.${socketPort}`;

/** Of `sun_path`: 104 on macOS, 108 on Linux, each with a final NUL. */
const socketPathBytesMax = 100;

/**
 * A new folder for the server's socket, which only the account may enter, whatever an earlier run left: `socket` in the home or, where
 * that makes too long a path for a socket, one under `/tmp` that `socket` links to.
 */
export async function makeSocketDir(home: Home): Promise<string> {
  const place = socketPlace(home);
  await removeSocketDir(home);
  let dir = place;
  if (Buffer.byteLength(path.join(place, socketName)) <= socketPathBytesMax) {
    await mkdir(place);
    await chmod(place, 0o700);
  } else {
    dir = await mkdtemp('/tmp/heliograph-');
    await symlink(dir, place);
  }
  if (home.account) {
    await chown(dir, home.account.uid, home.account.gid);
  }
  return dir;
}

export async function removeSocketDir(home: Home): Promise<void> {
  const place = socketPlace(home);
  const elsewhere = await readlink(place).catch(() => undefined);
  if (elsewhere !== undefined) {
    // Only what PostgreSQL puts there, and never through a link: `/tmp` is everyone's.
    await rm(path.join(elsewhere, socketName), { force: true });
    await rm(path.join(elsewhere, `${socketName}.lock`), { force: true });
    await rmdir(elsewhere).catch(() => undefined);
  }
  await rm(place, { recursive: true, force: true });
}

/**
 * Refuses a cluster whose socket answers although no process here serves it: it is in use from another container, where neither process
 * ids nor PostgreSQL's own lock reach. Two servers on one cluster destroy it.
 */
export async function assertUnanswered(home: Home): Promise<void> {
  const socket = path.join(socketPlace(home), socketName);
  const answered = await new Promise<boolean>((resolve) => {
    const connection = net.connect(socket, () => resolve(true)).on('error', () => resolve(false));
    connection.once('connect', () => connection.destroy());
  });
  if (answered) {
    throw new Error(
      `a PostgreSQL outside of this container or machine answers on "${socket}": stop the Heliograph that uses the same data folder, ` +
        'or choose another one with DATA_DIR',
    );
  }
}

function socketPlace(home: Home): string {
  return path.join(home.dir, 'socket');
}
