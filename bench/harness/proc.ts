import { readFileSync } from 'node:fs';

/** USER_HZ: the unit of time in /proc, the same on every Linux. */
const ticksPerSecond = 100;

/** Empty where the process has ended: its figures are 0 then, and whoever waits for it says so. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** The fields after the name, which may hold anything: state, ppid, … (proc_pid_stat(5)). */
function statOf(pid: number): string[] {
  const text = read(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function ticks(fields: readonly string[], from: number, to: number): number {
  return fields.slice(from, to).reduce((sum, field) => sum + Number(field), 0);
}

/** Processor time a process has used, in all its threads. */
export function cpuSecondsOf(pid: number): number {
  return ticks(statOf(pid), 11, 13) / ticksPerSecond;
}

/** The same of a process and its children, those that have ended included: PostgreSQL is one process per connection. */
export function familyCpuSecondsOf(pid: number): number {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  const living = children.reduce((sum, child) => sum + cpuSecondsOf(child), 0);
  return ticks(statOf(pid), 11, 15) / ticksPerSecond + living;
}

/** Processor time the whole machine has used, what its host took away included. */
export function machineCpuSeconds(): number {
  const [line = ''] = read('/proc/stat').split('\n', 1);
  const [user, nice, system, , , ...rest] = line.trim().split(/\s+/).slice(1, 9);
  return ticks([user, nice, system, ...rest].map(String), 0, 7) / ticksPerSecond;
}

export function parentOf(pid: number): number {
  return Number(statOf(pid)[1]);
}

/** Resident memory: now, and the most it ever was. */
export function residentBytesOf(pid: number): { now: number; peak: number } {
  const status = read(`/proc/${pid}/status`);
  const bytes = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024;
  return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
}
