import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** Whose secret it is. A sealed secret moved to another row does not open. */
export type SecretOwner = { accountId: string; endpointId: string };

/** A signing secret as the API shows it, once: `whsec_` and base64 of 32 random bytes. */
export function createSigningSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

function boundTo({ accountId, endpointId }: SecretOwner): Buffer {
  return Buffer.from(`${accountId} ${endpointId}`);
}

/** Encrypts a secret under a 32-byte key, for the database: nonce, tag, ciphertext. */
export function sealSecret(key: Buffer, owner: SecretOwner, secret: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(boundTo(owner));
  const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
}

/** Throws when the key or the owner is not the one it was sealed for, or a byte has changed. */
export function openSecret(key: Buffer, owner: SecretOwner, sealed: Buffer): string {
  const nonce = sealed.subarray(0, nonceBytes);
  const tag = sealed.subarray(nonceBytes, nonceBytes + tagBytes);
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(boundTo(owner)).setAuthTag(tag);
  return decipher.update(sealed.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8');
}
