import { describe, expect, test } from 'vitest';
import { api, Client, inState, recipient, sendBody } from './client.ts';

describe('GET /messages/{id}', () => {
  test('answers 200 with the Message of that id', async () => {
    const message = await api.send();
    const { status, data } = await api.call('GET /messages/{id}', { id: message.id });
    expect(status).toBe(200);
    expect(data).toMatchObject({ id: message.id, to: message.to, body: message.body });
  });
  test('answers 401 without a valid key', async () => {
    await new Client(null).fail(401, 'GET /messages/{id}', { id: (await api.send()).id });
  });
  test('answers 404 when there is no such message', async () => {
    expect((await api.fail(404, 'GET /messages/{id}', { id: 'msg_00000000000000000000000000' })).code).toBe(
      'not_found',
    );
  });
});

describe('GET /messages', () => {
  test('answers 200 with an array of Message and pagination', async () => {
    const { id } = await api.send();
    const { status, data, pagination } = await api.call('GET /messages', { query: { limit: 100 } });
    expect(status).toBe(200);
    expect(data.map((message) => message.id)).toContain(id);
    expect(pagination).toMatchObject({ page: 1, limit: 100 });
  });

  test('status, one of five, filters', async () => {
    const to = recipient();
    const { id } = await api.send({ to });
    await inState(id, 'delivered');
    for (const status of ['pending', 'sent', 'delivered', 'failed', 'undelivered']) {
      const messages = await api.get('GET /messages', { query: { to, status } });
      expect(messages.map((message) => message.id)).toEqual(status === 'delivered' ? [id] : []);
    }
    expect((await api.fail(400, 'GET /messages', { query: { status: 'lost' } })).param).toBe('status');
  });

  test('to filters by recipient', async () => {
    const { id, to } = await api.send();
    await api.send();
    expect((await api.get('GET /messages', { query: { to } })).map((message) => message.id)).toEqual([id]);
    expect(await api.get('GET /messages', { query: { to: recipient() } })).toEqual([]);
  });

  test('created_after and created_before filter by time', async () => {
    const { id, to, created_at } = await api.send();
    const [earlier, later] = [-1_000, 1_000].map((ms) => new Date(Date.parse(created_at) + ms).toISOString());
    const ids = async (query: Record<string, string | undefined>) => {
      const given = Object.entries(query).filter(([, time]) => time !== undefined) as Array<[string, string]>;
      const messages = await api.get('GET /messages', { query: { to, ...Object.fromEntries(given) } });
      return messages.map((message) => message.id);
    };
    expect(await ids({ created_after: earlier, created_before: later })).toEqual([id]);
    expect(await ids({ created_after: later })).toEqual([]);
    expect(await ids({ created_before: earlier })).toEqual([]);
    for (const name of ['created_after', 'created_before']) {
      expect((await api.fail(400, 'GET /messages', { query: { [name]: 'yesterday' } })).param).toBe(name);
    }
  });

  test('page and limit choose the part', async () => {
    const to = recipient();
    await api.get('POST /messages/bulk', { json: { ...sendBody({ to: undefined }), recipients: [to, to, to] } });
    const first = await api.get('GET /messages', { query: { to, limit: 2 } });
    const second = await api.get('GET /messages', { query: { to, limit: 2, page: 2 } });
    expect([first.length, second.length]).toEqual([2, 1]);
    expect(new Set([...first, ...second].map(({ id }) => id)).size).toBe(3);
  });

  test('answers 401 without a valid key', async () => {
    await new Client(null).fail(401, 'GET /messages');
  });
});
