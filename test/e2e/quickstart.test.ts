import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { Event } from '../../src/events/event.ts';
import { readAnswer, type CreatedWebhook } from '../helpers/client.ts';
import { cleanUp, makeFolder } from '../helpers/embedded.ts';
import { endProcesses, ServiceProcess } from '../helpers/process.ts';
import { until } from '../helpers/until.ts';
import { Receiver } from '../webhooks/receiver.ts';

afterEach(endProcesses);
afterAll(() => cleanUp());

const timeout = 120_000;

describe('npm start without any configuration', { timeout }, () => {
  it('gives an account that sends, and signed webhooks; the second start finds all of it again', async () => {
    const dataDir = path.join(await makeFolder(undefined), 'data');
    const first = await ServiceProcess.start(dataDir);
    const { quickstart, api } = first;
    expect(quickstart).toMatchObject({
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1$/),
      api_key: expect.stringMatching(/^ds_live_[0-9A-Za-z]{40}$/),
      account_id: expect.stringMatching(/^acc_/),
      sender: 'HELIO',
      operator_token: expect.any(String),
      simulator_url: expect.stringMatching(/^http:/),
    });
    expect((await stat(path.join(dataDir, 'quickstart.json'))).mode & 0o777).toBe(0o600);
    expect((await fetch(new URL('/readyz', quickstart.base_url))).status).toBe(200);
    expect(await api.balance()).toBe(100);

    const receiver = await Receiver.start();
    const webhook = await api.createWebhook({ url: receiver.url });
    const message = await api.sent({ to: '+14155550123', body: 'Hello', reference: 'order 7' });
    await receiver.received(2);
    await until('delivered', async () => (await api.get(message.id)).status === 'delivered');
    expectSignedEvents(receiver, webhook, message.id);
    expect((await api.sent({ to: '+14155550123', from: '+15005550006' })).status).toBe('sent');

    expect(await first.stop()).toMatchObject({ code: 0 });
    await receiver.stop();

    const second = await ServiceProcess.start(dataDir);
    expect({ ...second.quickstart, base_url: '' }).toMatchObject({
      api_key: quickstart.api_key,
      account_id: quickstart.account_id,
      operator_token: quickstart.operator_token,
    });
    expect((await second.api.get(message.id)).status).toBe('delivered');
    expect(await second.api.balance()).toBe(100 - 2 * 0.0079);
    expect((await second.api.sent({ to: '+14155550123' })).status).toBe('sent');
    expect(await second.stop('SIGINT')).toMatchObject({ code: 0 });
  });

  it('prints a command to paste that sends a message', async () => {
    const service = await ServiceProcess.start(path.join(await makeFolder(undefined), 'data'));
    const command = /^ *(curl .+?)$\n\n/ms.exec(service.output)?.[1] ?? '';
    expect(command).toContain(service.quickstart.base_url);
    const { stdout, error } = spawnSync('/bin/sh', ['-c', `${command} -i`], { encoding: 'utf8' });
    // Not every machine has curl; then the command is only read.
    if (error === undefined && stdout !== '') {
      const [head = '', body = ''] = stdout.split('\r\n\r\n');
      const requestId = /^x-request-id: (.+)$/im.exec(head)?.[1] ?? '';
      expect(readAnswer(201, new Headers({ 'x-request-id': requestId }), body).data).toMatchObject({ status: 'sent' });
    }
    await service.stop();
  });

  it('runs twice side by side in folders of their own', async () => {
    const [one, two] = (await Promise.all(
      ['one', 'two'].map(async (name) => ServiceProcess.start(path.join(await makeFolder(undefined), name))),
    )) as [ServiceProcess, ServiceProcess];
    expect(one.quickstart.api_key).not.toBe(two.quickstart.api_key);
    const message = await one.api.sent({ to: '+14155550123' });
    expect((await one.api.list()).pagination.total).toBe(1);
    expect((await two.api.list()).pagination.total).toBe(0);
    const { status } = await two.api.request('GET', `/messages/${message.id}`);
    expect(status).toBe(404);
    const strangers = await one.api.at(two.quickstart.base_url).request('GET', '/balance');
    expect(strangers.status).toBe(401);
    expect(await Promise.all([one.stop(), two.stop()])).toMatchObject([{ code: 0 }, { code: 0 }]);
  });

  it('is refused, and says why, where another one uses the folder', async () => {
    const dataDir = path.join(await makeFolder(undefined), 'data');
    const service = await ServiceProcess.start(dataDir);
    await expect(ServiceProcess.start(dataDir)).rejects.toThrow(/in use by another Heliograph/);
    expect((await service.api.send({ to: '+14155550123' })).status).toBe(201);
    await service.stop();
  });

  it('is refused, and says why, where another one uses the port', async () => {
    const occupied = createServer().listen(0, '127.0.0.1');
    await once(occupied, 'listening');
    const { port } = occupied.address() as AddressInfo;
    const dataDir = path.join(await makeFolder(undefined), 'data');
    const starting = ServiceProcess.start(dataDir, { env: { PORT: String(port) } });
    await expect(starting.finally(() => occupied.close())).rejects.toThrow(/EADDRINUSE/);
  });
});

/** As a customer verifies them: with Stripe's library, with that of Standard Webhooks, and by what they say. */
function expectSignedEvents(receiver: Receiver, { signing_secret: secret }: CreatedWebhook, messageId: string): void {
  const stripe = new Stripe('sk_test_unused');
  const types = receiver.requests.map(({ headers, body }) => {
    expect(stripe.webhooks.constructEvent(body, headers['service-signature'] ?? '', secret)).toEqual(JSON.parse(body));
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    const event = JSON.parse(body) as Event;
    expect(event).toMatchObject({ object: 'event', data: { id: messageId, reference: 'order 7' } });
    return event.type;
  });
  expect(types.toSorted()).toEqual(['message.delivered', 'message.sent']);
}
