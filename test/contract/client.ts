import { expect, inject, onTestFinished, test } from 'vitest';
import { ServedDocument, type OpenApiDocument } from './document.ts';
import { until } from './until.ts';
import type { CreatedApiKey, Message, Operation, Operations, Pagination } from './resources.ts';

/** The implementation under test. */
export const target = inject('target');

/** Tests that need a carrier which fails on demand. */
export const onMagic = test.runIf(target.magicPrefix !== null);

/** Tests that need an account without money. */
export const onPenniless = test.runIf(target.pennilessKey !== null);

/** What it serves as its OpenAPI document. */
export const served = await ServedDocument.fetch(target.openApiUrl);

export type ErrorObject = {
  type: string;
  code: string;
  message: string;
  param?: string;
  details?: Record<string, unknown>;
};

/** `data` is there when the request succeeded, `error` when it failed. */
export type Answer<Data> = {
  status: number;
  headers: Headers;
  success: boolean;
  data: Data;
  error: ErrorObject;
  pagination: Pagination;
  meta: { request_id: string; api_version: string };
};

export type RequestOptions = {
  id?: string;
  query?: Record<string, string | number>;
  json?: unknown;
  headers?: Record<string, string>;
};

/** Of all there is in an answer, the times are named like this. */
const timeNames = /_at$|^as_of$/;
/** ISO 8601 with a numeric offset. */
export const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?[+-]\d\d:\d\d$/;

/** A caller with one key. Whatever it is answered is held to the OpenAPI document and to what the specification says of every answer. */
export class Client {
  readonly key: string | null;

  constructor(key: string | null) {
    this.key = key;
  }

  async call<Name extends Operation>(operation: Name, options: RequestOptions = {}): Promise<Answer<Operations[Name]>> {
    const [method = '', path = ''] = operation.split(' ');
    const { id } = options;
    if (path.includes('{id}') !== (id !== undefined)) throw new Error(`${operation} and its id do not go together`);
    const answer = await this.#request(method, path.replace('{id}', encodeURIComponent(id ?? '')), options);
    const { status, headers: _headers, ...body } = answer;
    served.expectAnswer(method, path, status, body);
    return answer as Answer<Operations[Name]>;
  }

  /** Asks for what the specification does not have; the answer is an error like any other. */
  async callUnknown(method: string, path: string): Promise<Answer<never>> {
    const answer = await this.#request(method, path, {});
    const { status: _status, headers: _headers, ...body } = answer;
    served.expectAnswer('GET', '/account', 401, body);
    return answer as Answer<never>;
  }

  /** Expects the operation to succeed, and gives back its data. */
  async get<Name extends Operation>(operation: Name, options: RequestOptions = {}): Promise<Operations[Name]> {
    const { status, data, error } = await this.call(operation, options);
    expect({ status, error }).toEqual({ status: operation.includes('POST') ? 201 : 200, error: undefined });
    return data;
  }

  /** Expects the operation to fail with a status, and gives back the error. */
  async fail(status: number, operation: Operation, options: RequestOptions = {}): Promise<ErrorObject> {
    const answer = await this.call(operation, options);
    expect(answer.status, JSON.stringify(answer.data ?? answer.error)).toBe(status);
    return answer.error;
  }

  /** Sends one message from the target's sender. */
  send(fields: Record<string, unknown> = {}): Promise<Message> {
    return this.get('POST /messages/send', { json: sendBody(fields) });
  }

  async #request(method: string, path: string, options: RequestOptions): Promise<Answer<unknown>> {
    const url = new URL(target.baseUrl + path);
    for (const [name, value] of Object.entries(options.query ?? {})) url.searchParams.set(name, String(value));
    const response = await fetch(url, {
      method,
      headers: {
        ...(this.key === null ? {} : { authorization: `Bearer ${this.key}` }),
        ...(options.json === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      body: options.json === undefined ? undefined : JSON.stringify(options.json),
    });
    const body = (await response.json()) as Omit<Answer<unknown>, 'status' | 'headers'>;
    expectEnvelope(response, body);
    expectTimes(body);
    return { status: response.status, headers: response.headers, ...body };
  }
}

/** What the specification says of every answer, whatever the document says. */
function expectEnvelope(response: Response, body: Omit<Answer<unknown>, 'status' | 'headers'>): void {
  expect(response.headers.get('content-type')).toMatch(/^application\/json\b/);
  expect([200, 201, 400, 401, 402, 403, 404, 429, 500]).toContain(response.status);
  expect(body.success).toBe(response.ok);
  const names = Object.keys(body).filter((name) => name !== 'pagination');
  expect(names.sort()).toEqual(response.ok ? ['data', 'meta', 'success'] : ['error', 'meta', 'success']);
  expect(body.meta).toEqual({ request_id: expect.stringMatching(/./) as string, api_version: 'v1' });
}

function expectTimes(value: unknown): void {
  if (value === null || typeof value !== 'object') return;
  for (const [name, inner] of Object.entries(value)) {
    if (timeNames.test(name) && inner !== null) expect(inner, name).toMatch(time);
    expectTimes(inner);
  }
}

/** The identifiers of the upstream providers, in their order. */
export const providers = providersOf(served.document);

function providersOf({ paths }: OpenApiDocument): string[] {
  const body = paths['/messages/send']?.['post']?.requestBody?.content['application/json']?.schema;
  return (body?.properties['provider']?.enum ?? []).filter((name) => name !== null) as string[];
}

/** The account's key with every scope. */
export const api = new Client(target.apiKey);

/** The body of a send, sound unless the fields say otherwise. */
export function sendBody(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { to: recipient(), from: target.sender, body: 'Your code is 4711', ...fields };
}

/** Digits that no other test uses. */
function digits(count: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(count)), (byte) => byte % 10).join('');
}

/** A number that nothing was sent to before. */
export function recipient(): string {
  return `+1415${digits(7)}`;
}

/** Of the numbers that make a simulated carrier do what it is told, one that nothing was sent to before. */
export function magicRecipient(scenario: string): string {
  return `${target.magicPrefix ?? ''}${scenario}${digits(6)}`;
}

/** A sender that nobody has applied for. */
export function newSenderId(): string {
  return `T${digits(10)}`;
}

/** A key that lives as long as the test. */
export async function createKey(fields: Record<string, unknown> = {}): Promise<CreatedApiKey & { client: Client }> {
  const key = await api.get('POST /api-keys/create', { json: { name: 'contract', ...fields } });
  onTestFinished(async () => {
    await api.call('DELETE /api-keys/{id}', { id: key.id });
  });
  return { ...key, client: new Client(key.plain_key) };
}

/** The message, once it is in a state. */
export function inState(id: string, status: string): Promise<Message> {
  return until(`${id} is ${status}`, async () => {
    const message = await api.get('GET /messages/{id}', { id });
    return message.status === status && message;
  });
}
