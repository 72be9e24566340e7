import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

export type HotFunction = { name: string; place: string; share: number };

/** What `--cpu-prof` writes (https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile). */
type CpuProfile = {
  nodes: Array<{ id: number; callFrame: { functionName: string; url: string; lineNumber: number } }>;
  samples: number[];
  timeDeltas: number[];
};

const shareMin = 0.01;

/** The functions of the only profile in a folder by the time spent in themselves, as shares of the time that was not idle. */
export async function hottestFunctions(folder: string): Promise<HotFunction[]> {
  const file = (await readdir(folder)).find((name) => name.endsWith('.cpuprofile'));
  if (file === undefined) throw new Error('the service left no profile: it did not end in order');
  const { nodes, samples, timeDeltas } = JSON.parse(await readFile(path.join(folder, file), 'utf8')) as CpuProfile;
  const functionOf = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const times = new Map<string, HotFunction>();
  let busy = 0;
  for (const [index, id] of samples.entries()) {
    const frame = functionOf.get(id);
    if (frame === undefined || frame.functionName === '(idle)') continue;
    const time = timeDeltas[index] ?? 0;
    busy += time;
    const place = placeOf(frame.url, frame.lineNumber);
    const key = `${frame.functionName} ${place}`;
    const known = times.get(key) ?? { name: frame.functionName || '(anonymous)', place, share: 0 };
    known.share += time;
    times.set(key, known);
  }
  return [...times.values()]
    .map((entry) => ({ ...entry, share: entry.share / busy }))
    .filter(({ share }) => share >= shareMin)
    .sort((a, b) => b.share - a.share);
}

function placeOf(url: string, lineNumber: number): string {
  const short = url.replace(/^file:\/\/.*?\/(?=(?:src|node_modules)\/)/, '');
  return short === '' ? '' : `${short}:${lineNumber + 1}`;
}
