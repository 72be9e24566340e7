import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A simulator in a process of its own. */
export type SimulatorChild = {
  pid: number;
  url: string;
  smppPort: number;
  /** Rejects when it ends without having been asked to. */
  lost: Promise<never>;
  stop(): Promise<void>;
};

/**
 * Starts the simulator as a process of its own, so that the outside world takes neither memory nor time of the service. It ends with this
 * process, however that ends.
 */
export async function startSimulatorChild(port: number): Promise<SimulatorChild> {
  const child = fork(fileURLToPath(new URL('./main.ts', import.meta.url)), ['--port', String(port)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let isStopping = false;
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  let isReady = false;
  const lost = exited.then(([code, signal]) => {
    if (isStopping) return new Promise<never>(() => undefined);
    const how = signal ?? `code ${code}`;
    if (isReady) throw new Error(`the carrier simulator ended on its own (${how})`);
    throw new Error(
      `the carrier simulator did not start (${how}); where its port is taken, choose another with SIMULATOR_PORT`,
    );
  });
  // Whoever races it hears of it; until then, and once nobody does, it is not unhandled.
  lost.catch(() => undefined);
  const [address] = (await Promise.race([once(child, 'message'), lost])) as [{ url: string; smppPort: number }];
  isReady = true;
  return {
    ...address,
    pid: child.pid ?? 0,
    lost,
    async stop() {
      isStopping = true;
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}
