import { request } from 'undici';
import { Failure, misuse } from './failure.ts';
import type { Target } from './target.ts';

export type Query = Record<string, string | number | boolean | undefined>;
export type RequestOptions = { query?: Query; body?: unknown; idempotencyKey?: string; timeoutMs?: number };

/** What all answers of both APIs look like. */
type Envelope = {
  success: boolean;
  data: unknown;
  pagination?: { total?: number; has_more: boolean; next_cursor?: string | null };
  error?: { code: string; message: string; details?: Record<string, unknown> };
  meta?: { request_id: string };
};

export type Answer<Data> = { data: Data; pagination: Envelope['pagination'] };

/** An error the service answered with. */
export class ServiceError extends Failure {
  readonly details: Readonly<Record<string, unknown>>;

  constructor(message: string, details: Record<string, unknown>) {
    super(message);
    this.details = details;
  }
}

const timeoutMsDefault = 60_000;

/** One of the two APIs of a service, with the token or key it asks for. */
export class Client {
  readonly #baseUrl: string;
  readonly #credential: string;
  readonly #refusedHint: string;

  private constructor(baseUrl: string, credential: string, refusedHint: string) {
    this.#baseUrl = baseUrl;
    this.#credential = credential;
    this.#refusedHint = refusedHint;
  }

  static operator({ url, token }: Target): Client {
    const how =
      "Give the operator token with --token or HELIOGRAPH_TOKEN: the service's OPERATOR_TOKEN, or operator_token in secrets.json in its DATA_DIR.";
    if (token === undefined) {
      throw misuse(
        `This needs the operator token of ${url}. ${how} For a quickstart, run "npm start" first, with the same DATA_DIR: it is then found there.`,
      );
    }
    return new Client(`${url}/operator/v1`, token, how);
  }

  static public({ url, key }: Target): Client {
    const how = 'Give an API key with --key or HELIOGRAPH_KEY; "heliograph key create" makes one.';
    if (key === undefined) throw misuse(`This needs an API key of an account at ${url}. ${how}`);
    return new Client(`${url}/api/v1`, key, how);
  }

  async get<Data>(path: string, query?: Query, timeoutMs?: number): Promise<Data> {
    return (await this.request<Data>('GET', path, { query, timeoutMs })).data;
  }

  async post<Data>(path: string, body?: unknown, timeoutMs?: number): Promise<Data> {
    return (await this.request<Data>('POST', path, { body, timeoutMs })).data;
  }

  async delete<Data>(path: string, query?: Query): Promise<Data> {
    return (await this.request<Data>('DELETE', path, { query })).data;
  }

  /** Throws a `ServiceError` for an answer that is an error, another `Failure` where none came. */
  async request<Data>(method: string, path: string, options: RequestOptions): Promise<Answer<Data>> {
    const url = new URL(this.#baseUrl + path);
    for (const [name, value] of Object.entries(options.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const { status, envelope } = await this.#exchange(method, url, options);
    if (envelope.success) return { data: envelope.data as Data, pagination: envelope.pagination };
    const { message = `The service answered ${status}.`, details = {} } = envelope.error ?? {};
    const hint = status === 401 ? ` ${this.#refusedHint}` : '';
    const id = status >= 500 && envelope.meta !== undefined ? ` (request ${envelope.meta.request_id})` : '';
    throw new ServiceError(`${message}${hint}${id}`, details);
  }

  async #exchange(
    method: string,
    url: URL,
    { body, idempotencyKey, timeoutMs = timeoutMsDefault }: RequestOptions,
  ): Promise<{ status: number; envelope: Envelope }> {
    try {
      const { statusCode, body: answer } = await request(url, {
        method,
        headers: {
          authorization: `Bearer ${this.#credential}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      });
      return { status: statusCode, envelope: readEnvelope(url, statusCode, await answer.text()) };
    } catch (error) {
      throw error instanceof Failure ? error : unreachable(url, error, timeoutMs);
    }
  }
}

function readEnvelope({ origin }: URL, status: number, text: string): Envelope {
  try {
    const envelope = JSON.parse(text) as Envelope;
    if (typeof envelope.success === 'boolean') return envelope;
  } catch {
    // Said below.
  }
  throw new Failure(`What answers at ${origin} (status ${status}) is not Heliograph. Check --url or HELIOGRAPH_URL.`);
}

function unreachable({ origin }: URL, error: unknown, timeoutMs: number): Failure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return new Failure(`${origin} did not answer within ${timeoutMs / 1_000} s. It may be overloaded; try again.`);
  }
  return new Failure(
    `Cannot reach Heliograph at ${origin} (${code}). Start it with "npm start", or say where it runs with --url or HELIOGRAPH_URL.`,
  );
}
