import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { readAnswer, type Answer } from '../helpers/client.ts';
import { exchange } from '../helpers/raw-http.ts';
import { TestService } from '../helpers/service.ts';

const service = await TestService.start();
afterAll(() => service.stop());

const { api } = await service.account();
const { host } = new URL(service.baseUrl);
const authorization = `Authorization: Bearer ${api.key}`;
const validBody = JSON.stringify({ to: '+14155550123', from: 'HELIO', body: 'Hello' });

/** A request by hand, for what `fetch` refuses to send. */
function request(
  method: string,
  path: string,
  headers: http.OutgoingHttpHeaders = {},
  body: string | Buffer = '',
): Promise<Answer<unknown>> {
  return new Promise((resolve, reject) => {
    const sending = http.request(
      { host: '127.0.0.1', port: new URL(service.baseUrl).port, method, path, headers, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const answered = new Headers(response.headers as Record<string, string>);
          const text = Buffer.concat(chunks).toString();
          resolve(new Promise((read) => read(readAnswer(response.statusCode ?? 0, answered, text))));
        });
      },
    );
    sending.on('error', reject);
    sending.end(body);
  });
}

function post(path: string, headers: http.OutgoingHttpHeaders, body: string | Buffer): Promise<Answer<unknown>> {
  return request('POST', path, { authorization: `Bearer ${api.key}`, ...headers }, body);
}

describe('what is not HTTP is answered with 400 and the envelope:', () => {
  it.each([
    ['a word', 'hello\r\n\r\n'],
    ['the greeting of TLS', Buffer.from('16030100f4010000f00303', 'hex')],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a method that there is not', `BREW /api/v1/messages HTTP/1.1\r\nHost: ${host}\r\n\r\n`],
    ['a header without a colon', `GET /api/v1/messages HTTP/1.1\r\nHost: ${host}\r\nnonsense\r\n\r\n`],
    ['headers of 100 KiB', `GET /api/v1/messages HTTP/1.1\r\nHost: ${host}\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`],
    ['a URL of 100 KiB', `GET /api/v1/messages?to=${'1'.repeat(100_000)} HTTP/1.1\r\nHost: ${host}\r\n\r\n`],
    ['a length that is no number', `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ten\r\n\r\n0123456789`],
    [
      'a length besides chunks',
      `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['a chunk without a size', `POST / HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n`],
    ['no Host header', 'GET /api/v1/messages HTTP/1.1\r\n\r\n'],
  ])('%s', async (_what, bytes) => {
    const answers = await exchange(service.baseUrl, bytes);
    const [first] = answers.map(({ status, headers, body }) => readAnswer(status, headers, body));
    expect({ status: first?.status, code: first?.error.code }).toEqual({ status: 400, code: 'invalid_request' });
  });
});

describe('a request is answered with the envelope', () => {
  it.each(['DELETE', 'PUT', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'GET'])(
    'and 404 for %s of a path that takes POST',
    async (method) => {
      const { status, error } = await request(method, '/api/v1/messages/bulk/', {
        authorization: `Bearer ${api.key}`,
      });
      expect({ status, code: error.code }).toEqual({ status: 404, code: 'not_found' });
    },
  );

  it.each(['/', '/api', '/api/v1', '/api/v2/messages', '/api/v1/message', '/api/v1/messages/send/now', '/favicon.ico'])(
    'and 404 for %s',
    async (path) => {
      const { status, error } = await request('GET', path, { authorization: `Bearer ${api.key}` });
      expect({ status, type: error.type, code: error.code }).toEqual({
        status: 404,
        type: 'invalid_request_error',
        code: 'not_found',
      });
    },
  );

  it.each([
    ['cannot be decoded', '/%', 400],
    ['has an id that cannot be decoded', '/api/v1/messages/%zz', 400],
    ['has an id of 5,000 characters', `/api/v1/messages/${'a'.repeat(5_000)}`, 404],
    ['has a query that cannot be decoded', '/api/v1/messages?to=%zz', 200],
    ['has a page of 400 digits', `/api/v1/messages?page=${'9'.repeat(400)}`, 400],
    ['has an empty segment', '//', 404],
    ['is a star', '*', 404],
  ])('also where the URL %s', async (_what, path, expected) => {
    const { status } = await request('GET', path, { authorization: `Bearer ${api.key}` });
    expect(status).toBe(expected);
  });

  it('also where an unknown expectation is stated', async () => {
    const { status } = await request('GET', '/api/v1/balance', {
      authorization: `Bearer ${api.key}`,
      expect: 'the unexpected',
    });
    expect(status).toBe(200);
  });

  it('also where another protocol is asked for', async () => {
    const answers = await exchange(
      service.baseUrl,
      `GET /api/v1/balance HTTP/1.1\r\nHost: ${host}\r\n${authorization}\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    expect(answers.map(({ status }) => status)).toEqual([200]);
  });

  it('once for each of several that come at once', async () => {
    const one = `GET /api/v1/balance HTTP/1.1\r\nHost: ${host}\r\n${authorization}\r\n\r\n`;
    const answers = await exchange(service.baseUrl, one.repeat(5), 5);
    const ids = answers.map(({ status, headers, body }) => readAnswer(status, headers, body).meta.request_id);
    expect(new Set(ids).size).toBe(5);
  });
});

describe('a body is refused with 400', () => {
  const json = { 'content-type': 'application/json' };
  it.each([
    ['that is not JSON', json, 'to=+14155550123'],
    ['that is cut short', json, validBody.slice(0, -5)],
    ['that is empty', json, ''],
    ['that has bytes after it', json, `${validBody}}`],
    ['that tries to reach the prototype', json, `{"__proto__":{"to":"+14155550123"},${validBody.slice(1)}`],
    ['that is nested 100,000 deep', json, '['.repeat(100_000)],
    ['that is larger than 1 MiB', json, JSON.stringify({ body: 'x'.repeat(1_100_000) })],
    ['without a content type', {}, validBody],
    ['of another content type', { 'content-type': 'text/plain' }, validBody],
    ['of a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'to=%2B14155550123'],
    ['of a content type that is none', { 'content-type': ';;;' }, validBody],
    ['that is compressed', { ...json, 'content-encoding': 'gzip' }, gzipSync(validBody)],
    ['in Latin-1', json, Buffer.from(validBody.replace('Hello', 'Café'), 'latin1')],
    ['in UTF-16', { 'content-type': 'application/json; charset=utf-16' }, Buffer.from(validBody, 'utf16le')],
  ])('%s', async (_what, headers, body) => {
    for (const path of ['/api/v1/messages/send', '/api/v1/messages/bulk', '/api/v1/webhooks/create']) {
      const { status, error } = await post(path, headers, body);
      expect({ path, status, code: error.code }).toEqual({ path, status: 400, code: 'invalid_request' });
    }
  });

  it('but not for a charset or a byte order mark', async () => {
    const named = { 'content-type': 'application/json; charset=utf-8' };
    expect((await post('/api/v1/messages/send', named, validBody)).status).toBe(201);
    expect((await post('/api/v1/messages/send', json, `\ufeff${validBody}`)).status).toBe(201);
  });
});

it('a caller that leaves in the middle of its request harms nobody', async () => {
  const leavers = Array.from({ length: 20 }, async (_, index) => {
    const socket = net.connect(Number(new URL(service.baseUrl).port), '127.0.0.1');
    await once(socket, 'connect');
    const head = `POST /api/v1/messages/send HTTP/1.1\r\nHost: ${host}\r\n${authorization}\r\nContent-Type: application/json\r\n`;
    await new Promise((resolve) =>
      socket.write(`${head}Content-Length: 500\r\n\r\n{"to":`.slice(0, 40 + index * 20), resolve),
    );
    socket.resetAndDestroy();
  });
  await Promise.all(leavers);
  expect((await api.send({ to: '+14155550123' })).status).toBe(201);
});

it('what is logged of a request holds neither its path nor its query nor its body', async () => {
  await request('GET', '/api/v1/messages/%2B14155550987?to=%2B14155550987', { authorization: `Bearer ${api.key}` });
  await post('/api/v1/messages/send', { 'content-type': 'application/json' }, '{"to":"+14155550987","body":"s3cret');
  expect(service.logged).not.toMatch(/4155550987|s3cret/);
});
