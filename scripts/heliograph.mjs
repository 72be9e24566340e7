#!/usr/bin/env node
// The command line, whatever Node.js the shell finds: `npx heliograph`. It runs src/cli/main.ts, which is TypeScript as it is, with the
// Node.js that the packages bring, else with this one. No dependencies, and any Node.js from 18 on.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const nodeMajorMin = 24;
const root = fileURLToPath(new URL('..', import.meta.url));
const bundledNode = path.join(root, 'node_modules/.bin/node');

/** As in `npm start`: `heliograph serve` is the service itself. */
const flags = ['--max-semi-space-size=16', '--heap-growing-percent=50'];

function findNode() {
  if (!fs.existsSync(path.join(root, 'node_modules/commander'))) {
    return {
      problem: `The packages of Heliograph are not installed yet. Run "npm start" once, or "npm ci", in ${root}`,
    };
  }
  if (fs.existsSync(bundledNode)) return { node: bundledNode };
  if (Number.parseInt(process.versions.node, 10) >= nodeMajorMin) return { node: process.execPath };
  return {
    problem: `Heliograph needs Node.js ${nodeMajorMin} or newer. This is ${process.versions.node}, and the packages brought none.`,
  };
}

function run(node) {
  const child = spawn(node, [...flags, path.join(root, 'src/cli/main.ts'), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // Ctrl-C has reached the child already, and a second one would end it at once.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on('error', (error) => fail(`${node} cannot be run: ${error.message}`));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function fail(problem) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}

const { node, problem } = findNode();
if (problem === undefined) run(node);
else fail(problem);
