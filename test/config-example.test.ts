import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { loadConfig } from '../src/config.ts';
import { providerNames } from '../src/providers/provider.ts';
import { renderConfigExample } from './config-example.ts';

const file = fileURLToPath(new URL('../heliograph.example.yaml', import.meta.url));

/** A value of the right form for each variable the example refers to. */
const values: Record<string, string> = {
  TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
  SMPP_SYSTEM_ID: 'account',
  TELNYX_PUBLIC_KEY: 'iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w=',
};

// After a change of a setting, write the file anew: npx vitest run test/config-example.test.ts --update
test('heliograph.example.yaml names every setting with its default', async () => {
  await expect(renderConfigExample()).toMatchFileSnapshot(file);
});

test('heliograph.example.yaml is a configuration that starts, with all nine providers', () => {
  const text = readFileSync(file, 'utf8');
  const names = [...text.matchAll(/\$\{([A-Z_]+)\}/g)].map(([, name]) => name ?? '');
  const env = Object.fromEntries(names.map((name) => [name, values[name] ?? 'some_value']));
  const config = loadConfig({ ...env, HELIOGRAPH_CONFIG: file }, () => text);
  expect(Object.keys(config.providers).sort()).toEqual([...providerNames].sort());
  expect(config.routes).toHaveLength(2);
});
