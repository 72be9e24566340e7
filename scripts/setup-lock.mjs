import fs from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { print, SetupError } from './setup-report.mjs';

const beatMs = 1_000;
const staleMs = 15_000;
const waitMs = 20 * 60_000;

/**
 * Two set-ups of one checkout would delete packages under each other. The holder touches the lock every second, so one that was killed is
 * known by its age.
 */
export async function holdingLock(lockDir, work) {
  const deadline = Date.now() + waitMs;
  for (let waited = false; !tryLock(lockDir); waited = true) {
    if (!waited) {
      print('another set-up of this folder is running; waiting for it');
    }
    if (Date.now() > deadline) {
      throw new SetupError(`Another set-up has been running for too long. End it, delete ${lockDir}, then run again.`);
    }
    await sleep(500);
  }
  const beat = setInterval(() => fs.utimes(lockDir, new Date(), new Date(), () => undefined), beatMs);
  try {
    await work();
  } finally {
    clearInterval(beat);
    fs.rmSync(lockDir, { recursive: true, force: true });
  }
}

function tryLock(lockDir) {
  try {
    fs.mkdirSync(lockDir);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') {
      throw error;
    }
  }
  if (isStale(lockDir)) {
    // Renaming takes it for one of those who wait; should that be a new lock by now, it goes back.
    const taken = `${lockDir}.${process.pid}`;
    renameIfThere(lockDir, taken);
    if (isStale(taken)) {
      fs.rmSync(taken, { recursive: true, force: true });
    } else {
      renameIfThere(taken, lockDir);
    }
  }
  return false;
}

function isStale(dir) {
  const stat = fs.statSync(dir, { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs > staleMs;
}

function renameIfThere(from, to) {
  try {
    fs.renameSync(from, to);
  } catch (error) {
    if (error.code !== 'ENOENT') {
      throw error;
    }
  }
}
