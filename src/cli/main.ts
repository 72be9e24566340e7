#!/usr/bin/env node
import process from 'node:process';
import { CommanderError } from 'commander';
import { readEnvironment } from './environment.ts';
import { Failure } from './failure.ts';
import { createProgram } from './program.ts';

/** Only for commands that have something to undo: others end at once. So does the second Ctrl-C. */
function stopOnSignal(): AbortSignal {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  return stopping.signal;
}

async function run(): Promise<number> {
  const { stdin, stdout, stderr } = process;
  // Whoever reads the output, such as head, may have seen enough.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
  try {
    const shell = { environment: readEnvironment(), stdin, stdout, stderr, stopOnSignal };
    await createProgram(shell).parseAsync(process.argv);
    return 0;
  } catch (error) {
    // Help that was asked for is no error; help in place of a command is.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof Failure)) throw error;
    stderr.write(`${error.message}\n`);
    return error.exitCode;
  }
}

process.exitCode = await run();
