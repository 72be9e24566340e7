import http from 'node:http';
import { expect, it } from 'vitest';
import { TestService } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';

it('a service that stops answers what it has begun, and does not wait for connections that callers keep open', async () => {
  const service = await TestService.start();
  const { api } = await service.account();
  await service.disturb('twilio', { latencyMs: 700 });
  const agent = new http.Agent({ keepAlive: true });
  const sending = new Promise<number>((resolve, reject) => {
    const request = http.request(`${service.baseUrl}/messages/send`, {
      method: 'POST',
      agent,
      headers: { authorization: `Bearer ${api.key}`, 'content-type': 'application/json' },
    });
    request.on('error', reject);
    request.on('response', (response) => response.resume().on('end', () => resolve(response.statusCode ?? 0)));
    request.end(JSON.stringify({ to: '+14155550123', from: 'HELIO', body: 'Hello' }));
  });
  await until('it is being sent', async () => (await api.list({ status: 'pending' })).pagination.total === 1);
  const startedAt = performance.now();
  await service.stop();
  expect(await sending).toBe(201);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  agent.destroy();
});
