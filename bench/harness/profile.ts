import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

export type Share = { name: string; share: number };

/** Where the time that was not idle went. */
export type Profile = {
  /** By function, what it calls not counted. */
  functions: Share[];
  /** By package or file of ours, with what it calls of Node itself. */
  parts: Share[];
};

/** What `--cpu-prof` writes (https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile). */
type CpuProfile = {
  nodes: Array<{
    id: number;
    callFrame: { functionName: string; url: string; lineNumber: number };
    children?: number[];
  }>;
  samples: number[];
  timeDeltas: number[];
};

const shareMin = 0.01;

/** Reads the only profile in a folder. */
export async function readProfile(folder: string): Promise<Profile> {
  const file = (await readdir(folder)).find((name) => name.endsWith('.cpuprofile'));
  if (file === undefined) throw new Error('the service left no profile: it did not end in order');
  const { nodes, samples, timeDeltas } = JSON.parse(await readFile(path.join(folder, file), 'utf8')) as CpuProfile;
  const nodeOf = new Map(nodes.map((node) => [node.id, node]));
  const parentOf = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));

  const partOf = (id: number): string => {
    for (let at: number | undefined = id; at !== undefined; at = parentOf.get(at)) {
      const part = partOfUrl(nodeOf.get(at)?.callFrame.url ?? '');
      if (part !== undefined) return part;
    }
    return nodeOf.get(id)?.callFrame.functionName.startsWith('(') ? 'V8' : 'Node';
  };
  const functions = new Map<string, number>();
  const parts = new Map<string, number>();
  let busy = 0;
  for (const [index, id] of samples.entries()) {
    const frame = nodeOf.get(id)?.callFrame;
    if (frame === undefined || frame.functionName === '(idle)') continue;
    const time = timeDeltas[index] ?? 0;
    busy += time;
    add(functions, `${frame.functionName || '(anonymous)'}  ${placeOf(frame.url, frame.lineNumber)}`, time);
    add(parts, partOf(id), time);
  }
  return { functions: sharesOf(functions, busy), parts: sharesOf(parts, busy) };
}

function add(times: Map<string, number>, name: string, time: number): void {
  times.set(name, (times.get(name) ?? 0) + time);
}

function sharesOf(times: Map<string, number>, whole: number): Share[] {
  return [...times]
    .map(([name, time]) => ({ name, share: time / whole }))
    .filter(({ share }) => share >= shareMin)
    .sort((a, b) => b.share - a.share);
}

function partOfUrl(url: string): string | undefined {
  return /node_modules\/(?:@[^/]+\/)?[^/]+/.exec(url)?.[0] ?? /src\/.*/.exec(url)?.[0];
}

function placeOf(url: string, lineNumber: number): string {
  const short = url.replace(/^file:\/\/.*?\/(?=(?:src|node_modules)\/)/, '');
  return short === '' ? '' : `${short}:${lineNumber + 1}`;
}
