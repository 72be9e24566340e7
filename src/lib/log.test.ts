import { expect, it } from 'vitest';
import { createLog } from './log.ts';

it('secrets by their usual names are not written', () => {
  const lines: string[] = [];
  const log = createLog({ level: 'info', destination: { write: (line) => void lines.push(line) } });
  const secret = 'ds_live_secret';
  log.info({
    headers: { authorization: `Bearer ${secret}` },
    body: { api_key: secret, signing_secret: secret, token: secret },
  });
  log.debug('not at this level');
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toContain(secret);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 30, headers: { authorization: '[redacted]' } });
});
