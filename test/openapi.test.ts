import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
