import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSigningSecret, openSecret, sealSecret } from './secret.ts';

const key = randomBytes(32);
const owner = { accountId: 'a', endpointId: 'e' };

test('a signing secret is whsec_ and base64 of 32 random bytes', () => {
  const secret = createSigningSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(createSigningSecret()).not.toBe(secret);
});

test('a sealed secret opens for its owner and never shows its text', () => {
  const sealed = sealSecret(key, owner, 'whsec_text');
  expect(openSecret(key, owner, sealed)).toBe('whsec_text');
  expect(sealed.includes('text')).toBe(false);
  expect(sealSecret(key, owner, 'whsec_text').equals(sealed)).toBe(false);
});

test('a sealed secret does not open with another key, in another row, or with any byte changed', () => {
  const sealed = sealSecret(key, owner, 'whsec_text');
  expect(() => openSecret(randomBytes(32), owner, sealed)).toThrow();
  expect(() => openSecret(key, { ...owner, endpointId: 'f' }, sealed)).toThrow();
  expect(() => openSecret(key, { ...owner, accountId: 'b' }, sealed)).toThrow();
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => openSecret(key, owner, changed)).toThrow();
  }
  expect(() => openSecret(key, owner, sealed.subarray(0, 20))).toThrow();
});
