import { expect, test } from 'vitest';
import { api, served, target } from './client.ts';

test('the version is in the path prefix /api/v1', async () => {
  expect(new URL(target.baseUrl).pathname).toMatch(/\/api\/v1$/);
  expect(served.document.servers.map(({ url }) => url.replace(/\/$/, ''))).toContainEqual(
    expect.stringMatching(/\/api\/v1$/),
  );
  const unversioned = await fetch(target.baseUrl.replace(/\/v1$/, '/balance'), {
    headers: { authorization: `Bearer ${api.key}` },
  });
  expect(unversioned.status).toBe(404);
});

test('meta.api_version is v1', async () => {
  expect((await api.call('GET /balance')).meta.api_version).toBe('v1');
  expect((await api.call('GET /messages/{id}', { id: 'msg_0' })).meta.api_version).toBe('v1');
});
