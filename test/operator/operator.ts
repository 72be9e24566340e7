import { expect } from 'vitest';
import type { accountSchema } from '../../src/accounts/schema.ts';
import type { createdKeySchema } from '../../src/accounts/key-schema.ts';
import type { Story } from '../../src/operator/story-schema.ts';
import type { senderSchema } from '../../src/senders/schema.ts';
import type { Static } from 'typebox';
import { ApiClient, type Query } from '../helpers/client.ts';
import { operatorToken, type TestService } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';

export type Account = Static<typeof accountSchema>;
export type CreatedKey = Static<typeof createdKeySchema>;
export type Sender = Static<typeof senderSchema> & { account_id: string };
export type Transfer = { kind: string; amount: number; currency: string; note: string; balance: number };

/** The operator of a test service. Every answer is held to the same rules as the public API's. */
export class Operator {
  readonly client: ApiClient;
  readonly #publicUrl: string;

  constructor(service: TestService, app: { url: string } = service.app, token = operatorToken) {
    this.client = new ApiClient(`${app.url}/operator/v1`, token);
    this.#publicUrl = `${app.url}/api/v1`;
  }

  get(path: string, query: Query = {}) {
    return this.client.request<never>('GET', path, { query });
  }

  post(path: string, json?: unknown) {
    return this.client.request<never>('POST', path, { json });
  }

  delete(path: string, query: Query = {}) {
    return this.client.request<never>('DELETE', path, { query });
  }

  /** The data of an answer that must have this status. */
  async expect<Data>(status: number, method: string, path: string, options: { json?: unknown; query?: Query } = {}) {
    const answer = await this.client.request<Data>(method, path, options);
    expect({ status: answer.status, error: answer.error }).toEqual({ status, error: undefined });
    return answer.data;
  }

  createAccount(fields: Record<string, unknown> = {}): Promise<Account> {
    const json = { name: 'Ana', email: 'ana@example.com', ...fields };
    return this.expect<Account>(201, 'POST', '/accounts', { json });
  }

  /** A caller with a key that the operator made. */
  async createKey(
    accountId: string,
    fields: Record<string, unknown> = {},
  ): Promise<{ key: CreatedKey; api: ApiClient }> {
    const json = { name: 'made by the operator', ...fields };
    const key = await this.expect<CreatedKey>(201, 'POST', `/accounts/${accountId}/api-keys`, { json });
    return { key, api: new ApiClient(this.#publicUrl, key.plain_key) };
  }

  story(messageId: string): Promise<Story> {
    return this.expect<Story>(200, 'GET', `/messages/${messageId}/story`);
  }

  /** The story once it says what a test waits for. */
  storyWhere(what: string, messageId: string, is: (story: Story) => boolean): Promise<Story> {
    return until(what, async () => {
      const story = await this.story(messageId);
      return is(story) && story;
    });
  }
}
