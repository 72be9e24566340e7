import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestService } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';
import { Cli } from './cli.ts';

let service: TestService;
let cli: Cli;
beforeAll(async () => {
  service = await TestService.start();
  cli = new Cli(service);
});
afterAll(() => service.stop());

test('redact removes a number, and says how much there was of it', async () => {
  const { api } = await service.account();
  const { id } = await api.sent({ to: '+9990101060' });
  await api.sent({ to: '+9990101060' });
  expect(await cli.output('redact', '+9990101060')).toBe(
    'Redacted: 2 messages, 0 receipts, answers to 0 webhook deliveries and 0 requests, 0 unmatched receipts.\n',
  );
  expect((await api.get(id)).to).toBe('[redacted]');
  expect(await cli.json('redact', '+9990101060')).toMatchObject({ redacted: { messages: 0 }, pending_messages: 0 });
});

test('redact fails while a message to the number is being sent', async () => {
  const { api } = await service.account();
  const sending = api.sent({ to: '+9990101460' });
  await until('under way', async () => (await service.asked('+9990101460')).length === 1);
  const { code, stderr } = await cli.run('redact', '+9990101460');
  expect(stderr).toContain('1 message to this number is still being sent. Redact it again in ten minutes.\n');
  expect(code).toBe(1);
  await sending;
});

test('redact wants a number', async () => {
  for (const number of ['14155550123', 'everyone']) {
    const { code, stderr } = await cli.run('redact', number);
    expect([code, stderr]).toEqual([2, `"${number}" is not a number in E.164 form, such as +14155550123.\n`]);
  }
});
