import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Secrets of an installation that were not given in the environment. */
export type Secrets = { secretKey: Buffer; operatorToken: string };

/** Reads `<dataDir>/secrets.json` (mode 0600), which is made on the first start. */
export async function loadSecrets(dataDir: string): Promise<Secrets> {
  const file = path.join(dataDir, 'secrets.json');
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text !== undefined) {
    const stored = JSON.parse(text) as { secret_key: string; operator_token: string };
    return { secretKey: Buffer.from(stored.secret_key, 'base64'), operatorToken: stored.operator_token };
  }
  const secrets = { secretKey: randomBytes(32), operatorToken: randomBytes(24).toString('base64url') };
  await writeJson(file, { secret_key: secrets.secretKey.toString('base64'), operator_token: secrets.operatorToken });
  return secrets;
}

/** Writes a file only its owner can read, whole or not at all. */
export async function writeJson(file: string, content: unknown): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
