import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestService } from '../helpers/service.ts';
import { Cli } from './cli.ts';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

function find(text: string, pattern: RegExp): string {
  const [found] = pattern.exec(text) ?? [];
  expect(found, `${pattern} in ${text}`).toBeDefined();
  return found ?? '';
}

test('a newcomer with nothing but the command line gets from an empty service to a delivered message and its story', async () => {
  const cli = new Cli(service);
  const account = find(
    await cli.output('account', 'create', '--name', 'Ana Silva', '--email', 'ana@example.com'),
    /acc_\w{26}/,
  );
  expect(await cli.output('topup', account, '20', '--note', 'welcome')).toBe(
    `The balance of ${account} is now 20 USD.\n`,
  );

  const created = await cli.output('key', 'create', account, '--name', 'first');
  const key = find(created, /ds_live_\w{40}/);
  expect(created).toContain('It is not shown again.');
  const owner = new Cli(service, { HELIOGRAPH_KEY: key });

  const early = await owner.run('send', '+14155550500', 'too early', '--from', 'SHOP');
  expect([early.code, early.stderr]).toEqual([1, '"SHOP" is not an approved sender of this account.\n']);
  const applied = await owner.output('sender', 'create', 'SHOP', '--country', 'PT');
  expect(applied).toContain('SHOP is pending');
  const sender = find(applied, /snd_\w{26}/);
  expect(await cli.output('sender', 'list', '--status', 'pending')).toContain(sender);
  expect(await cli.output('sender', 'approve', sender)).toBe(`SHOP (${sender}) is approved.\n`);

  const sent = await owner.output('send', '+99901005001', 'Hello, world', '--from', 'SHOP');
  expect(sent).toMatch(/^status +delivered$/m);
  expect(sent).toMatch(/^attempts +2$/m);
  const message = find(sent, /msg_\w{26}/);

  const story = await cli.output('message', 'show', message);
  for (const line of [
    /^body +Hello, world$/m,
    /\+0 ms {2}accepted +Accepted from SHOP to \+99901005001: 1 segment; route 1 leads to twilio → vonage\./,
    /charge +0\.01 USD taken from the balance\./,
    /attempt +twilio could not take it after \d+ ms: 20503/,
    /attempt +vonage accepted it after \d+ ms as /,
    /event +The message is sent\. Event evt_\w{26}, message\.sent\./,
    /receipt +vonage reports on attempt 2: delivered\./,
    /event +The message is delivered\./,
  ]) {
    expect(story).toMatch(line);
  }
  expect(await cli.output('message', 'show', message, '--raw')).toContain('"status":"delivered"');
  expect(await cli.output('message', 'find', '--to', '+99901005001')).toContain(message);
  expect(await cli.output('account', 'show', account)).toMatch(/^balance +19\.99 USD$/m);
  expect(await cli.output('verify-ledger')).toMatch(/^The books of \d+ accounts agree\.\n$/);
});
