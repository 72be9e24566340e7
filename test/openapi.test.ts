import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorCatalogue } from '../src/lib/errors.ts';
import { TestService } from './helpers/service.ts';

const root = path.join(import.meta.dirname, '..');

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

// After a change that is meant: npx vitest run test/openapi.test.ts -u
test('openapi.json is what the service serves', async () => {
  const response = await fetch(`${service.app.url}/openapi.json`);
  const document = `${JSON.stringify(await response.json(), null, 2)}\n`;
  await expect(document).toMatchFileSnapshot(path.join(root, 'openapi.json'));
});

test('openapi.json has nothing that a linter of OpenAPI documents would note', async () => {
  const child = spawn(
    process.execPath,
    ['node_modules/@redocly/cli/bin/cli.js', 'lint', 'openapi.json', '--format=json'],
    {
      cwd: root,
      env: { PATH: process.env['PATH'], REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const [output, notes] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  expect(output, notes).toMatch(/^\{/);
  expect((JSON.parse(output) as { problems: unknown[] }).problems).toEqual([]);
});

type Content = {
  'application/json': { example?: unknown; examples?: Record<string, { value: { error?: { code: string } } }> };
};
type Operation = {
  requestBody?: { content: Content };
  responses: Record<string, { description: string; headers: Record<string, unknown>; content: Content }>;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, unknown>;
};

async function readOperations(place: string): Promise<Array<Operation & { name: string }>> {
  const response = await fetch(service.app.url + place);
  const { paths } = (await response.json()) as Document;
  return Object.entries(paths).flatMap(([route, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${route}`, ...operation })),
  );
}

/** The codes an operation shows for a status. */
function codesOf({ responses }: Operation, status: string): string[] {
  return Object.keys(responses[status]?.content['application/json'].examples ?? {});
}

describe.each(['/openapi.json', '/operator/openapi.json'])('%s', (place) => {
  test('has an example of every body and every answer', async () => {
    for (const { name, requestBody, responses } of await readOperations(place)) {
      if (requestBody !== undefined) expect(requestBody.content['application/json'].example, name).toBeDefined();
      for (const [status, { description, content }] of Object.entries(responses)) {
        expect(description, `${name} ${status}`).toMatch(/./);
        expect(Object.keys(content['application/json'].examples ?? {}), `${name} ${status}`).not.toEqual([]);
      }
    }
  });

  test('shows errors under the statuses they have', async () => {
    for (const operation of await readOperations(place)) {
      for (const status of Object.keys(operation.responses).filter((each) => each >= '400')) {
        for (const code of codesOf(operation, status)) {
          const { status: own } = errorCatalogue[code as keyof typeof errorCatalogue];
          expect([operation.name, code, String(own)]).toEqual([operation.name, code, status]);
        }
      }
    }
  });

  test('names the headers of every answer', async () => {
    for (const { name, responses } of await readOperations(place)) {
      for (const [status, { headers }] of Object.entries(responses)) {
        const names = Object.keys(headers);
        expect(names, name).toContain('X-Request-Id');
        expect(names.includes('Retry-After'), `${name} ${status}`).toBe(status === '429');
        const isLimited = place === '/openapi.json' && status !== '401';
        expect(names.includes('X-RateLimit-Remaining'), `${name} ${status}`).toBe(isLimited);
      }
    }
  });
});

test('the public document shows every error there is', async () => {
  const shown = (await readOperations('/openapi.json')).flatMap((operation) =>
    Object.keys(operation.responses).flatMap((status) => codesOf(operation, status)),
  );
  expect(Object.keys(errorCatalogue).filter((code) => !shown.includes(code))).toEqual([]);
});

test('the public document tells of the webhooks the service sends', async () => {
  const response = await fetch(`${service.app.url}/openapi.json`);
  const { webhooks } = (await response.json()) as Document;
  expect(webhooks).toMatchObject({
    event: {
      post: {
        security: [],
        parameters: expect.arrayContaining([expect.objectContaining({ name: 'Service-Signature' })]) as unknown,
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Event' } } } },
      },
    },
  });
});

describe.each([
  ['/docs', '/openapi.json'],
  ['/operator/docs', '/operator/openapi.json'],
])('the page %s', (page, document) => {
  test(`shows ${document}, and brings its program itself`, async () => {
    const response = await fetch(`${service.app.url}${page}/`);
    const html = await response.text();
    expect([response.status, html]).toEqual([200, expect.stringContaining(`"url": "${document}"`)]);
    const [, script = ''] = /<script src="([^"]+)"/.exec(html) ?? [];
    const program = await fetch(new URL(script, response.url));
    expect([program.status, new URL(program.url).origin]).toEqual([200, service.app.url]);
  });

  test('may talk to this service alone: it works without the internet, and a key typed into it stays here', async () => {
    const response = await fetch(`${service.app.url}${page}/`);
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).not.toMatch(/https?:|\*/);
    const html = await response.text();
    expect(html.match(/https?:\/\/[^"'\s<]+/g) ?? []).toEqual([]);
  });
});
