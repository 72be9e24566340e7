import { readFileSync } from 'node:fs';
import process from 'node:process';
import { runService } from './serve.ts';
import { ConfigError, loadConfig, type Config } from './config.ts';
import { systemClock } from './lib/clock.ts';

/** Everything stops within this, or the process ends all the same: what is not committed is taken up at the next start. */
const stopMsMax = 14_000;

function readConfig(): Config {
  try {
    return loadConfig(process.env, (file) => readFileSync(file, 'utf8'));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`Heliograph cannot start: ${error.message}\n`);
    process.exit(2);
  }
}

/** npm passes on a Ctrl-C that the terminal gave us already: only a signal that comes later is one more. */
const sameSignalMs = 1_000;

const stopping = new AbortController();
let askedAtMs = 0;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (stopping.signal.aborted) {
      if (systemClock.now() - askedAtMs > sameSignalMs) process.exit(1);
      return;
    }
    askedAtMs = systemClock.now();
    setTimeout(() => {
      process.stderr.write('Heliograph did not stop in time; what was in flight is taken up at the next start.\n');
      process.exit(1);
    }, stopMsMax).unref();
    stopping.abort();
  });
}

try {
  await runService(readConfig(), stopping.signal, (text) => process.stdout.write(`${text}\n`));
  process.exit(0);
} catch (error) {
  process.stderr.write(`Heliograph stopped: ${error instanceof Error ? error.message : String(error)}\n`);
  if (error instanceof Error && error.cause instanceof Error)
    process.stderr.write(`  because: ${error.cause.message}\n`);
  process.exit(1);
}
