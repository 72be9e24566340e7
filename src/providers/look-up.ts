import type { Clock } from '../lib/clock.ts';
import type { Upstream } from './http.ts';
import type { LookUpResult, Receipt } from './provider.ts';
import { parseObject, readRetryAfterMs } from './result.ts';

/** What an adapter makes of an answer: where the message is, that there is none, or nothing. */
export type LookUpReading = Receipt | 'not_found' | undefined;

/** Asks an upstream about one message by a GET that answers with a JSON object. Never rejects. */
export async function lookUp(
  upstream: Upstream,
  path: string,
  clock: Clock,
  read: (content: Record<string, unknown>) => LookUpReading,
): Promise<LookUpResult> {
  const result = await upstream.get(path);
  if (result.kind !== 'answer') return { outcome: 'unavailable', code: result.code, message: result.message };
  if (result.status === 404) return { outcome: 'not_found' };

  const content = result.status < 300 ? parseObject(result.body) : undefined;
  const reading = content && read(content);
  if (reading === 'not_found') return { outcome: 'not_found' };
  if (reading !== undefined) return { outcome: 'found', receipt: reading };
  const retryAfterMs = readRetryAfterMs(result.headers['retry-after'], clock);
  return {
    outcome: 'unavailable',
    code: `http_${result.status}`,
    message: `HTTP ${result.status} without a state of the message that could be read`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}
