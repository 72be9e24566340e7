// Makes a checkout ready: what `npm start` and `npm test` run first. It installs the packages when they differ from the lockfile and
// builds the console when its sources changed; when nothing is to do it says nothing. No dependencies, and any Node.js from 18 on, since
// it runs before there is anything else.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { holdingLock } from './setup-lock.mjs';
import { print, SetupError } from './setup-report.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const nodeMajorMin = 24;
const bundledPackage = `node_modules/node-${process.platform}-${process.arch}`;
const bundledNode = inRoot(`${bundledPackage}/bin/node`);
const nodeLink = inRoot('node_modules/.bin/node');

const npmTimeoutMs = 15 * 60_000;
const npmOutputCharsMax = 20_000;
const interruptions = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** What an npm error code means to whoever reads it. */
const npmRemedies = [
  [
    /code (ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT)/,
    'The package registry cannot be reached: check the network, and "npm config get registry" and "npm config get proxy".',
  ],
  [/code (E401|E403|ENEEDAUTH)/, 'The package registry refuses us: check its credentials in your npm configuration.'],
  [/code (EACCES|EPERM|EROFS)/, `This user may not write to ${root}: run as the one who owns it.`],
  [/code ENOSPC/, 'The disk is full: the packages need about 1 GB.'],
  [
    /code EUSAGE/,
    'package.json and package-lock.json do not fit together: run "npm install" and look at what it changed.',
  ],
];

async function main() {
  if (!installReason() && !consoleReason()) {
    requireNode();
    return;
  }
  requirePossibleNode();
  await holdingLock(inRoot('.setup.lock'), async () => {
    // Looked at again: whoever held the lock before us may have done it all.
    const toInstall = installReason();
    if (toInstall) {
      await step(`installing packages (${toInstall})`, installPackages);
    }
    requireNode();
    const toBuild = consoleReason();
    if (toBuild) {
      await step(`building the console (${toBuild})`, buildConsole);
    }
  });
}

// --- packages

/**
 * Why packages have to be installed. Compares what npm says it installed, which it writes down last, with the lockfile; the age of files
 * tells nothing after a `git checkout`.
 */
function installReason() {
  const wanted = lockedPackages();
  const installed = readJson(inRoot('node_modules/.package-lock.json'))?.packages;
  if (!installed) {
    return fs.existsSync(inRoot('node_modules')) ? 'an earlier installation did not finish' : 'there are none yet';
  }
  const required = new Set(Object.keys(wanted[''].optionalDependencies ?? {}).map((name) => `node_modules/${name}`));
  for (const [place, { version, integrity, optional, os, cpu }] of Object.entries(wanted)) {
    const present = installed[place];
    const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
    if (
      place === '' ||
      (!present && optional && !(required.has(place) && fits(os, process.platform) && fits(cpu, process.arch)))
    ) {
      continue;
    }
    if (!present || !fs.existsSync(inRoot(place))) {
      return `${name} is missing`;
    }
    if (present.version !== version || present.integrity !== integrity) {
      return `${name} ${present.version} is there, ${version} is wanted`;
    }
  }
  return undefined;
}

function lockedPackages() {
  return JSON.parse(fs.readFileSync(inRoot('package-lock.json'), 'utf8')).packages;
}

/** `os` and `cpu` of a package are absent, one name, or several. */
function fits(names, ours) {
  return names === undefined || [names].flat().includes(ours);
}

async function installPackages() {
  // Whatever NODE_ENV or npm's configuration say: the console's build needs the development packages, and Node.js is an optional one.
  await runNpm(['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error']);
  const missing = installReason();
  if (missing) {
    throw new SetupError(
      `npm reported success, but ${missing}. Run again; if that does not help, delete node_modules first.`,
    );
  }
}

// --- Node.js

/** Before the long installation: where it brings no Node.js, ours is the one that will have to do. */
function requirePossibleNode() {
  if (!lockedPackages()[bundledPackage] && !isNewEnough(process.versions.node)) {
    throw new SetupError(nodeRemedy());
  }
}

/** npm scripts take what `node_modules/.bin` has under the name, else the Node.js of the system. */
function requireNode() {
  if (isUsable(bundledNode)) {
    if (!fs.existsSync(nodeLink)) {
      // npm 10 removes it together with the package for the other processors, whose link has the same name.
      const draft = `${nodeLink}.${process.pid}`;
      fs.symlinkSync(path.relative(path.dirname(nodeLink), bundledNode), draft);
      fs.renameSync(draft, nodeLink);
    }
    return;
  }
  // There is none, or it was made for another C library and would stand before that of the system.
  fs.rmSync(nodeLink, { force: true });
  if (!isNewEnough(process.versions.node)) {
    throw new SetupError(nodeRemedy());
  }
}

function isUsable(node) {
  if (!fs.existsSync(node) || fs.realpathSync(node) === process.execPath) {
    return fs.existsSync(node);
  }
  const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  return status === 0 && isNewEnough(stdout.trim().slice(1));
}

function isNewEnough(version) {
  return Number.parseInt(version, 10) >= nodeMajorMin;
}

function nodeRemedy() {
  return (
    `Heliograph needs Node.js ${nodeMajorMin} or newer. This is ${process.versions.node}, and the packages bring none that ` +
    `runs on this system (${process.platform} ${process.arch}).\n` +
    `Install it from https://nodejs.org/en/download or with your version manager ("nvm install ${nodeMajorMin}", ` +
    `"fnm install ${nodeMajorMin}", "brew install node"), then run the same command again.`
  );
}

// --- console

/** Why the console has to be built; the build is marked with the hash of what it was made of. */
function consoleReason() {
  if (!fs.existsSync(inRoot('console/index.html'))) {
    return undefined;
  }
  const built = readText(inRoot('console/dist/.sources'));
  if (built === undefined) {
    return 'it is not built yet';
  }
  return built === hashConsole() ? undefined : 'its sources changed';
}

async function buildConsole() {
  const hash = hashConsole();
  await runNpm(['run', 'build:console']);
  fs.writeFileSync(inRoot('console/dist/.sources'), hash);
}

function hashConsole() {
  const hash = createHash('sha256');
  for (const file of [...filesBelow('console'), 'package-lock.json']) {
    const content = fs.readFileSync(inRoot(file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

function filesBelow(folder) {
  return fs
    .readdirSync(inRoot(folder), { withFileTypes: true })
    .filter(({ name }) => name !== 'dist' && name !== 'node_modules')
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const place = `${folder}/${entry.name}`;
      return entry.isDirectory() ? filesBelow(place) : [place];
    });
}

// --- npm

/** Quiet unless it fails. */
async function runNpm(args) {
  const { npm_execpath: script, npm_node_execpath: node } = process.env;
  const [program, ...first] = node && script?.endsWith('npm-cli.js') ? [node, script] : ['npm'];
  // Not with the Node.js in node_modules, which `npm ci` deletes.
  const searchPath = process.env.PATH.split(path.delimiter).filter(
    (dir) => path.resolve(dir) !== path.dirname(nodeLink),
  );
  const child = spawn(program, [...first, ...args], {
    cwd: root,
    env: { ...process.env, PATH: searchPath.join(path.delimiter) },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: npmTimeoutMs,
  });
  // At once: asked politely, npm goes on for a minute, and what it leaves undone the next run does anew.
  let interrupted = false;
  const interrupt = () => {
    interrupted = true;
    child.kill('SIGKILL');
  };
  for (const signal of interruptions) {
    process.on(signal, interrupt);
  }
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output = (output + text).slice(-npmOutputCharsMax);
    });
  }
  const end = await new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => resolve(signal ?? code));
  });
  for (const signal of interruptions) {
    process.off(signal, interrupt);
  }
  if (interrupted) {
    throw new SetupError('Interrupted. Run the same command again to go on.');
  }
  if (end !== 0) {
    const remedy =
      npmRemedies.find(([pattern]) => pattern.test(output))?.[1] ??
      'Mend what npm says above, then run the same command again.';
    throw new SetupError(`${output.trim()}\n\n"npm ${args.join(' ')}" failed (${end}). ${remedy}`);
  }
}

// --- small tools

function inRoot(place) {
  return path.join(root, place);
}

function readText(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function readJson(file) {
  try {
    return JSON.parse(readText(file) ?? 'null');
  } catch {
    return undefined;
  }
}

async function step(what, work) {
  const startedAt = Date.now();
  print(`${what} …`);
  await work();
  print(`done in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
}

try {
  await main();
} catch (error) {
  const closed = ['EACCES', 'EPERM', 'EROFS'].includes(error.code);
  if (!closed && !(error instanceof SetupError)) {
    throw error;
  }
  console.error(`\nset-up failed.\n\n${error.message}${closed ? '\nRun it as the user who owns this folder.' : ''}\n`);
  process.exitCode = 1;
}
