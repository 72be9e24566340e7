import { randomUUID } from 'node:crypto';
import { chmod, link, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { birthOf, errorCode } from './embedded-process.ts';

export type Lock = { release(): Promise<void> };

/**
 * Makes this process the only one to use `dir`; another one that is alive and holds it is an error.
 *
 * Holding it is owning the highest-numbered `lock.<n>`. A holder that died is succeeded by creating `lock.<n + 1>`, which the file system
 * lets exactly one process do: nobody ever deletes what might by then be the file of someone else. So numbers only grow, and a release
 * empties the file and leaves it there.
 */
export async function takeLock(dir: string, inUse: (pid: number) => string): Promise<Lock> {
  const own = `${process.pid} ${await birthOf(process.pid)}`;
  for (;;) {
    const latest = Math.max(0, ...(await lockNumbers(dir)));
    const holder = await readHolder(dir, latest);
    if (holder && (await birthOf(holder.pid)) === holder.birth) {
      throw new Error(inUse(holder.pid));
    }
    const file = path.join(dir, `lock.${latest + 1}`);
    if (!(await createWhole(file, own))) {
      continue;
    }
    const numbers = await lockNumbers(dir);
    if (numbers.some((number) => number > latest + 1)) {
      await rm(file, { force: true });
      continue;
    }
    const older = numbers.filter((number) => number <= latest);
    await Promise.all(older.map((number) => rm(path.join(dir, `lock.${number}`), { force: true })));
    return { release: () => truncate(file) };
  }
}

async function lockNumbers(dir: string): Promise<number[]> {
  return (await readdir(dir)).flatMap((name) => (/^lock\.\d+$/.test(name) ? [Number(name.slice(5))] : []));
}

/** `undefined` when the lock was released, is gone because a later one replaced it, or lost its content in a power cut. */
async function readHolder(dir: string, number: number): Promise<{ pid: number; birth: string } | undefined> {
  const content = await readFile(path.join(dir, `lock.${number}`), 'utf8').catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') {
      throw error;
    }
    return '';
  });
  const [, pid, birth] = /^(\d+) (.+)$/.exec(content) ?? [];
  return pid === undefined || birth === undefined ? undefined : { pid: Number(pid), birth };
}

/** Creates `file`, content and all, in one step; false when there is one already. */
async function createWhole(file: string, content: string): Promise<boolean> {
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, content);
    // Whoever comes to this folder next, under whatever account, must be able to tell that we are alive.
    await chmod(draft, 0o644);
    await link(draft, file);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') {
      return false;
    }
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}
