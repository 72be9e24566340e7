import path from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { cleanUp, makeFolder } from '../helpers/embedded.ts';
import { endProcesses, ServiceProcess } from '../helpers/process.ts';
import { until } from '../helpers/until.ts';
import { postControl } from '../simulator/control-client.ts';
import { hang, Receiver } from '../webhooks/receiver.ts';

afterEach(endProcesses);
afterAll(() => cleanUp());

describe('a service that is asked to stop', { timeout: 150_000 }, () => {
  it('while it sends ends with 0 within 15 s, and nothing it acknowledged is lost', async () => {
    const dataDir = path.join(await makeFolder(undefined), 'data');
    const first = await ServiceProcess.start(dataDir);
    await postControl(first.quickstart.simulator_url, '/providers/twilio', { latencyMs: 3_000 });
    // More than the lane for bulks takes at a time: some still wait for their turn.
    const recipients = Array.from({ length: 300 }, (_, index) => `+33612${String(index).padStart(6, '0')}`);
    const bulk = first.api.bulk({ recipients });
    const singles = Array.from({ length: 40 }, (_, index) => first.api.send({ to: `+3361300000${index}` }));
    await until('all are accepted', async () => (await first.api.list()).pagination.total === 340);

    const end = await first.stop();
    expect(end).toMatchObject({ code: 0 });
    expect(end.tookMs).toBeLessThan(15_000);
    const answers = await Promise.all(singles);
    expect(answers.map(({ status, data }) => [status, data.status])).toEqual(answers.map(() => [201, 'sent']));
    const { status, data } = await bulk;
    expect({ status, total: data.total, failed: data.failed }).toEqual({ status: 201, total: 300, failed: 0 });
    const waiting = data.messages.filter((message) => message.status === 'pending');
    expect(waiting.length).toBeGreaterThan(0);

    const second = await ServiceProcess.start(dataDir);
    expect((await second.api.list()).pagination.total).toBe(340);
    await until(
      'what still waited is sent when its lease has run out',
      async () => (await second.api.list({ status: 'pending' })).pagination.total === 0,
      45_000,
    );
    for (const { id } of [...waiting, ...answers.map((answer) => answer.data)]) {
      expect(['sent', 'delivered']).toContain((await second.api.get(id)).status);
    }
    expect(await second.api.balance()).toBeCloseTo(100 - 3.4, 6);
    expect(await second.stop()).toMatchObject({ code: 0 });
  });

  it('while a provider and a webhook receiver are silent ends with 0 within 15 s', async () => {
    const dataDir = path.join(await makeFolder(undefined), 'data');
    const service = await ServiceProcess.start(dataDir);
    const receiver = await Receiver.start(hang);
    await service.api.createWebhook({ url: receiver.url });
    await service.api.sent({ to: '+14155550123' });
    await receiver.received(1);
    const sending = service.api.send({ to: '+9990100701' });
    await until(
      'a provider is asked',
      async () => (await service.api.list({ status: 'pending' })).pagination.total === 1,
    );
    const end = await service.stop();
    expect(end).toMatchObject({ code: 0 });
    expect(end.tookMs).toBeLessThan(15_000);
    expect((await sending).status).toBe(201);
    await receiver.stop();
  });

  it('ends at once by one more signal, while it waits for a provider', async () => {
    const dataDir = path.join(await makeFolder(undefined), 'data');
    const service = await ServiceProcess.start(dataDir);
    const sending = service.api.send({ to: '+9990100701' }).catch(() => undefined);
    await until(
      'a provider is asked',
      async () => (await service.api.list({ status: 'pending' })).pagination.total === 1,
    );
    service.child.kill('SIGTERM');
    await until('it ends, asked again and again', () => {
      service.child.kill('SIGTERM');
      return service.child.exitCode !== null;
    });
    expect(service.child.exitCode).toBe(1);
    await sending;
  });
});
