import { expect } from 'vitest';
import { errorCatalogue } from '../../src/lib/errors.ts';
import type { Event } from '../../src/events/event.ts';
import type { Message } from '../../src/events/message-view.ts';

export type ErrorBody = {
  type: string;
  code: string;
  message: string;
  param?: string;
  details?: Record<string, unknown>;
};

export type Pagination = { page: number; limit: number; total: number; pages: number; has_more: boolean };

/** An answer of the API. `data` is there when it succeeded, `error` when it failed. */
export type Answer<Data> = {
  status: number;
  headers: Headers;
  data: Data;
  error: ErrorBody;
  pagination: Pagination;
  meta: { request_id: string; api_version: string };
};

export type BulkResult = { object: 'bulk_result'; total: number; sent: number; failed: number; messages: Message[] };
export type Balance = { object: 'balance'; balance: number; currency: string; as_of: string };
export type CreatedWebhook = { id: string; url: string; events: string[]; signing_secret: string };

export type SendFields = Partial<Record<'to' | 'from' | 'body' | 'route_id' | 'provider' | 'reference', unknown>>;
export type BulkFields = Partial<Record<'recipients' | 'from' | 'body' | 'route_id' | 'provider', unknown>>;
export type Query = Record<string, string | number>;

export type RequestOptions = { headers?: Record<string, string>; query?: Query; json?: unknown; rawBody?: string };

const statuses = new Set([200, 201, 400, 401, 402, 403, 404, 429, 500]);

/** A caller with one key. Every answer it gets is held to the envelope, the closed list of statuses and `X-Request-Id`. */
export class ApiClient {
  readonly baseUrl: string;
  readonly key: string;
  /** What `send` and `bulk` send from unless told otherwise. */
  readonly sender: string;

  constructor(baseUrl: string, key: string, sender = 'HELIO') {
    this.baseUrl = baseUrl;
    this.key = key;
    this.sender = sender;
  }

  /** The same caller at another process of the service. */
  at(baseUrl: string): ApiClient {
    return new ApiClient(baseUrl, this.key, this.sender);
  }

  send(fields: SendFields, headers: Record<string, string> = {}): Promise<Answer<Message>> {
    return this.request('POST', '/messages/send', { json: { from: this.sender, body: 'Hello', ...fields }, headers });
  }

  bulk(fields: BulkFields, headers: Record<string, string> = {}): Promise<Answer<BulkResult>> {
    return this.request('POST', '/messages/bulk', { json: { from: this.sender, body: 'Hello', ...fields }, headers });
  }

  /** Sends and gives back the message of a 201. */
  async sent(fields: SendFields, headers: Record<string, string> = {}): Promise<Message> {
    const { status, data, error } = await this.send(fields, headers);
    expect({ status, error }).toEqual({ status: 201, error: undefined });
    return data;
  }

  async get(id: string): Promise<Message> {
    const { status, data } = await this.request<Message>('GET', `/messages/${id}`);
    expect(status).toBe(200);
    return data;
  }

  list(query: Query = {}): Promise<Answer<Message[]>> {
    return this.request('GET', '/messages', { query });
  }

  /** The events of one message, oldest first. */
  async eventsOf(messageId: string): Promise<Event[]> {
    const { data } = await this.request<Event[]>('GET', '/events', { query: { limit: 100 } });
    return data.filter((event) => event.data.id === messageId).toReversed();
  }

  async balance(): Promise<number> {
    const { data } = await this.request<Balance>('GET', '/balance');
    return data.balance;
  }

  async createWebhook(fields: { url: string; events?: string[] }): Promise<CreatedWebhook> {
    const { status, data } = await this.request<CreatedWebhook>('POST', '/webhooks/create', { json: fields });
    expect(status).toBe(201);
    return data;
  }

  async request<Data = unknown>(method: string, path: string, options: RequestOptions = {}): Promise<Answer<Data>> {
    const url = new URL(this.baseUrl + path);
    for (const [name, value] of Object.entries(options.query ?? {})) url.searchParams.set(name, String(value));
    const body = options.rawBody ?? (options.json === undefined ? undefined : JSON.stringify(options.json));
    const response = await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${this.key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      body,
    });
    return readAnswer<Data>(response.status, response.headers, await response.text());
  }
}

/** Reads an answer and fails the test where it breaks a rule that holds for all of them (spec: Errors; What the service does). */
export function readAnswer<Data>(status: number, headers: Headers, text: string): Answer<Data> {
  expect(statuses, `status ${status} is not one of the API's: ${text}`).toContain(status);
  const { success, ...answer } = JSON.parse(text) as Omit<Answer<Data>, 'status' | 'headers'> & { success: boolean };
  expect(answer.meta).toEqual({ request_id: expect.stringMatching(/^req_[0-9a-z]{26}$/), api_version: 'v1' });
  expect(headers.get('x-request-id')).toBe(answer.meta.request_id);
  expect(success).toBe(status < 400);
  if (success) expect(answer).toHaveProperty('data');
  else expectError(status, answer.error);
  return { status, headers, ...answer };
}

function expectError(status: number, error: ErrorBody): void {
  const entry = Object.entries(errorCatalogue).find(([code]) => code === error.code)?.[1];
  expect(entry?.status, `the catalogue's status of ${error.code}`).toBe(status);
  expect([entry?.type, 'provider_error']).toContain(error.type);
  // A sentence for people; nothing of SQL, of files or of stack traces.
  expect(error.message).toMatch(/^[A-Z"].{10,}[.]$/s);
  expect(error.message).not.toMatch(/\bat \/|node_modules|SELECT |INSERT |relation|undefined|\[object/);
}
