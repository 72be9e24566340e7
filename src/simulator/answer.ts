import type { WireResponse } from './upstream.ts';

export const jsonHeaders = { 'Content-Type': 'application/json' };

export function jsonAnswer(status: number, body: object): WireResponse {
  return { status, headers: jsonHeaders, body: JSON.stringify(body) };
}

export function textAnswer(status: number, body: string): WireResponse {
  return { status, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body };
}

/** The answer, with the seconds after which the client may come back. */
export function retryAfter(seconds: number, answer: WireResponse): WireResponse {
  return { ...answer, headers: { ...answer.headers, 'Retry-After': String(seconds) } };
}
