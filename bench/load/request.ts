import { digitsAfter, type LoadPlan, type RecipientPrefix } from './plan.ts';

/** Numbers nobody has been sent to yet: each load process counts on from a place of its own. */
export class Numbers {
  readonly #next: Record<RecipientPrefix, number>;

  constructor(place: number) {
    this.#next = { '+1': 2_000_000_000 + place * 1_000_000_000, '+99901010': place * 2_000_000 };
  }

  take(prefix: RecipientPrefix): string {
    const number = this.#next[prefix];
    this.#next[prefix] = number + 1;
    return prefix + String(number).padStart(digitsAfter[prefix], '0');
  }
}

/** What every message says. */
export const text = 'Your Heliograph code is 482913. It is good for ten minutes.';

/** A function that gives the whole text of one request after the other. What does not change is put together once. */
export function createRequests(plan: LoadPlan, numbers: Numbers): () => string {
  let turn = 0;
  const { keys, work } = plan;
  if (work.kind === 'get') {
    const requests = keys.map((key) => headOf(`GET ${work.path}`, plan.port, key, undefined));
    return () => requests[(turn += 1) % keys.length] ?? '';
  }
  const content = `"from":${JSON.stringify(plan.sender)},"body":${JSON.stringify(text)}`;
  const bodyOf =
    work.kind === 'send'
      ? () => `{"to":"${numbers.take(work.to)}",${content}}`
      : () =>
          `{"recipients":${JSON.stringify(Array.from({ length: work.recipients }, () => numbers.take(work.to)))},${content}}`;
  // All numbers of a plan are equally long, and so are its bodies.
  const { length } = bodyOf();
  const heads = keys.map((key) => headOf(`POST /api/v1/messages/${work.kind}`, plan.port, key, length));
  return () => (heads[(turn += 1) % keys.length] ?? '') + bodyOf();
}

function headOf(requestLine: string, port: number, key: string, length: number | undefined): string {
  const bodyFields = length === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${length}\r\n`;
  return `${requestLine} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n${bodyFields}\r\n`;
}
