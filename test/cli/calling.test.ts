import { createServer } from 'node:http';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Command } from 'commander';
import { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { operatorToken, TestService } from '../helpers/service.ts';
import { runCli, withFolder } from './cli.ts';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

function programInto(written: string[]): Command {
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written.push(chunk.toString());
      done();
    },
  });
  const environment = { url: undefined, token: undefined, key: undefined, dataDir: 'data', databaseUrl: undefined };
  return createProgram({
    environment,
    stdin: Readable.from([]),
    stdout: stream,
    stderr: stream,
    stopOnSignal: () => AbortSignal.abort(),
  });
}

function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

describe('the help', () => {
  test('of every command says what it does, explains all it takes, and has an example that it would understand', () => {
    const commands = leavesOf(programInto([]));
    expect(commands.length).toBeGreaterThan(25);
    for (const command of commands) {
      const name = command.name();
      const written: string[] = [];
      command.configureOutput({ writeOut: (text) => void written.push(text) });
      command.outputHelp();
      expect(command.description(), name).toMatch(/^[a-z].{10,}/);
      for (const option of command.options) expect(option.description, `${name} ${option.flags}`).not.toBe('');
      for (const argument of command.registeredArguments) expect(argument.description, name).not.toBe('');
      const examples = /\nExamples:\n(?<lines>(?: {2}\$ heliograph .+\n?)+)/.exec(written.join(''))?.groups?.['lines'];
      expect(examples, `${name} has examples`).toBeDefined();
      for (const option of examples?.match(/--[a-z-]+/g) ?? []) {
        const known = ['--json', '--key', '--token', '--url', ...command.options.map(({ long }) => long)];
        expect(known, `${name} ${option}`).toContain(option);
      }
    }
  });

  test('that was asked for is no error; help in place of a command is one of calling', async () => {
    const asked = await runCli(['--help']);
    expect([asked.code, asked.stderr]).toEqual([0, '']);
    expect(asked.stdout).toContain('A first message, from nothing:');
    for (const args of [[], ['account']]) {
      const { code, stdout, stderr } = await runCli(args);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain('Usage: heliograph');
    }
    expect(await runCli(['--version'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });
});

describe('a command that is called wrongly ends with 2 and says how it is called', () => {
  test.each([
    [['acount'], /unknown command 'acount'[^]*Did you mean account\?/],
    [['account', 'create', '--name', 'Ana'], /required option '--email/],
    [['account', 'show'], /missing required argument 'account'/],
    [['account', 'list', '--colour'], /unknown option '--colour'/],
    [['account', 'list', '--limit', 'some'], /"some" is not a number of items/],
    [['topup', 'acc_1', 'ten'], /"ten" is not an amount/],
    [['topup', 'acc_1', '0.0000001'], /at most 6 decimals/],
    [['key', 'create', 'acc_1', '--name', 'x', '--rate-limit', 'fast'], /"fast" is not a whole number/],
    [['suppression', 'add', 'acc_1', '4155550123'], /"4155550123" is not a number in E\.164 form/],
    [['message', 'find'], /--to, --account or both/],
    [['webhook', 'replay', 'whe_1'], /either --event or --from/],
    [['listen', '--secret', 'whsec_x', '--register'], /leave --secret out/],
    [['listen', '--port', '70000'], /"70000" is not a port/],
    [['migrate'], /DATABASE_URL is not set/],
  ])('%j', async (args, said) => {
    const { code, stdout, stderr } = await runCli(args, {
      env: { HELIOGRAPH_TOKEN: 'x', HELIOGRAPH_URL: service.app.url },
    });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(said);
    expect(stderr).not.toContain('    at ');
  });

  test.each([
    ['an operator token', ['account', 'list'], '--token'],
    ['an API key', ['sender', 'create', 'SHOP'], '--key'],
  ])('without %s where it needs one', async (_what, args, option) => {
    const { code, stderr } = await runCli(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(option)]);
  });

  test('with an address that is none', async () => {
    const { code, stderr } = await runCli(['account', 'list', '--url', 'localhost:8080', '--token', 'x']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('"localhost:8080" is not the address of a service')]);
  });
});

/** A program at an address of its own that is not Heliograph. */
async function listenAs(answer: (url: string) => { status: number; body: string }) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`);
    const { status, body } = answer(request.url ?? '');
    response.writeHead(status).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { url, asked, stop };
}

describe('a service that cannot be used is told of, with what to do, and ends with 1', () => {
  test('one that is not there', async () => {
    const { url, stop } = await listenAs(() => ({ status: 200, body: '' }));
    await stop();
    const { code, stderr } = await runCli(['account', 'list', '--url', url, '--token', 'x']);
    expect([code, stderr]).toEqual([
      1,
      `Cannot reach Heliograph at ${url} (ECONNREFUSED). Start it with "npm start", or say where it runs with --url or HELIOGRAPH_URL.\n`,
    ]);
  });

  test('one that is another program', async () => {
    const { url, stop } = await listenAs(() => ({ status: 200, body: '<html>' }));
    try {
      const { code, stderr } = await runCli(['account', 'list', '--url', url, '--token', 'x']);
      expect([code, stderr]).toEqual([1, expect.stringContaining('is not Heliograph')]);
    } finally {
      await stop();
    }
  });

  test('one that refuses the token', async () => {
    const { code, stderr } = await runCli(['account', 'list', '--url', service.app.url, '--token', 'wrong']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('--token or HELIOGRAPH_TOKEN')]);
  });

  test("what the quickstart keeps goes to the quickstart's own address, and nowhere else", async () => {
    const stranger = await listenAs(() => ({ status: 404, body: '' }));
    try {
      await withFolder(async (folder) => {
        const quickstart = {
          base_url: `${service.app.url}/api/v1`,
          api_key: 'ds_live_x',
          operator_token: operatorToken,
          sender: 'HELIO',
        };
        await writeFile(path.join(folder, 'quickstart.json'), JSON.stringify(quickstart));
        const env = { DATA_DIR: folder };
        expect(await runCli(['account', 'list'], { env })).toMatchObject({ code: 0 });
        const here = service.app.url.replace('127.0.0.1', 'localhost');
        expect(await runCli(['account', 'list', '--url', `${here}/operator/v1`], { env })).toMatchObject({ code: 0 });
        expect(await runCli(['account', 'list', '--url', stranger.url], { env })).toMatchObject({ code: 2 });
        expect(await runCli(['send', '+14155550100', 'x', '--url', stranger.url], { env })).toMatchObject({ code: 2 });
        expect(stranger.asked).toEqual([]);
        await writeFile(path.join(folder, 'quickstart.json'), '{"base_url":');
        const { code, stderr } = await runCli(['account', 'list'], { env });
        expect([code, stderr]).toEqual([1, expect.stringContaining('is not what a quickstart writes')]);
      });
    } finally {
      await stranger.stop();
    }
  });
});
