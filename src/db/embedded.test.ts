import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  cleanUp,
  isAlive,
  isRoot,
  makeFolder,
  ordinary,
  ordinaryReachesCheckout,
  postmasterPid,
  query,
  startHeliograph,
  type Account,
} from '../../test/helpers/embedded.ts';
import { startEmbeddedPostgres } from './embedded.ts';

const accounts: [string, Account][] = isRoot ? [['root', undefined]] : [];
if (ordinaryReachesCheckout) {
  accounts.push(['an ordinary user', ordinary]);
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

const start = (dataDir: string) => startEmbeddedPostgres({ dataDir, log: () => undefined });

/** Fails when it does not come true in good time. */
const eventually = (check: () => Promise<void> | void) => vi.waitFor(check, { timeout: 10_000, interval: 10 });

describe.each(accounts)('run by %s', (_name, account) => {
  async function newDataDir(): Promise<string> {
    return path.join(await makeFolder(account), 'data');
  }

  /** Where a first start made everything; each test starts anew on it. */
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await newDataDir();
    await (await startHeliograph(dataDir, { account })).stop();
  });
  afterEach(() => cleanUp(dataDir));
  afterAll(() => cleanUp());

  test('the database is durable, and no network port leads to it', async () => {
    const heliograph = await startHeliograph(dataDir, { account });
    expect(await query(heliograph.url, 'SELECT current_database() AS name')).toEqual([{ name: 'heliograph' }]);
    const settings = await query<{ name: string; setting: string }>(
      heliograph.url,
      `SELECT name, setting FROM pg_settings
       WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums', 'listen_addresses', 'server_encoding')
       ORDER BY name`,
    );
    expect(Object.fromEntries(settings.map(({ name, setting }) => [name, setting]))).toEqual({
      data_checksums: 'on',
      fsync: 'on',
      full_page_writes: 'on',
      listen_addresses: '',
      server_encoding: 'UTF8',
      synchronous_commit: 'on',
    });
    expect(await heliograph.stop()).toBe(0);
  });

  test('a second start finds the data of the first', async () => {
    const first = await startHeliograph(dataDir, { account });
    await query(first.url, 'CREATE TABLE found_again AS SELECT 42 AS answer');
    expect(await first.stop()).toBe(0);
    const second = await startHeliograph(dataDir, { account });
    expect(await query(second.url, 'SELECT answer FROM found_again')).toEqual([{ answer: 42 }]);
    expect(second.log).toEqual([]);
  });

  test('nobody connects without the password, and only the owner can read it, the data and the log', async () => {
    const { url } = await startHeliograph(dataDir, { account });
    const wrong = new URL(url);
    wrong.password = 'guess';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    for (const [file, mode] of [
      ['postgres/password', '600'],
      ['postgres/cluster', '700'],
      ['postgres/socket', '700'],
      ['postgres.log', '600'],
    ] as const) {
      expect(`${file} ${((await stat(path.join(dataDir, file))).mode % 0o1000).toString(8)}`).toBe(`${file} ${mode}`);
    }
  });

  test('two run side by side on folders of their own', async () => {
    const [one, other] = await Promise.all(
      [dataDir, await newDataDir()].map((folder) => startHeliograph(folder, { account })),
    );
    await query(one!.url, 'CREATE TABLE only_here ()');
    expect(await query(other!.url, `SELECT to_regclass('only_here') AS found`)).toEqual([{ found: null }]);
  });

  test('of several that start on one folder at the same time, one runs, and the others name it', async () => {
    const fresh = await newDataDir();
    const results = await Promise.allSettled([1, 2, 3].map(() => startHeliograph(fresh, { account })));
    const running = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(running).toHaveLength(1);
    const owner = running[0]!;
    const client = new pg.Client(owner.url);
    await client.connect();
    await expect(startHeliograph(fresh, { account })).rejects.toThrow(
      `the data folder "${fresh}" is in use by another Heliograph (process ${owner.process.pid}): stop that one, or choose another folder with DATA_DIR`,
    );
    expect((await client.query('SELECT 1 AS undisturbed')).rows).toEqual([{ undisturbed: 1 }]);
    await client.end();
  });

  test('the server ends when its Heliograph is killed', async () => {
    const heliograph = await startHeliograph(dataDir, { account });
    const pid = await postmasterPid(dataDir);
    await heliograph.kill();
    await eventually(() => expect(isAlive(pid)).toBe(false));
  });

  test('a server that outlived its killed Heliograph is stopped by the next start, and nothing is lost', async () => {
    const first = await startHeliograph(dataDir, { account });
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    const pid = await postmasterPid(dataDir);
    // Frozen, it cannot follow the request to stop that it gets at the death of its Heliograph.
    process.kill(pid, 'SIGSTOP');
    await first.kill();
    const second = await startHeliograph(dataDir, { account, onLog: () => process.kill(pid, 'SIGCONT') });
    expect(second.log).toEqual([
      `PostgreSQL: stopping the PostgreSQL (process ${pid}) that an earlier run left behind`,
    ]);
    expect(isAlive(pid)).toBe(false);
    expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  });

  test('after a power cut, whatever has an old pid now neither stops the start nor is stopped', async () => {
    const first = await startHeliograph(dataDir, { account });
    const pidFile = path.join(dataDir, 'postgres/cluster/postmaster.pid');
    const [, ...rest] = (await readFile(pidFile, 'utf8')).split('\n');
    await first.stop();
    // A process that runs, and a zombie: the shell's child, which `sleep`, having taken the shell's place, never asks after.
    const bystander = spawn('/bin/sh', ['-c', 'true & echo $!; exec sleep 60'], { ...account });
    const [line] = (await once(bystander.stdout, 'data')) as [Buffer];
    for (const pid of [bystander.pid!, Number(line.toString())]) {
      await writeFile(pidFile, [pid, ...rest].join('\n'));
      await writeFile(path.join(dataDir, 'postgres/lock.1000'), `${pid} 6a0f8f6e-0000-4000-8000-000000000000/17`);
      const next = await startHeliograph(dataDir, { account });
      expect(await query(next.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      expect(await next.stop()).toBe(0);
    }
    expect(bystander.kill()).toBe(true);
    expect(await once(bystander, 'exit')).toEqual([null, 'SIGTERM']);
  });

  test('a first start that was killed half-way does not spoil the next one', async () => {
    const fresh = await newDataDir();
    const home = path.join(fresh, 'postgres');
    const starting = startHeliograph(fresh, {
      account,
      onLog: (_line, child) =>
        void eventually(async () => {
          expect((await readdir(home)).some((name) => name.startsWith('initdb-'))).toBe(true);
        }).then(() => child.kill('SIGKILL')),
    });
    await expect(starting).rejects.toThrow('ended without a word');
    expect(await exists(path.join(home, 'cluster'))).toBe(false);
    const next = await startHeliograph(fresh, { account });
    expect(await query(next.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('Ctrl-C, which reaches the whole process group, leaves the server up until it is stopped in order', async () => {
    const heliograph = await startHeliograph(dataDir, { account });
    const pid = await postmasterPid(dataDir);
    process.kill(-heliograph.process.pid!, 'SIGINT');
    // It queries the database before it stops it.
    expect(await heliograph.stop()).toBe(0);
    expect(isAlive(pid)).toBe(false);
  });

  test('where the path of the socket would be too long, the socket is elsewhere', async () => {
    const fresh = path.join(await newDataDir(), 'a-long-name'.repeat(10));
    const heliograph = await startHeliograph(fresh, { account });
    const socketDir = decodeURIComponent(new URL(heliograph.url).hostname);
    expect(socketDir).toMatch(/^\/tmp\/heliograph-/);
    expect((await stat(socketDir)).mode % 0o1000).toBe(0o700);
    expect(await query(heliograph.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await heliograph.stop();
    expect(await exists(socketDir)).toBe(false);
  });
});

describe('the started server', () => {
  let dataDir: string;
  beforeAll(async () => {
    dataDir = path.join(await makeFolder(undefined), 'data');
    await (await start(dataDir)).stop();
  });
  afterEach(() => cleanUp(dataDir));
  afterAll(() => cleanUp());

  test('tells when it ends on its own, and is started anew as soon as its sessions have noticed', async () => {
    const first = await start(dataDir);
    const session = new pg.Client(first.url);
    session.on('error', () => undefined);
    await session.connect();
    const { rows } = await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    // Frozen, it holds the cluster's shared memory.
    process.kill(rows[0]!.pid, 'SIGSTOP');
    process.kill(await postmasterPid(dataDir), 'SIGKILL');
    expect(await first.exited).toEqual({ code: null, signal: 'SIGKILL' });
    await first.stop();
    const starting = start(dataDir);
    await eventually(async () =>
      expect(await readFile(path.join(dataDir, 'postgres.log'), 'utf8')).toContain('pre-existing shared memory block'),
    );
    process.kill(rows[0]!.pid, 'SIGCONT');
    const second = await starting;
    expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await session.end();
    await second.stop();
  });

  test('stops with sessions open, as often as asked', async () => {
    const server = await start(dataDir);
    const busy = expect(query(server.url, 'SELECT pg_sleep(60)')).rejects.toMatchObject({ code: '57P01' });
    await eventually(async () =>
      expect(await query(server.url, `SELECT 1 FROM pg_stat_activity WHERE query ~ '^SELECT pg_sleep'`)).toHaveLength(
        1,
      ),
    );
    await Promise.all([server.stop(), server.stop()]);
    await server.stop();
    await busy;
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });

  test('has its database again where a crash came before that was made', async () => {
    const first = await start(dataDir);
    const url = new URL(first.url);
    url.pathname = '/postgres';
    await query(url.href, 'DROP DATABASE heliograph');
    await first.stop();
    const second = await start(dataDir);
    expect(await query(second.url, 'SELECT current_database() AS name')).toEqual([{ name: 'heliograph' }]);
    await second.stop();
  });

  test('is refused where another one, which only its socket shows, serves the folder', async () => {
    const socket = path.join(dataDir, 'postgres/socket/.s.PGSQL.5432');
    await mkdir(path.dirname(socket));
    const elsewhere = net.createServer((connection) => connection.end()).listen(socket);
    await new Promise((resolve) => elsewhere.once('listening', resolve));
    await expect(start(dataDir)).rejects.toThrow('answers on');
    elsewhere.close();
  });

  test('is refused on data of another PostgreSQL version, or without its password, and both say what to do', async () => {
    const home = path.join(dataDir, 'postgres');
    await rename(path.join(home, 'password'), path.join(home, 'lost'));
    await expect(start(dataDir)).rejects.toThrow(/password" is missing.*restore it from a backup/);
    await rename(path.join(home, 'lost'), path.join(home, 'password'));
    await writeFile(path.join(home, 'cluster/PG_VERSION'), '17\n');
    await expect(start(dataDir)).rejects.toThrow(/written by PostgreSQL 17.*pg_dump/);
    await writeFile(path.join(home, 'cluster/PG_VERSION'), '18\n');
  });
});
