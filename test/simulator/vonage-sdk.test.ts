import { createHash } from 'node:crypto';
import { Auth } from '@vonage/auth';
import { verifySignature } from '@vonage/jwt';
import { Messages } from '@vonage/messages';
import { Direction, Product, Reports } from '@vonage/reports';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Simulator, simulatorCredentials, startSimulator } from '../../src/simulator/simulator.ts';
import { signVonageCallback } from '../../src/simulator/upstreams/vonage.ts';
import { type Receiver, startReceiver } from './receiver.ts';

const { apiKey, apiSecret, signatureSecret } = simulatorCredentials.vonage;

let simulator: Simulator;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  simulator = await startSimulator({ port: 0, deliveryDelayMs: 60 });
});

afterAll(async () => {
  await simulator.stop();
  await receiver.stop();
});

const sms = { channel: 'sms', messageType: 'text', to: '447700900123', from: 'HELIO', text: 'Hello' } as const;

function sdk(options: { apiHost?: string; secret?: string } = {}): Messages {
  const auth = new Auth({ apiKey, apiSecret: options.secret ?? apiSecret });
  return new Messages(auth, { apiHost: options.apiHost ?? `${simulator.url}/vonage` });
}

/** The Reports client's types leave out `id`, which the API takes. */
function recordsOf(id: string, { secret = apiSecret, ...changes }: { secret?: string; accountId?: string } = {}) {
  const client = new Reports(new Auth({ apiKey, apiSecret: secret }), { apiHost: `${simulator.url}/vonage` });
  const question = { product: Product.MESSAGES as const, accountId: apiKey, direction: Direction.OUTBOUND, id };
  return client.getRecords({ ...question, ...changes });
}

/** The problem document behind the error that the SDK raises. */
async function problemOf(
  sent: Promise<unknown>,
): Promise<{ status: number; contentType: string | null; body: Problem }> {
  const error: unknown = await sent.then(
    () => new Error('The message was accepted.'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error && 'response' in error && error.response instanceof Response)) throw error;
  const { response } = error;
  const body = (await response.json()) as Problem;
  return { status: response.status, contentType: response.headers.get('content-type'), body };
}

/** Status and problem of the answer to a query that the SDK would never send. */
async function recordsRefusal(query: string): Promise<[status: number, problem: Problem]> {
  const headers = { Authorization: `Basic ${btoa(`${apiKey}:${apiSecret}`)}` };
  const response = await fetch(`${simulator.url}/vonage/v2/reports/records?${query}`, { headers });
  return [response.status, (await response.json()) as Problem];
}

/** Status and named parameters of the answer to a body that the SDK would never send. */
async function rejection(body: string) {
  const headers = { Authorization: `Basic ${btoa(`${apiKey}:${apiSecret}`)}`, 'Content-Type': 'application/json' };
  const response = await fetch(`${simulator.url}/vonage/v1/messages`, { method: 'POST', headers, body });
  const problem = (await response.json()) as Problem;
  return [response.status, problem.invalid_parameters?.map(({ name }) => name)];
}

type Problem = { type: string; title: string; detail: string; invalid_parameters?: { name: string }[] };

describe('the official SDK', () => {
  it.each(['/vonage', ''])('sends a message and gets its uuid, under base path "%s"', async (basePath) => {
    const { messageUUID } = await sdk({ apiHost: simulator.url + basePath }).send(sms);
    expect(messageUUID).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  it.each([
    ['an invalid recipient', '99901002101', 422, 'messages#1170'],
    ['an opted-out recipient', '99901003101', 422, 'messages#1240'],
    ['an account out of funds', '99901004101', 402, '#low-balance'],
    ['an outage', '99901006101', 503, 'messages#1030'],
    ['throttling', '99901013101', 429, 'messages#1000'],
  ])('raises the problem of %s', async (_name, to, status, type) => {
    const problem = await problemOf(sdk().send({ ...sms, to }));
    expect(problem).toMatchObject({ status, contentType: 'application/problem+json' });
    expect(problem.body.type).toBe(`https://developer.vonage.com/api-errors${type.startsWith('#') ? '' : '/'}${type}`);
    expect(problem.body).toMatchObject({ title: expect.any(String), detail: expect.any(String) });
  });

  it('raises 401 for a wrong secret', async () => {
    const problem = await problemOf(sdk({ secret: 'wrong' }).send(sms));
    expect(problem).toMatchObject({ status: 401, body: { title: 'Unauthorized' } });
    expect(problem.body.type).toMatch(/#unauthorized$/);
  });

  it.each([
    ['to', { to: '+447700900123' }],
    ['to', { to: '12345' }],
    ['from', { from: 'A name too long' }],
    ['text', { text: '' }],
    ['text', { text: 'x'.repeat(1_001) }],
    ['channel', { channel: 'pigeon' }],
    ['message_type', { messageType: 'image' }],
    ['client_ref', { clientRef: 'x'.repeat(101) }],
    ['webhook_url', { webhookUrl: 'example.com/callback' }],
    ['webhook_version', { webhookVersion: 'v0.1' as const }],
    ['ttl', { ttl: 1 }],
    ['sms', { sms: { encodingType: 'latin1' as 'text' } }],
  ])('raises 422 and names %s for %o', async (name, fields) => {
    const { status, body } = await problemOf(sdk().send({ ...sms, ...fields }));
    expect(status).toBe(422);
    expect(body.type).toBe('https://developer.vonage.com/api-errors/messages#1150');
    expect(body.invalid_parameters?.map((parameter) => parameter.name)).toEqual([name]);
  });
});

it('a body that is no JSON object is invalid, and one without fields misses every required one', async () => {
  expect(await rejection('{"to":')).toEqual([422, ['body']]);
  expect(await rejection('[]')).toEqual([422, ['body']]);
  expect(await rejection('{}')).toEqual([422, ['channel', 'message_type', 'to', 'from', 'text']]);
});

describe('a status callback', () => {
  it('carries a token the official verifier accepts, over the exact bytes of its body', async () => {
    const path = '/receipts/vonage/token';
    const before = Math.floor(Date.now() / 1_000);
    const message = { ...sms, text: 'Grüße €', clientRef: 'reference-1', webhookUrl: receiver.url + path };
    const { messageUUID } = await sdk().send(message);
    await expect.poll(() => receiver.at(path)).toHaveLength(2);

    for (const { headers, body } of receiver.at(path)) {
      const token = String(headers.authorization).replace(/^Bearer /, '');
      expect(verifySignature(token, signatureSecret)).toBe(true);
      expect(verifySignature(token, 'another secret')).toBe(false);
      const claims = JSON.parse(String(Buffer.from(String(token.split('.')[1]), 'base64url')));
      expect(claims).toMatchObject({ iss: 'Vonage', api_key: apiKey, jti: expect.any(String) });
      expect(claims.payload_hash).toBe(createHash('sha256').update(body).digest('hex'));
      expect(claims.iat).toBeGreaterThanOrEqual(before);
      expect(claims.iat).toBeLessThanOrEqual(Date.now() / 1_000);
    }

    const [submitted, delivered] = receiver.at(path).map(({ body }) => JSON.parse(body));
    const common = { message_uuid: messageUUID, to: sms.to, from: 'HELIO', channel: 'sms', client_ref: 'reference-1' };
    expect(submitted).toMatchObject({
      ...common,
      status: 'submitted',
      usage: { currency: 'EUR', price: '0.0333' },
      sms: { count_total: '1' },
    });
    expect(delivered).toMatchObject({ ...common, status: 'delivered' });
    expect(delivered).not.toHaveProperty('usage');
  });

  it('carries the signature of the known vector', () => {
    const token = signVonageCallback(
      { apiKey: 'a1b2c3d', signatureSecret: 'XsA5o1P9c6JrkKoOsXvpb6h6Sw5ySecret' },
      '{"message_uuid":"aaaaaaaa-bbbb-cccc-dddd-0123456789ab","status":"delivered"}',
      { iat: 1_587_494_962, jti: 'c5ba8f24-1a14-4c10-bfdf-3fbe8ce511b5' },
    );
    expect(token).toBe(
      'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpYXQiOjE1ODc0OTQ5NjIsImp0aSI6ImM1YmE4ZjI0LTFhMTQtNGMxMC1iZmRmLTNmYmU4Y2U1' +
        'MTFiNSIsImlzcyI6IlZvbmFnZSIsInBheWxvYWRfaGFzaCI6IjMyMTM4YjY0NzVjNGM0YjU1YjI0YjU2MjBlOTJjZGNmMzI2ZDQ0ZDcyZjVjNDI1' +
        'MzVlMGQyZTg2NWFmNWI1YzciLCJhcGlfa2V5IjoiYTFiMmMzZCJ9.nJRwICijY7pj-usnvMEzxDtI5tTFa64ebQzI9nSAZR8',
    );
  });

  it('is tried again, signed anew, until it is answered with a 2xx', async () => {
    const recovering = await startReceiver(() => (recovering.at('/recovering').length === 1 ? 500 : 200));
    try {
      await sdk().send({ ...sms, to: '99901011101', webhookUrl: `${recovering.url}/recovering` });
      await expect.poll(() => recovering.at('/recovering')).toHaveLength(2);
      const [first, second] = recovering.at('/recovering');
      expect(second?.headers.authorization).not.toBe(first?.headers.authorization);
    } finally {
      await recovering.stop();
    }
  });
});

describe('the official SDK of the Reports API', () => {
  it('finds the record of a message, as it was sent and as it ended', async () => {
    const { messageUUID } = await sdk().send({ ...sms, clientRef: 'reference-1' });
    const report = await recordsOf(messageUUID);
    expect(report).toMatchObject({ requestStatus: 'SUCCESS', product: 'MESSAGES', itemsCount: 1 });
    expect(report.records).toEqual([
      expect.objectContaining({
        accountId: apiKey,
        messageId: messageUUID,
        clientRef: 'reference-1',
        direction: 'outbound',
        from: 'HELIO',
        to: sms.to,
        provider: 'sms',
        status: 'submitted',
        totalPrice: '0.0333',
        dateReceived: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/),
      }),
    ]);
    expect(report.idsNotFound).toBeUndefined();
    await expect
      .poll(async () => (await recordsOf(messageUUID)).records)
      .toMatchObject([{ status: 'delivered', errorCode: '0' }]);
  });

  it.each([
    ['failed', '99901008101', '1190'],
    ['expired', '99901009101', '1360'],
  ])('finds a message that %s with its error code, without any callback', async (_how, to, errorCode) => {
    const { messageUUID } = await sdk().send({ ...sms, to });
    await expect
      .poll(async () => (await recordsOf(messageUUID)).records)
      .toMatchObject([{ status: 'rejected', errorCode }]);
  });

  it('is told the id of a message that does not exist', async () => {
    const id = 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab';
    expect(await recordsOf(id)).toMatchObject({
      requestStatus: 'SUCCESS',
      itemsCount: 0,
      records: [],
      idsNotFound: id,
    });
  });

  it('raises 401 for a wrong secret, and 403 for the account of another', async () => {
    expect(await problemOf(recordsOf('any', { secret: 'wrong' }))).toMatchObject({ status: 401 });
    expect(await problemOf(recordsOf('any', { accountId: '00000000' }))).toMatchObject({
      status: 403,
      body: { title: 'Forbidden' },
    });
  });
});

it('records are given to a query for one outbound message by its id only', async () => {
  const [status, problem] = await recordsRefusal('product=SMS&direction=inbound');
  expect(status).toBe(422);
  expect(problem.invalid_parameters?.map(({ name }) => name)).toEqual(['product', 'account_id', 'direction', 'id']);

  const rest = `account_id=${apiKey}&product=MESSAGES&direction=outbound&id=1`;
  const [filtered, invalidFilter] = await recordsRefusal(`${rest}&date_start=2026-01-01T00:00:00Z`);
  expect(filtered).toBe(422);
  expect(invalidFilter.type).toMatch(/reports#invalid-filter$/);
  expect((await fetch(`${simulator.url}/v2/reports/records`)).status).toBe(401);
});
