import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toPublicId } from '../../src/lib/ids.ts';
import { TestService } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';
import { fail, ok, Receiver } from '../webhooks/receiver.ts';
import { Cli, runCli, withFolder } from './cli.ts';

let service: TestService;
let cli: Cli;
beforeAll(async () => {
  service = await TestService.start();
  cli = new Cli(service);
});
afterAll(() => service.stop());

type Item = Record<string, unknown>;

async function startAccount() {
  const { api, accountId } = await service.account();
  return { api, accountId, account: toPublicId('acc', accountId) };
}

describe('account', () => {
  test('suspends, resumes and closes, and tells why it cannot', async () => {
    const { account } = await startAccount();
    expect(await cli.output('account', 'suspend', account)).toBe(`${account} is suspended.\n`);
    expect(await cli.json('account', 'resume', account)).toMatchObject({ id: account, status: 'active' });
    expect(await cli.output('account', 'close', account)).toBe(`${account} is closed.\n`);
    const { code, stdout, stderr } = await cli.run('account', 'resume', account);
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      'This account is closed. Only one that is suspended can be resumed.\n',
    ]);
    expect((await cli.run('account', 'show', 'acc_nobody')).stderr).toBe('There is no such account.\n');
  });

  test('lists as a table or as JSON, as many as are asked for, over as many pages as it takes', async () => {
    const { account } = await startAccount();
    await service.pool.query(
      `INSERT INTO accounts (account_id, email, name, currency, created_at)
       SELECT gen_random_uuid(), 'mass@example.com', 'Mass', 'USD', now() FROM generate_series(1, 230)`,
    );
    const table = await cli.run('account', 'list', '--search', 'mass');
    expect(table.stdout.split('\n')[0]).toMatch(/^ACCOUNT +NAME +EMAIL +STATUS +BALANCE +CREATED \(UTC\)$/);
    expect(table.stdout.trim().split('\n')).toHaveLength(51);
    expect(table.stderr).toBe('There are more than these 50: --limit 500 shows more, --limit all shows all.\n');
    for (const [limit, count] of [
      ['150', 150],
      ['all', 230],
      ['500', 230],
    ] as const) {
      const items = await cli.json<Item[]>('account', 'list', '--search', 'mass', '--limit', limit);
      expect(new Set(items.map(({ id }) => id)).size).toBe(count);
    }
    expect(await cli.json('account', 'list', '--search', 'nobody at all')).toEqual([]);
    const none = await cli.run('account', 'list', '--search', 'nobody at all');
    expect(none).toEqual({ code: 0, stdout: '', stderr: 'There are no such accounts.\n' });
    expect(
      (await cli.json<Item[]>('account', 'list', '--status', 'active', '--limit', '1000')).map(({ id }) => id),
    ).toContain(account);
    expect((await cli.run('account', 'list', '--status', 'open')).stderr).toMatch(/status must be one of active/);
  });

  test('corrects a balance down as well as up', async () => {
    const { account } = await startAccount();
    expect(await cli.output('adjust', account, '-0.5', '--note', 'charged twice')).toContain('is now 99.5 USD');
    expect(await cli.json('adjust', account, '+1.25', '--note', 'a gift')).toMatchObject({
      amount: 1.25,
      balance: 100.75,
    });
    const { code, stderr } = await cli.run('adjust', account, '-1000', '--note', 'all of it');
    expect([code, stderr]).toEqual([
      1,
      'The balance is 100.75 and cannot fall below zero. Take off at most that much.\n',
    ]);
    expect((await cli.run('adjust', account, '1')).code).toBe(2);
    for (const _time of ['first', 'again']) {
      const topUp = await cli.output('topup', account, '5', '--idempotency-key', 'invoice-7');
      expect(topUp).toContain('is now 105.75 USD');
    }
  });
});

test('key makes, lists and revokes keys with the bounds it is given', async () => {
  const { account } = await startAccount();
  const bounds = [
    '--permission',
    'sms:read',
    '--permission',
    'balance:read',
    '--rate-limit',
    '60',
    '--daily-limit',
    '5',
  ];
  const more = ['--allowed-ip', '192.0.2.1', '--expires-at', '2099-01-01T00:00:00Z'];
  const key = await cli.json<Item>('key', 'create', account, '--name', 'reports', ...bounds, ...more);
  expect(key).toMatchObject({
    permissions: ['sms:read', 'balance:read'],
    rate_limit: 60,
    plain_key: expect.any(String),
  });
  const list = await cli.output('key', 'list', account);
  expect(list).toMatch(
    new RegExp(`${String(key['id'])} +reports +ds_live_\\w{4}\\.\\.\\.\\w{4} +yes +60 +sms:read balance:read`),
  );
  expect(list).not.toContain(String(key['plain_key']));
  expect(await cli.output('key', 'revoke', account, String(key['id']))).toBe(`${String(key['id'])} is revoked.\n`);
  expect(await cli.json<Item[]>('key', 'list', account)).toContainEqual(
    expect.objectContaining({ id: key['id'], is_active: false }),
  );
});

test('sender rejects and suspends, and tells why it cannot', async () => {
  const { api } = await startAccount();
  const { data } = await api.request<{ id: string }>('POST', '/senders/create', { json: { sender_id: 'BANK' } });
  const suspended = await cli.run('sender', 'suspend', data.id);
  expect([suspended.code, suspended.stderr]).toEqual([
    1,
    'This sender is pending. Only one that is approved can be suspended.\n',
  ]);
  expect(await cli.json('sender', 'reject', data.id)).toMatchObject({ id: data.id, status: 'rejected' });
});

describe('suppression', () => {
  test('adds, lists and removes recipients', async () => {
    const { account } = await startAccount();
    expect(await cli.output('suppression', 'add', account, '+14155550601', '+14155550602')).toBe('2 suppressed.\n');
    expect(await cli.output('suppression', 'add', account, '+14155550601')).toBe('0 suppressed, 1 were already.\n');
    expect(await cli.output('suppression', 'list', account)).toMatch(/^\+14155550601 +operator +\d{4}-/m);
    expect(await cli.output('suppression', 'remove', account, '+14155550601')).toBe(
      '+14155550601 is no longer suppressed.\n',
    );
    expect(await cli.json('suppression', 'list', account)).toMatchObject([{ to: '+14155550602' }]);
    expect((await cli.run('suppression', 'remove', account, '+14155550601')).code).toBe(1);
  });

  test('imports a file of thousands, and lists them all again', async () => {
    const { account } = await startAccount();
    const numbers = Array.from({ length: 2_500 }, (_, index) => `+1415${5_600_000 + index}`);
    await withFolder(async (folder) => {
      const file = path.join(folder, 'opted-out.txt');
      await writeFile(file, `\uFEFF# opted out\r\n${numbers.join('\r\n')}\r\n\r\n`);
      expect(await cli.json('suppression', 'import', account, file)).toEqual({
        added: 2_500,
        already_suppressed: 0,
        malformed: 0,
      });
    });
    const listed = await cli.json<Item[]>('suppression', 'list', account, '--limit', 'all');
    expect(listed.map(({ to }) => to)).toEqual(numbers);
  });

  test('imports what it can from standard input, and names the lines it cannot', async () => {
    const { account } = await startAccount();
    const stdin = '+14155550603\n4155550604\n  +14155550605  \n\u001b[2J\n+14155550603';
    const { code, stdout, stderr } = await runCli(['suppression', 'import', account], { env: cli.env, stdin });
    expect([code, stdout]).toEqual([1, '2 suppressed, 1 were already.\n']);
    expect(stderr).toContain('line 2: "4155550604" is not a number in E.164 form; left out\n');
    expect(stderr).toContain('line 4: "\\u001b[2J"');
    expect(stderr).toContain('2 of 5 lines were left out.');
  });

  test('does not import what is no list of numbers', async () => {
    const { account } = await startAccount();
    const missing = await cli.run('suppression', 'import', account, '/no/such/file');
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('Cannot read /no/such/file: ENOENT')]);
    const endless = await runCli(['suppression', 'import', account, '-'], {
      env: cli.env,
      stdin: 'x'.repeat(1_000_000),
    });
    expect([endless.code, endless.stderr]).toEqual([1, '- is not a text of one number per line.\n']);
  });
});

test('webhook shows what an endpoint missed, enables it and replays it', async () => {
  const { api, account } = await startAccount();
  const receiver = await Receiver.start(fail);
  try {
    const { id: endpoint } = await api.createWebhook({ url: receiver.url, events: ['message.sent'] });
    for (let sent = 0; sent < 25; sent += 1) await api.sent({ to: '+14155550606' });
    const list = await until('it is disabled', async () => {
      const table = await cli.output('webhook', 'list', '--disabled', '--account', account);
      return table.includes(endpoint) && table;
    });
    expect(list).toMatch(new RegExp(`${endpoint} +${receiver.url} +disabled +25 `));
    const deliveries = await cli.json<Item[]>('webhook', 'deliveries', endpoint, '--limit', 'all');
    expect(deliveries).toHaveLength(25);
    const table = await cli.output('webhook', 'deliveries', endpoint, '--limit', '3');
    expect(table.trim().split('\n')).toHaveLength(4);

    const early = await cli.run('webhook', 'replay', endpoint, '--from', '2026-01-01T00:00:00Z');
    expect([early.code, early.stderr]).toEqual([
      1,
      expect.stringContaining('This endpoint is disabled. Enable it first'),
    ]);
    receiver.answer = ok;
    receiver.requests.length = 0;
    expect(await cli.output('webhook', 'enable', endpoint)).toContain(`${endpoint} is active.`);
    expect(await cli.output('webhook', 'replay', endpoint, '--from', '2026-01-01T00:00:00Z')).toBe(
      '25 deliveries queued.\n',
    );
    await receiver.received(25);
    const event = String(deliveries[0]?.['event_id']);
    await until('all are acknowledged', async () => {
      const succeeded = await cli.json<Item[]>('webhook', 'deliveries', endpoint, '--status', 'succeeded');
      return succeeded.length === 25;
    });
    expect(await cli.json('webhook', 'replay', endpoint, '--event', event)).toEqual({
      endpoint_id: endpoint,
      queued: 1,
    });
    await receiver.received(26);
    const nothing = await cli.output(
      'webhook',
      'replay',
      endpoint,
      '--from',
      '2026-01-01T00:00:00Z',
      '--until',
      '2026-01-02T00:00:00Z',
    );
    expect(nothing).toContain('Nothing to deliver');
  } finally {
    await receiver.stop();
  }
});

test('provider and receipts show how the upstreams are doing', async () => {
  const { api } = await startAccount();
  await api.sent({ to: '+99901005001' });
  const table = await cli.output('provider', 'list');
  expect(table).toMatch(
    /^PROVIDER +BREAKER +ACCEPTED +REFUSED +FAILED +NO ANSWER +ERRORS +MEAN MS +PER SECOND +AT ONCE$/m,
  );
  expect(table).toMatch(/^twilio +closed +\d+ +\d+ +[1-9]\d* +0 +[\d.]+ % /m);
  expect(await cli.json<Item[]>('provider', 'list')).toMatchObject([{ name: 'twilio' }, { name: 'vonage' }]);
  expect(await cli.run('receipts', 'unmatched')).toEqual({
    code: 0,
    stdout: '',
    stderr: 'Every receipt has found its message.\n',
  });
});

test('verify-ledger names what does not agree, and ends with 1', async () => {
  const { accountId, account } = await startAccount();
  await service.pool.query('UPDATE accounts SET balance_micros = balance_micros - 7 WHERE account_id = $1', [
    accountId,
  ]);
  try {
    const { code, stdout, stderr } = await cli.run('verify-ledger');
    expect(code).toBe(1);
    expect(stdout).toMatch(new RegExp(`${account} +balance +- +100000000 +99999993`));
    expect(stderr).toContain('The books do not agree in 1 places.');
    const script = await cli.run('verify-ledger', '--json');
    expect(script.code).toBe(1);
    expect(JSON.parse(script.stdout)).toMatchObject({
      differences: [{ account_id: account, what: 'balance' }],
      is_cut: false,
    });
  } finally {
    await service.pool.query('UPDATE accounts SET balance_micros = balance_micros + 7 WHERE account_id = $1', [
      accountId,
    ]);
  }
});
