import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from './until.ts';
import { fail, ok } from '../webhooks/receiver.ts';
import { api, time } from './client.ts';
import { Inbox } from './inbox.ts';
import type { WebhookEndpoint } from './resources.ts';

describe('the Webhook endpoint has', () => {
  let inbox: Inbox;
  let isBroken = false;
  const read = () => api.get('GET /webhooks/{id}', { id: inbox.endpoint.id });
  const once = (what: string, holds: (endpoint: WebhookEndpoint) => boolean) =>
    until(what, async () => {
      const endpoint = await read();
      return holds(endpoint) && endpoint;
    });

  beforeAll(async () => {
    const fields = { description: 'Orders', events: ['message.sent', 'message.failed'] };
    inbox = await Inbox.open(fields, () => (isBroken ? fail : ok));
  });
  afterAll(() => inbox[Symbol.asyncDispose]());

  test('id, with the prefix whe_', () => expect(inbox.endpoint.id).toMatch(/^whe_./));
  test('object, which is webhook_endpoint', () => expect(inbox.endpoint.object).toBe('webhook_endpoint'));
  test('url, the URI that was given', async () => {
    expect(URL.canParse(inbox.endpoint.url)).toBe(true);
    expect((await read()).url).toBe(inbox.endpoint.url);
  });
  test('description, as it was given, or null', async () => {
    expect((await read()).description).toBe('Orders');
    await using other = await Inbox.open();
    expect(other.endpoint.description).toBeNull();
  });
  test('events, each one of three types', async () => {
    expect((await read()).events.toSorted()).toEqual(['message.failed', 'message.sent']);
  });
  test('is_active, true at first', () => expect(inbox.endpoint.is_active).toBe(true));
  test('signing_secret, with the prefix whsec_, in the answer to its creation alone', async () => {
    expect(inbox.endpoint.signing_secret).toMatch(/^whsec_./);
    expect(Object.keys(await read())).not.toContain('signing_secret');
    expect(JSON.stringify(await api.get('GET /webhooks'))).not.toContain(inbox.endpoint.signing_secret);
  });
  test('created_at, a time', () => expect(inbox.endpoint.created_at).toMatch(time));
  test('disabled_at, null while it is active', async () => expect((await read()).disabled_at).toBeNull());
  test('last_success_at, null until a delivery was acknowledged', async () => {
    expect(inbox.endpoint.last_success_at).toBeNull();
    await api.send();
    const { last_success_at } = await once('a success is noted', ({ last_success_at: at }) => at !== null);
    expect(last_success_at).toMatch(time);
  });
  test('last_failure_at, null until a delivery failed', async () => {
    expect(inbox.endpoint.last_failure_at).toBeNull();
    isBroken = true;
    await api.send();
    const { last_failure_at } = await once('a failure is noted', ({ last_failure_at: at }) => at !== null);
    expect(last_failure_at).toMatch(time);
  });
  test('failure_count, an integer that a failure raises', async () => {
    expect(inbox.endpoint.failure_count).toBe(0);
    const before = await once('a failure is counted', ({ failure_count: count }) => count > 0);
    await api.send();
    await once('another failure is counted', ({ failure_count: count }) => count > before.failure_count);
  });
});
