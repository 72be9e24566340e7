import http from 'node:http';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServedDocument } from '../contract/document.ts';
import { readAnswer } from '../helpers/client.ts';
import { operatorToken, TestService } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';
import { Operator } from '../operator/operator.ts';
import { asciiText, bodyOf, headers, queryOf, segmentOf, type Hints, type Schema } from './arbitrary-values.ts';

const service = await TestService.start();
afterAll(() => service.stop());

const documents = {
  '/api/v1': await ServedDocument.fetch(`${service.app.url}/openapi.json`),
  '/operator/v1': await ServedDocument.fetch(`${service.app.url}/operator/openapi.json`),
};
type Prefix = keyof typeof documents;

type Parameter = { in: string; name: string; schema: Schema };
type Route = { prefix: Prefix; method: string; path: string; body: Schema | undefined; parameters: Parameter[] };

const routes: Route[] = (Object.keys(documents) as Prefix[]).flatMap((prefix) =>
  Object.entries(documents[prefix].document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { requestBody, parameters = [] } = operation as {
        requestBody?: { content: Record<string, { schema: Schema }> };
        parameters?: Parameter[];
      };
      const body = requestBody?.content['application/json']?.schema;
      return { prefix, method: method.toUpperCase(), path, body, parameters };
    }),
  ),
);

let key: string;
let callbacks: string[];
let hints: Hints;
/** Ids that there are, by what stands before them in the path. */
let ids: Record<string, string[]>;
/** The same for what a request takes away: nothing else needs these. */
let spares: Record<string, string[]>;

beforeAll(async () => {
  const operator = new Operator(service);
  const { api } = await service.account({ balance: 1_000_000 });
  key = api.key;
  const message = await api.sent({ to: '+14155550101' });
  const other = await api.sent({ to: '+14155550102', provider: 'vonage' });
  const asked = [...(await service.asked(message.to)), ...(await service.asked(other.to))];
  callbacks = asked.flatMap(({ callbackUrl }) => (callbackUrl === null ? [] : [new URL(callbackUrl).pathname]));
  const endpoint = await api.createWebhook({ url: 'http://127.0.0.1:9/' });
  const { data: spare } = await api.request<{ id: string }>('POST', '/api-keys/create', { json: { name: 'spare' } });
  const { data: sender } = await api.request<{ id: string }>('POST', '/senders/create', { json: { sender_id: 'X1' } });
  const victim = await operator.createAccount();
  const { key: victimKey } = await operator.createKey(victim.id);
  const closable = await operator.createAccount();
  const spareEndpoint = await api.createWebhook({ url: 'http://127.0.0.1:9/' });
  const event = await until('an event', async () => (await api.eventsOf(message.id))[0]);

  ids = {
    accounts: [victim.id],
    'api-keys': [spare.id, victimKey.id],
    messages: [message.id, event.id],
    senders: [sender.id],
    webhooks: [endpoint.id],
  };
  spares = { ...ids, accounts: [closable.id], webhooks: [spareEndpoint.id] };
  hints = {
    account: [victim.id, 'acc_01h455vb4pex5vsknk084sn02q'],
    endpoint: [endpoint.id, 'whe_01h455vb4pex5vsknk084sn02q'],
    event: [event.id, event.id, message.id],
    cursor: [event.id, victim.id, '+14155550101', '01939d2c-7f3a-7abc-8def-0123456789ab'],
    to: ['+14155550101', '+99901001', 'nobody'],
    recipients: [['+14155550101', 'nobody', '+99901001'], ['+14155550101']],
    number: ['+14155550177', '+1'],
    from: ['HELIO', 'helio', '2020-01-01T00:00:00Z', '2126-11-20T00:00:00Z'],
    until: ['2026-11-20T00:00:00Z', '2126-11-20T00:00:00+00:00'],
    body: ['Hello', '😀'.repeat(800), 'x'.repeat(1_601), ''],
    amount: [5, -1, 0.0079, 0.00000001, 1e9],
    note: ['because', ''],
    name: ['Ana', ''],
    created_after: ['2026-11-20T00:00:00Z', '2026-02-30T00:00:00Z'],
    created_before: ['9999-12-31T23:59:60Z', '0000-01-01T00:00:00+23:59'],
    expires_at: ['2126-11-20T00:00:00Z', '2000-01-01T00:00:00Z', null],
    provider: ['twilio', 'vonage', 'smpp', null],
    route_id: [1, 2, 99, null],
    url: ['http://127.0.0.1:9/', 'https://[::1]:9/', 'http://', 'ftp://example.com', 'javascript:1', 'http://a:b@c'],
    permissions: [['sms:send'], ['sms:read', 'sms:read'], ['all']],
    allowed_ips: [['127.0.0.1'], ['::1'], null],
    email: ['ana@example.com', 'nobody'],
    currency: ['USD', 'EUR', 'usd'],
    country: ['PT', 'pt', 'xx'],
    country_code: ['GB', '12', null],
    sender_id: ['A1', 'B2', '12345', '+15005550007'],
  };
});

type Asked = { method: string; path: string; headers: http.OutgoingHttpHeaders; body: string };

/** A request by hand, for what `fetch` refuses to send. */
async function ask({ method, path, headers: given, body }: Asked) {
  const { hostname, port } = new URL(service.app.url);
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  const sending = http.request({ hostname, port, method, path, headers: given }, resolve);
  sending.on('error', reject);
  sending.end(body);
  const response = await promise;
  const content = await text(response);
  return {
    status: response.statusCode ?? 0,
    headers: new Headers(response.headers as Record<string, string>),
    content,
  };
}

const credentials = fc.oneof(
  { weight: 12, arbitrary: fc.constant('right') },
  { weight: 1, arbitrary: fc.constantFrom('', 'Bearer', 'Bearer x', `Bearer ds_live_${'0'.repeat(40)}`, 'Basic x:y') },
);

function authorizationFor(prefix: string, credential: string): string {
  if (credential !== 'right') return credential;
  return `Bearer ${prefix === '/operator/v1' ? operatorToken : key}`;
}

/** The path with something in each of its places. */
function pathOf({ prefix, method, path }: Route): fc.Arbitrary<string> {
  const isLoss = method === 'DELETE' ? path.startsWith('/webhooks') : path.endsWith('/close');
  const known = isLoss ? spares : ids;
  const parts = path.split('/').slice(1);
  const segments = parts.map((part, index) => {
    if (!part.startsWith('{')) return fc.constant(part);
    return segmentOf(known[part === '{key}' ? 'api-keys' : (parts[index - 1] ?? '')] ?? ['x']);
  });
  return fc.tuple(...segments).map((filled) => `${prefix}/${filled.join('/')}`);
}

// Answers are held to the envelope, the closed list of statuses, the catalogue of codes, and to what the document says of the operation.
describe('whatever is sent to it, in path, query, headers and body, keeps to the contract and fails on nobody:', () => {
  test.each(routes.map((route) => [`${route.method} ${route.prefix}${route.path}`, route] as const))(
    '%s',
    async (_name, route) => {
      const { prefix, method, path: pattern, body, parameters } = route;
      const requests = fc.record({
        path: pathOf(route),
        query: queryOf(
          parameters.filter((parameter) => parameter.in === 'query'),
          hints,
        ),
        headers,
        credential: credentials,
        body: body === undefined ? fc.constantFrom('', '', '', '{}', '{}', '{') : bodyOf(body, hints),
      });
      const sound = fc.asyncProperty(requests, async (asked) => {
        const answer = await ask({
          method,
          path: `${asked.path}?${asked.query}`,
          headers: { ...asked.headers, authorization: authorizationFor(prefix, asked.credential) },
          body: method === 'GET' ? '' : asked.body,
        });
        const { status, headers: _headers, ...envelope } = readAnswer(answer.status, answer.headers, answer.content);
        expect(status, answer.content).not.toBe(500);
        const success = { success: status < 400, ...envelope };
        documents[prefix].expectAnswer(method, pattern, status, success);
        if (status >= 400) expect(codesOf(route, status), answer.content).toContain(envelope.error.code);
      });
      await fc.assert(sound, { numRuns: 80 });
    },
  );

  test('every path and method there is not', async () => {
    const requests = fc.record({
      method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'),
      prefix: fc.constantFrom('/api/v1/', '/operator/v1/', '/api/', '/operator/', '/receipts/', '/'),
      rest: asciiText(30),
      headers,
      credential: credentials,
      body: fc.constantFrom('', '{}', '{'),
    });
    // These are pages for people and machines that speak no envelope.
    const isOther = /^\/+(docs|operator\/docs|livez|readyz|metrics|openapi\.json|operator\/openapi\.json|console)/;
    const sound = fc.asyncProperty(requests, async ({ method, prefix, rest, ...asked }) => {
      const path = prefix + rest;
      fc.pre(!isOther.test(path));
      const authorization = authorizationFor(prefix.slice(0, -1), asked.credential);
      const answer = await ask({ method, path, headers: { ...asked.headers, authorization }, body: asked.body });
      const { status } = readAnswer(answer.status, answer.headers, answer.content);
      expect(status, path).not.toBe(500);
    });
    await fc.assert(sound, { numRuns: 400 });
  });

  test('where upstreams report', async () => {
    const requests = fc.record({
      method: fc.constantFrom('GET', 'POST'),
      path: fc.oneof(
        fc.constantFrom(...callbacks),
        fc
          .tuple(fc.constantFrom('twilio', 'vonage', 'nobody'), segmentOf(['x']))
          .map(([name, ref]) => `/receipts/${name}/${ref}`),
      ),
      query: asciiText(40),
      headers,
      signature: fc.constantFrom('', 'x', 'Bearer x', 'Bearer a.b.c'),
      body: fc.oneof(
        fc.json(),
        fc.string({ unit: 'binary', maxLength: 200 }),
        fc.constantFrom('MessageStatus=delivered&MessageSid=SM1', '{"status":"delivered","message_uuid":"x"}'),
      ),
    });
    const sound = fc.asyncProperty(requests, async ({ method, path, query, signature, ...asked }) => {
      const signed = { 'x-twilio-signature': signature, authorization: signature };
      const answer = await ask({
        method,
        path: `${path}?${query}`,
        headers: { ...asked.headers, ...signed },
        body: method === 'GET' ? '' : asked.body,
      });
      const { status } = readAnswer(answer.status, answer.headers, answer.content);
      expect([400, 403, 404]).toContain(status);
    });
    await fc.assert(sound, { numRuns: 200 });
  });
});

/** The errors the document shows for a status of an operation. */
function codesOf({ prefix, method, path }: Route, status: number): string[] {
  const operation = documents[prefix].document.paths[path]?.[method.toLowerCase()];
  const response = operation?.responses[String(status)] as
    | { content: Record<string, { examples: object }> }
    | undefined;
  return Object.keys(response?.content['application/json']?.examples ?? {});
}
