import { machineCpuSeconds, residentBytesOf } from './proc.ts';

/** How a process is called in the figures, and how its processor time is read. */
export type Metered = { name: string; cpuSeconds: () => number };

/** What was used between the start of a meter and its end. */
export type Usage = {
  seconds: number;
  /** Processors each kept busy, on average; `others` is all that is not ours, and what the machine's host took away. */
  cores: Record<string, number>;
  residentPeakBytes: number;
};

const sampleEveryMs = 50;

/** Meters processes, and the memory of one of them. */
export function startMeter(processes: readonly Metered[], memoryOf: number): { stop(): Usage } {
  const startedMs = performance.now();
  const machineBefore = machineCpuSeconds();
  const before = processes.map(({ cpuSeconds }) => cpuSeconds());
  let residentPeakBytes = 0;
  const sample = (): void => {
    residentPeakBytes = Math.max(residentPeakBytes, residentBytesOf(memoryOf).now);
  };
  sample();
  const timer = setInterval(sample, sampleEveryMs);
  return {
    stop() {
      clearInterval(timer);
      sample();
      const seconds = (performance.now() - startedMs) / 1_000;
      const used = processes.map(({ cpuSeconds }, index) => cpuSeconds() - (before[index] ?? 0));
      const ours = used.reduce((sum, value) => sum + value, 0);
      const cores = Object.fromEntries(processes.map(({ name }, index) => [name, (used[index] ?? 0) / seconds]));
      cores['others'] = Math.max(0, machineCpuSeconds() - machineBefore - ours) / seconds;
      return { seconds, cores, residentPeakBytes };
    },
  };
}
