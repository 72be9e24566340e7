import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestService } from '../helpers/service.ts';
import { Operator } from './operator.ts';

type Document = { paths: Record<string, Record<string, { responses: Record<string, unknown> }>> };

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

async function readDocument(): Promise<Document> {
  const response = await fetch(`${service.app.url}/operator/openapi.json`);
  expect(response.status).toBe(200);
  return (await response.json()) as Document;
}

/** Every endpoint there is. */
const endpoints = [
  'GET /accounts',
  'GET /accounts/{id}',
  'GET /accounts/{id}/api-keys',
  'DELETE /accounts/{id}/api-keys/{key}',
  'GET /deliveries',
  'GET /ledger/check',
  'GET /messages',
  'GET /messages/{id}/story',
  'GET /providers',
  'GET /receipts/unmatched',
  'GET /senders',
  'GET /suppressions',
  'GET /webhooks',
  'DELETE /suppressions',
  'POST /accounts',
  'POST /accounts/{id}/adjustments',
  'POST /accounts/{id}/api-keys',
  'POST /accounts/{id}/close',
  'POST /accounts/{id}/resume',
  'POST /accounts/{id}/suspend',
  'POST /accounts/{id}/top-ups',
  'POST /deliveries/replay',
  'POST /redactions',
  'POST /senders/{id}/approve',
  'POST /senders/{id}/reject',
  'POST /senders/{id}/suspend',
  'POST /suppressions',
  'POST /webhooks/{id}/enable',
];

describe('the operator API', () => {
  test.each(endpoints)('%s refuses whoever lacks the operator token, accounts included', async (endpoint) => {
    const [method = '', place = ''] = endpoint.split(' ');
    const { api } = await service.account();
    const strangers = ['', 'x', 'operator-token-of-the-test', api.key].map(
      (token) => new Operator(service, service.app, token),
    );
    for (const stranger of strangers) {
      const { status, error } = await stranger.client.request(method, place.replaceAll(/\{\w+\}/g, 'acc_1'));
      expect([status, error.code]).toEqual([401, 'unauthorized']);
    }
  });

  test('does not answer at unknown paths, nor to strangers there', async () => {
    expect((await new Operator(service).get('/nothing')).status).toBe(404);
    expect((await new Operator(service, service.app, 'wrong').get('/nothing')).status).toBe(401);
  });

  test('keeps its token to itself: the public API does not take it', async () => {
    const { api } = await service.account();
    const response = await fetch(`${api.baseUrl}/balance`, {
      headers: { authorization: `Bearer ${new Operator(service).client.key}` },
    });
    expect(response.status).toBe(401);
  });
});

describe("the operator's OpenAPI document", () => {
  test('describes each endpoint with its errors, and nothing else', async () => {
    const { paths } = await readDocument();
    const described = Object.entries(paths).flatMap(([place, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${place}`),
    );
    expect(described.toSorted()).toEqual(endpoints.toSorted());
    for (const operation of Object.values(paths).flatMap((operations) => Object.values(operations))) {
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['401', '500']));
      expect(Object.keys(operation.responses)).not.toContain('403');
    }
  });

  test('is apart from the public one', async () => {
    const response = await fetch(`${service.app.url}/openapi.json`);
    expect(Object.keys(((await response.json()) as Document).paths)).not.toContain('/accounts');
  });

  test('has nothing that a linter of OpenAPI documents would note', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'heliograph-operator-'));
    try {
      const file = path.join(folder, 'openapi.json');
      await writeFile(file, JSON.stringify(await readDocument()));
      const child = spawn(process.execPath, ['node_modules/@redocly/cli/bin/cli.js', 'lint', file, '--format=json'], {
        env: { PATH: process.env['PATH'], REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const [output, notes] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
      expect(output, notes).toMatch(/^\{/);
      expect((JSON.parse(output) as { problems: unknown[] }).problems).toEqual([]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('has a page that shows it', async () => {
    const response = await fetch(`${service.app.url}/operator/docs/`);
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('/operator/openapi.json')]);
  });
});
