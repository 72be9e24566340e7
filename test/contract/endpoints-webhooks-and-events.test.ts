import { describe, expect, test } from 'vitest';
import { until } from './until.ts';
import { api, inState } from './client.ts';
import { Inbox } from './inbox.ts';
import type { Event } from './resources.ts';

const types = ['message.sent', 'message.delivered', 'message.failed'];

function page(number: number): Promise<Event[]> {
  return api.get('GET /events', { query: { limit: 1, page: number } });
}

describe('GET /webhooks', () => {
  test('answers 200 with the wrapped list of webhook endpoints', async () => {
    await using inbox = await Inbox.open();
    const { status, data } = await api.call('GET /webhooks');
    expect(status).toBe(200);
    expect(data.data.map(({ id }) => id)).toContain(inbox.endpoint.id);
  });
});

describe('POST /webhooks/create', () => {
  test('answers 201 with the webhook endpoint and signing_secret', async () => {
    const answer = await api.call('POST /webhooks/create', { json: { url: 'http://127.0.0.1:9/' } });
    await api.get('DELETE /webhooks/{id}', { id: answer.data.id });
    expect(answer.status).toBe(201);
    expect(answer.data).toMatchObject({ object: 'webhook_endpoint', signing_secret: expect.any(String) as string });
  });
  test('url is required, a URI; HTTPS and plain HTTP are accepted', async () => {
    for (const url of ['https://127.0.0.1:9/hook?a=b', 'http://127.0.0.1:9/hook']) {
      const endpoint = await api.get('POST /webhooks/create', { json: { url } });
      await api.get('DELETE /webhooks/{id}', { id: endpoint.id });
      expect(endpoint.url).toBe(url);
    }
    for (const url of [undefined, 'not a url', 'ftp://127.0.0.1/']) {
      expect((await api.fail(400, 'POST /webhooks/create', { json: { url } })).param).toBe('url');
    }
  });
  test('description, a string, is optional', async () => {
    await using inbox = await Inbox.open({ description: 'Orders, live' });
    expect(inbox.endpoint.description).toBe('Orders, live');
    const json = { url: inbox.endpoint.url, description: 7 };
    expect((await api.fail(400, 'POST /webhooks/create', { json })).param).toBe('description');
  });
  test('events, each * or one of three types, is optional', async () => {
    for (const events of [undefined, ['*'], ...types.map((type) => [type]), types]) {
      await using inbox = await Inbox.open({ events });
      const wanted = events === undefined || events.includes('*') ? types : events;
      expect(inbox.endpoint.events.toSorted()).toEqual(wanted.toSorted());
    }
    const json = { url: 'http://127.0.0.1:9/', events: ['message.read'] };
    expect((await api.fail(400, 'POST /webhooks/create', { json })).param).toMatch(/^events/);
  });
});

describe('GET /webhooks/{id}', () => {
  test('answers 200 with the webhook endpoint of that id', async () => {
    await using inbox = await Inbox.open();
    const { id, url } = inbox.endpoint;
    expect(await api.call('GET /webhooks/{id}', { id })).toMatchObject({ status: 200, data: { id, url } });
  });
  test('answers 404 when there is no such endpoint', async () => {
    const error = await api.fail(404, 'GET /webhooks/{id}', { id: 'whe_00000000000000000000000000' });
    expect(error.code).toBe('not_found');
  });
});

describe('DELETE /webhooks/{id}', () => {
  test('answers 200 with the deleted marker, and the endpoint is gone', async () => {
    const { id } = await api.get('POST /webhooks/create', { json: { url: 'http://127.0.0.1:9/' } });
    const { status, data } = await api.call('DELETE /webhooks/{id}', { id });
    expect({ status, ...data }).toMatchObject({ status: 200, id, deleted: true });
    await api.fail(404, 'GET /webhooks/{id}', { id });
  });
});

describe('GET /events', () => {
  test('answers 200 with an array of Event and pagination', async () => {
    await api.send();
    const { status, data, pagination } = await api.call('GET /events', { query: { limit: 10 } });
    expect(status).toBe(200);
    expect(data.length).toBeGreaterThan(0);
    expect(pagination).toMatchObject({ page: 1, limit: 10 });
  });
  test('type, one of three, filters', async () => {
    const { id } = await api.send();
    await inState(id, 'delivered');
    for (const type of types) {
      const events = await api.get('GET /events', { query: { type, limit: 100 } });
      expect(events.filter((event) => event.type !== type)).toEqual([]);
    }
    expect((await api.get('GET /events', { query: { type: 'message.sent' } })).length).toBeGreaterThan(0);
    expect((await api.fail(400, 'GET /events', { query: { type: 'message.read' } })).param).toBe('type');
  });
  test('page and limit choose the part', async () => {
    await api.send();
    await api.send();
    await until('two pages differ; what others send meanwhile moves the list on', async () => {
      const [first, second] = [await page(1), await page(2)];
      expect([first.length, second.length]).toEqual([1, 1]);
      return first[0]?.id !== second[0]?.id;
    });
  });
});
