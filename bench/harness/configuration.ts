import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { simulatorCredentials, type ProviderId } from '../../src/simulator/simulator.ts';

/** Upstreams that are configured, in the order of their route, with settings beside the simulator's own. */
export type Upstreams = Partial<Record<Exclude<ProviderId, 'smpp'>, { ratePerSecond: number; concurrency?: number }>>;

/** The upstream takes all it gets: what it allows us is not what is measured. */
export const ratePerSecond = 100_000;

/** A service as it runs in earnest: configured by a file, its providers being the simulator. Returns its environment. */
export async function configure(options: {
  folder: string;
  port: number;
  simulatorUrl: string;
  upstreams: Upstreams;
}): Promise<Record<string, string>> {
  const { folder, port, simulatorUrl, upstreams } = options;
  const file = path.join(folder, 'heliograph.yaml');
  const providers = Object.fromEntries(
    Object.entries(upstreams).map(([name, settings]) => [
      name,
      { baseUrl: `${simulatorUrl}/${name}`, ...simulatorCredentials[name as ProviderId], ...settings },
    ]),
  );
  // JSON is YAML.
  const content = {
    publicUrl: `http://127.0.0.1:${port}`,
    providers,
    routes: [{ id: 1, name: 'everywhere', providers: Object.keys(providers) }],
    rateCard: { default: 0.01, prefixes: { '+1': 0.0079 } },
  };
  await writeFile(file, JSON.stringify(content));
  return {
    HELIOGRAPH_CONFIG: file,
    SECRET_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  };
}
