import Stripe from 'stripe';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../src/http/app.ts';
import { authorize } from '../../src/http/auth.ts';
import type { Scope } from '../../src/http/caller.ts';
import { Metrics } from '../../src/lib/metrics.ts';
import { createFastify } from '../../src/http/fastify.ts';
import { toPublicId } from '../../src/lib/ids.ts';
import { createTargetGuard } from '../../src/webhooks/target.ts';
import { webhookRoutes } from '../../src/webhooks/routes.ts';
import { callerOf, World } from './world.ts';

const receiverUrl = 'http://127.0.0.1:9/hook';

let world: World;
let app: App;
/** Who calls: authentication is not under test here. */
let accountId: string;
let permissions: Scope[];

/** The API over HTTP, as the account of this test. */
async function call(method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) {
  const answer = await app.inject({ method, url, payload });
  return { status: answer.statusCode, body: answer.json<Record<string, never>>() as Record<string, unknown> };
}

function create(body: object) {
  return call('POST', '/webhooks/create', body);
}

async function created(body: object): Promise<Record<string, unknown>> {
  const { status, body: answer } = await create(body);
  expect(status).toBe(201);
  return answer['data'] as Record<string, unknown>;
}

function buildApp(guard = world.guard): App {
  const { log, ids } = world;
  const built = createFastify({ log, ids, trustedProxies: [], metrics: new Metrics() });
  built.addHook('onRequest', async (request) => {
    request.caller = callerOf(accountId, permissions);
    await authorize(request);
  });
  webhookRoutes(built, { ...world.deps, guard, deliverer: world.deliverer() });
  return built;
}

beforeAll(async () => {
  world = await World.start();
  app = buildApp();
});

afterAll(async () => {
  await app.close();
  await world.stop();
});

beforeEach(async () => {
  accountId = await world.account();
  permissions = ['dlr:read'];
});

describe('creating an endpoint', () => {
  test('answers 201 with every field of the resource and the signing secret', async () => {
    const { status, body } = await create({
      url: receiverUrl,
      description: 'orders',
      events: ['message.failed', 'message.sent'],
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      success: true,
      data: {
        id: expect.stringMatching(/^whe_[0-9a-z]{26}$/) as string,
        object: 'webhook_endpoint',
        url: receiverUrl,
        description: 'orders',
        events: ['message.sent', 'message.failed'],
        is_active: true,
        failure_count: 0,
        last_success_at: null,
        last_failure_at: null,
        disabled_at: null,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/) as string,
        signing_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) as string,
      },
      meta: { request_id: expect.stringMatching(/^req_/) as string, api_version: 'v1' },
    });
  });

  test('the secret is told once and verifies what is delivered', async () => {
    const receiver = await world.receiver();
    const { id, signing_secret: secret } = await created({ url: receiver.url });
    const { body } = await call('GET', `/webhooks/${String(id)}`);
    expect(body['data']).not.toHaveProperty('signing_secret');
    const { rows } = await world.pool.query<{ row: string }>(
      'SELECT webhook_endpoints::text AS row FROM webhook_endpoints',
    );
    expect(rows.some(({ row }) => row.includes(String(secret)))).toBe(false);

    const deliverer = world.deliverer();
    deliverer.offer(await world.announce(accountId));
    await deliverer.idle();
    const [request] = receiver.requests;
    const header = request?.headers['service-signature'] ?? '';
    const event = new Stripe('sk_unused').webhooks.constructEvent(request?.body ?? '', header, String(secret));
    expect(event).toMatchObject({ type: 'message.sent' });
  });

  test.each([
    ['omitted', undefined],
    ['*', ['*']],
    ['* among others', ['message.sent', '*', '*']],
    ['all of them, some twice', ['message.failed', 'message.sent', 'message.delivered', 'message.sent']],
  ])('events %s become all three types', async (_what, events) => {
    const data = await created({ url: receiverUrl, events });
    expect(data['events']).toEqual(['message.sent', 'message.delivered', 'message.failed']);
  });

  test('the same type twice is one', async () => {
    const data = await created({ url: receiverUrl, events: ['message.failed', 'message.failed'] });
    expect(data['events']).toEqual(['message.failed']);
  });

  test('fields that nobody knows are ignored', async () => {
    const data = await created({ url: receiverUrl, secret: 'mine', is_active: false });
    expect(data).toMatchObject({ is_active: true, description: null });
  });

  test('a description of 255 characters is kept, and null is none', async () => {
    expect(await created({ url: receiverUrl, description: 'é'.repeat(255) })).toMatchObject({
      description: 'é'.repeat(255),
    });
    expect(await created({ url: receiverUrl, description: null })).toMatchObject({ description: null });
  });

  test.each([
    ['no url', {}, 'url'],
    ['a url that is not one', { url: 'nonsense' }, 'url'],
    ['an empty url', { url: '' }, 'url'],
    ['a url with a blank around it', { url: ' https://example.com/' }, 'url'],
    ['a url with a line feed', { url: 'https://example.com/\n' }, 'url'],
    ['a url without its slashes', { url: 'https:example.com' }, 'url'],
    ['a url with backslashes', { url: 'https:\\\\example.com' }, 'url'],
    ['a url without a host', { url: 'https:///hook' }, 'url'],
    ['a url that is not text', { url: 7 }, 'url'],
    ['a url of another scheme', { url: 'ftp://example.com/' }, 'url'],
    ['a url with credentials', { url: 'https://me:pw@example.com/' }, 'url'],
    ['a url with a NUL', { url: 'https://example.com/\0' }, 'url'],
    ['a url too long', { url: `https://example.com/${'x'.repeat(2_048)}` }, 'url'],
    ['a description too long', { url: receiverUrl, description: 'x'.repeat(256) }, 'description'],
    ['a description with a NUL', { url: receiverUrl, description: 'a\0b' }, 'description'],
    ['a description that is not text', { url: receiverUrl, description: 1 }, 'description'],
    ['no events at all', { url: receiverUrl, events: [] }, 'events'],
    ['events that are not an array', { url: receiverUrl, events: 'message.sent' }, 'events'],
    ['events that are null', { url: receiverUrl, events: null }, 'events'],
    ['an unknown event', { url: receiverUrl, events: ['message.sent', 'message.read'] }, 'events.1'],
    ['an event that is not text', { url: receiverUrl, events: [1] }, 'events.0'],
  ])('%s is a 400 that names the parameter', async (_what, body, param) => {
    const answer = await create(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      success: false,
      error: { type: 'invalid_request_error', code: 'invalid_request', param },
    });
  });

  test.each([['[]'], ['"text"'], ['null'], ['{'], ['']])('the body %s is a 400', async (payload) => {
    const answer = await app.inject({
      method: 'POST',
      url: '/webhooks/create',
      headers: { 'content-type': 'application/json' },
      payload,
    });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ success: false, error: { code: 'invalid_request' } });
  });

  test('an account has at most 50 endpoints, even when many are made at once', async () => {
    const answers = await Promise.all(Array.from({ length: 55 }, () => create({ url: receiverUrl })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(50);
    expect(answers.find(({ status }) => status !== 201)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request', message: expect.stringContaining('50 webhook endpoints') as string } },
    });
    const { body } = await call('GET', '/webhooks');
    expect((body['data'] as { data: unknown[] }).data).toHaveLength(50);
  });

  test('a private address is refused where only the public internet is allowed', async () => {
    const strict = buildApp(createTargetGuard({ allowPrivate: false, allowedNetworks: [] }, async () => []));
    const answer = await strict.inject({ method: 'POST', url: '/webhooks/create', payload: { url: receiverUrl } });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ error: { param: 'url', code: 'invalid_request' } });
    await strict.close();
  });
});

describe('reading endpoints', () => {
  test('a list wraps the endpoints of the account alone, newest first, without secrets', async () => {
    const first = await created({ url: receiverUrl });
    const second = await created({ url: receiverUrl });
    await world.endpoint(receiverUrl);
    const { status, body } = await call('GET', '/webhooks');
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, data: { object: 'list' } });
    expect(body).not.toHaveProperty('pagination');
    const { data } = body['data'] as { data: Array<Record<string, unknown>> };
    expect(data.map(({ id }) => id)).toEqual([second['id'], first['id']]);
    expect(JSON.stringify(data)).not.toContain('whsec_');
  });

  test('an account without endpoints has an empty list', async () => {
    expect((await call('GET', '/webhooks')).body).toMatchObject({ data: { object: 'list', data: [] } });
  });

  test('one is retrieved by its id', async () => {
    const { signing_secret: _secret, ...endpoint } = await created({ url: receiverUrl });
    const { status, body } = await call('GET', `/webhooks/${String(endpoint['id'])}`);
    expect(status).toBe(200);
    expect(body['data']).toEqual(endpoint);
  });

  test.each(['GET', 'DELETE'] as const)(
    '%s of an id that is unknown, malformed or of another account is a 404',
    async (method) => {
      const { endpointId } = await world.endpoint(receiverUrl);
      const ids = [
        'whe_01h455vb4pex5vsknk084sn02q',
        'msg_01h455vb4pex5vsknk084sn02q',
        'whe_',
        'whe_01h455vb4pex5vsknk084sn02',
        'whe_zzzzzzzzzzzzzzzzzzzzzzzzzz',
        '%00',
        endpointId,
        toPublicId('whe', endpointId),
      ];
      for (const id of ids) {
        const { status, body } = await call(method, `/webhooks/${id}`);
        expect(status).toBe(404);
        expect(body).toMatchObject({ success: false, error: { type: 'invalid_request_error', code: 'not_found' } });
      }
      expect(await world.endpointState(endpointId)).toMatchObject({ is_active: true });
    },
  );
});

describe('deleting an endpoint', () => {
  test('answers with the deleted marker; the endpoint is gone and gets nothing more', async () => {
    const receiver = await world.receiver();
    const { id } = await created({ url: receiver.url });
    const [fresh] = await world.announce(accountId);
    const { status, body } = await call('DELETE', `/webhooks/${String(id)}`);
    expect(status).toBe(200);
    expect(body['data']).toEqual({ id, object: 'webhook_endpoint', deleted: true });
    expect((await call('GET', `/webhooks/${String(id)}`)).status).toBe(404);
    expect((await call('DELETE', `/webhooks/${String(id)}`)).status).toBe(404);
    expect(await world.announce(accountId)).toEqual([]);
    await expect.poll(() => world.delivery(fresh?.delivery.eventId ?? '')).toEqual({ status: 'skipped', attempts: [] });
    expect(receiver.requests).toHaveLength(0);
  });

  test('makes room for another', async () => {
    const { id } = await created({ url: receiverUrl });
    for (let made = 1; made < 50; made += 1) await created({ url: receiverUrl });
    expect((await create({ url: receiverUrl })).status).toBe(400);
    await call('DELETE', `/webhooks/${String(id)}`);
    expect((await create({ url: receiverUrl })).status).toBe(201);
  });
});

describe('scopes', () => {
  const calls = [
    ['GET', '/webhooks', undefined],
    ['POST', '/webhooks/create', { url: receiverUrl }],
    ['GET', '/webhooks/whe_01h455vb4pex5vsknk084sn02q', undefined],
    ['DELETE', '/webhooks/whe_01h455vb4pex5vsknk084sn02q', undefined],
  ] as const;

  test.each(calls)('%s %s takes dlr:read or sms:read, and nothing else', async (method, url, payload) => {
    permissions = ['sms:send', 'sms:bulk', 'balance:read'];
    expect(await call(method, url, payload)).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
    permissions = ['sms:read'];
    expect((await call(method, url, payload)).status).not.toBe(403);
    permissions = ['dlr:read'];
    expect((await call(method, url, payload)).status).not.toBe(403);
  });
});
