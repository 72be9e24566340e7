import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event } from '../../src/events/event.ts';
import { TestService } from '../helpers/service.ts';
import { Cli, startCli } from './cli.ts';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

async function startOwner() {
  const { api } = await service.account();
  return { api, cli: new Cli(service, { HELIOGRAPH_KEY: api.key }) };
}

describe('send', () => {
  test('waits for the final state and says it', async () => {
    const { cli } = await startOwner();
    const args = ['send', '+14155550700', 'Hello', '--from', 'HELIO', '--reference', 'order 7', '--provider', 'vonage'];
    const message = await cli.json(...args);
    expect(message).toMatchObject({
      status: 'delivered',
      to: '+14155550700',
      reference: 'order 7',
      provider: 'vonage',
    });
  });

  test('ends with 1 when the message fails, and points to its story', async () => {
    const { cli } = await startOwner();
    const reported = await cli.run('send', '+99901008001', 'Hello', '--from', 'HELIO');
    expect([reported.code, reported.stdout]).toEqual([1, expect.stringMatching(/^error +delivery_failed: /m)]);
    expect(reported.stderr).toMatch(/heliograph message show msg_\w{26}/);
    const refused = await cli.run('send', '+99901002001', 'Hello', '--from', 'HELIO');
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toMatch(
      /^The upstream provider refused the recipient.*heliograph message show msg_\w{26}\n$/,
    );
  });

  test('waits no longer than it is told', async () => {
    const { cli } = await startOwner();
    const { code, stdout, stderr } = await cli.run('send', '+99901010001', 'Hello', '--from', 'HELIO', '--wait', '1');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^status +sent$/m)]);
    expect(stderr).toContain('No receipt within 1 s.');
  });
});

describe('listen', () => {
  test('registers itself, verifies and prints what arrives, refuses what is forged, and is gone at the end', async () => {
    const { api, cli } = await startOwner();
    const child = startCli(['listen', '--register', '--event', 'message.delivered', '--json'], cli.env);
    const { stdout, stderr } = child;
    if (stdout === null || stderr === null) throw new Error('the process has no pipes');
    const remarks = createInterface({ input: stderr })[Symbol.asyncIterator]();
    const listening = String((await remarks.next()).value);
    const [, url = '', endpoint = ''] = /^Listening at (http:\S+), registered as (whe_\w{26})\./.exec(listening) ?? [];
    expect(endpoint, listening).not.toBe('');

    const forged = await fetch(url, {
      method: 'POST',
      body: '{}',
      headers: { 'service-signature': `t=1,v1=${'0'.repeat(64)}` },
    });
    expect([forged.status, (await remarks.next()).value]).toEqual([
      400,
      'Refused a request: its signature was not made with this secret.',
    ]);
    const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
    const { id } = await api.sent({ to: '+14155550701' });
    const event = JSON.parse(String((await lines.next()).value)) as Event;
    expect(event).toMatchObject({ object: 'event', type: 'message.delivered', data: { id, status: 'delivered' } });

    child.kill('SIGINT');
    const [[code], rest] = await Promise.all([once(child, 'exit'), remarks.next()]);
    expect([code, rest.value]).toEqual([0, `${endpoint} is deleted.`]);
    expect((await api.request<{ data: unknown[] }>('GET', '/webhooks')).data.data).toEqual([]);
  });

  test('takes a given secret, and says when it verifies nothing', async () => {
    const child = startCli(['listen']);
    const { stdout, stderr } = child;
    if (stdout === null || stderr === null) throw new Error('the process has no pipes');
    const remarks = createInterface({ input: stderr })[Symbol.asyncIterator]();
    const [, url = ''] = /^Listening at (http:\S+)\. Stop/.exec(String((await remarks.next()).value)) ?? [];
    expect((await remarks.next()).value).toBe('Without --secret, signatures are not verified.');
    expect((await fetch(url, { method: 'POST', body: 'no event' })).status).toBe(400);
    child.kill('SIGTERM');
    const [[code], printed] = await Promise.all([once(child, 'exit'), text(stdout)]);
    expect([code, printed]).toEqual([0, '']);
  });
});
