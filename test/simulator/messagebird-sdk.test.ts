import { createSecretKey } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { createRequire } from 'node:module';
import messagebirdSdk from 'messagebird';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Simulator, simulatorCredentials, startSimulator } from '../../src/simulator/simulator.ts';
import { signMessagebirdCallback } from '../../src/simulator/upstreams/messagebird.ts';
import { type Receiver, startReceiver } from './receiver.ts';

type Verify = (url: string, payload: Buffer | null, jwt: string, key: object, options?: object) => Promise<boolean>;
type ReferenceVector = {
  name: string;
  method: string;
  secret: string;
  url: string;
  payload?: string;
  timestamp: string;
  token: string;
  valid: boolean;
};

const require = createRequire(import.meta.url);
const { verify }: { verify: Verify } = require('messagebird/lib/webhook-signature-jwt.js');
const vectors: ReferenceVector[] = require('messagebird/lib/testdata/webhook-signature-jwt-reference.json');

const { accessKey, signingKey } = simulatorCredentials.messagebird;

let simulator: Simulator;
let receiver: Receiver;
const realRequest = https.request;

beforeAll(async () => {
  receiver = await startReceiver(() => 200);
  simulator = await startSimulator({ port: 0, deliveryDelayMs: 60 });
  // The SDK has its host built in; this is the only way to point it elsewhere.
  https.request = ((options: http.RequestOptions) =>
    http.request({
      ...options,
      protocol: 'http:',
      hostname: '127.0.0.1',
      port: simulator.port,
      agent: false,
    })) as typeof https.request;
});

afterAll(async () => {
  https.request = realRequest;
  await simulator.stop();
  await receiver.stop();
});

type Sdk = ReturnType<typeof messagebirdSdk.initClient>;
type Parameters = globalThis.Parameters<Sdk['messages']['create']>[0];

const sms = { originator: 'HELIO', recipients: ['447700900123'], body: 'Hello' };

/** Through the callbacks of the SDK. */
function create(fields: object = {}, key = accessKey) {
  const { messages } = messagebirdSdk.initClient(key);
  const parameters = { ...sms, ...fields } as Parameters;
  return settled<{ id: string }>((done) => messages.create(parameters, done));
}

function readMessage(id: string) {
  const { messages } = messagebirdSdk.initClient(accessKey);
  return settled((done) => messages.read(id, done));
}

function settled<Result>(call: (done: (error: Error | null, result: Result | null) => void) => void): Promise<Result> {
  return new Promise((resolve, reject) => {
    call((error, result) => {
      if (error !== null || result === null) reject(error ?? new Error('There is neither an error nor a result.'));
      else resolve(result);
    });
  });
}

describe('the official SDK', () => {
  it('sends a message and reads it back', async () => {
    const created = await create({ reference: 'reference-1', datacoding: 'auto' });
    expect(created).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      direction: 'mt',
      type: 'sms',
      originator: 'HELIO',
      body: 'Hello',
      reference: 'reference-1',
      datacoding: 'plain',
      recipients: {
        totalCount: 1,
        totalSentCount: 1,
        totalDeliveredCount: 0,
        items: [{ recipient: 447_700_900_123, status: 'sent', statusErrorCode: null, messagePartCount: 1 }],
      },
    });
    await expect
      .poll(() => readMessage(created.id))
      .toMatchObject({ recipients: { totalDeliveredCount: 1, items: [{ status: 'delivered' }] } });
  });

  it('polls a failed message with its error code, without any callback', async () => {
    const { id } = await create({ recipients: ['99901008101'] });
    await expect
      .poll(() => readMessage(id))
      .toMatchObject({ recipients: { items: [{ status: 'delivery_failed', statusErrorCode: 1 }] } });
  });

  it.each([
    ['an account out of funds', { recipients: ['99901004101'] }, 422, 25, null],
    ['an invalid recipient', { recipients: ['99901002101'] }, 422, 9, 'recipients'],
    ['an outage', { recipients: ['99901006101'] }, 503, 99, null],
    ['no recipient', { recipients: undefined }, 422, 9, 'recipients'],
    ['several recipients', { recipients: ['447700900123', '447700900124'] }, 422, 9, 'recipients'],
    ['a malformed recipient', { recipients: ['0770'] }, 422, 9, 'recipients'],
    ['a missing originator', { originator: undefined }, 422, 9, 'originator'],
    ['a malformed originator', { originator: 'A name too long' }, 422, 10, 'originator'],
    ['a missing body', { body: undefined }, 422, 9, 'body'],
    ['an empty body', { body: '' }, 422, 10, 'body'],
    ['a body of ten parts', { body: 'x'.repeat(1_378) }, 422, 10, 'body'],
    ['a body of ten Unicode parts', { body: 'ж'.repeat(604) }, 422, 10, 'body'],
    ['another type', { type: 'binary' }, 422, 10, 'type'],
    ['an unknown datacoding', { datacoding: 'latin1' }, 422, 10, 'datacoding'],
    ['a report URL that is none', { reportUrl: 'example.com' }, 422, 10, 'reportUrl'],
    ['a validity of nothing', { validity: 0 }, 422, 10, 'validity'],
  ])('raises the right code for %s', async (_name, fields, statusCode, code, parameter) => {
    await expect(create(fields)).rejects.toMatchObject({
      statusCode,
      errors: [{ code, description: expect.any(String), parameter }],
    });
  });

  it('raises 2 for a wrong key and 20 for what is not there, and is throttled in plain text', async () => {
    await expect(create({}, 'wrong')).rejects.toMatchObject({ statusCode: 401, errors: [{ code: 2 }] });
    await expect(readMessage('nobody')).rejects.toMatchObject({ statusCode: 404, errors: [{ code: 20 }] });
    await expect(create({ recipients: ['99901013101'] })).rejects.toMatchObject({ statusCode: 429 });
  });
});

describe('a status report', () => {
  const key = createSecretKey(Buffer.from(signingKey));

  it('is a GET that the official verifier accepts, until anything in it changes', async () => {
    const watching = await startReceiver(() => 200);
    try {
      const reportUrl = `${watching.url}/receipts/messagebird/token?a=b`;
      const { id } = await create({ recipients: ['99901008102'], reference: 'my reference', reportUrl });
      await expect.poll(() => watching.all).toHaveLength(2);

      for (const { path, headers, body } of watching.all) {
        const token = String(headers['messagebird-signature-jwt']);
        const url = watching.url + path;
        expect(body).toBe('');
        expect(await verify(url, null, token, key)).toBe(true);
        await expect(verify(url.replace('my+reference', 'another'), null, token, key)).rejects.toThrow('url_hash');
        await expect(verify(url, Buffer.from('x'), token, key)).rejects.toThrow('payload');
        await expect(verify(url, null, token, createSecretKey(Buffer.from('another')))).rejects.toThrow('signature');
      }
      const [sent, failed] = watching.all.map(({ path }) =>
        Object.fromEntries(new URLSearchParams(path.split('?')[1])),
      );
      const common = { a: 'b', id, reference: 'my reference', recipient: '99901008102', 'price[currency]': 'EUR' };
      expect(sent).toMatchObject({ ...common, status: 'sent' });
      expect(sent).not.toHaveProperty('statusErrorCode');
      expect(failed).toMatchObject({
        ...common,
        status: 'delivery_failed',
        statusErrorCode: '1',
        statusReason: 'unknown subscriber',
        statusDatetime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/),
      });
    } finally {
      await watching.stop();
    }
  });

  it('is not sent for a message without a reference', async () => {
    await create({ reportUrl: `${receiver.url}/without` });
    await create({ reportUrl: `${receiver.url}/with`, reference: 'reference-1' });
    const paths = () => receiver.all.map(({ path }) => path.split('?')[0]);
    await expect.poll(paths).toEqual(['/with', '/with']);
  });

  const signable = vectors.filter(({ valid, token }) => valid && claimsOf(token, 0)['alg'] === 'HS256');

  it.each(signable)('carries the token of the reference vector: $name', async ({ secret, url, payload, token }) => {
    const { nbf, exp, jti } = claimsOf(token, 1);
    const stamp = { nbf: Number(nbf), exp: Number(exp), jti: String(jti) };
    expect(signMessagebirdCallback(secret, url, stamp, payload)).toBe(token);
  });

  it('knows the reference vectors by more than a few', () => {
    expect(signable.length).toBeGreaterThan(20);
  });

  it('is tried again, signed anew, until it is answered with a 2xx', async () => {
    const recovering = await startReceiver(() => (recovering.all.length === 1 ? 500 : 200));
    try {
      await create({ recipients: ['99901011101'], reference: 'reference-1', reportUrl: recovering.url });
      await expect.poll(() => recovering.all).toHaveLength(2);
      const [first, second] = recovering.all.map(({ headers }) => headers['messagebird-signature-jwt']);
      expect(second).not.toBe(first);
    } finally {
      await recovering.stop();
    }
  });
});

/** Part 0 is the header of a token, part 1 its claims. */
function claimsOf(token: string, part: 0 | 1): Record<string, unknown> {
  return JSON.parse(String(Buffer.from(token.split('.')[part] ?? '', 'base64url')));
}
