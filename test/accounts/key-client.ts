import { expect } from 'vitest';
import { ApiClient, type Answer } from '../helpers/client.ts';

export type Key = {
  id: string;
  object: string;
  name: string;
  key_hint: string;
  is_active: boolean;
  permissions: string[];
  rate_limit: number;
  last_used_at: string | null;
  expires_at: string | null;
  created_at: string;
};

export type CreatedKey = Key & { plain_key: string; plain_key_notice: string };

export function createKey(api: ApiClient, fields: Record<string, unknown> = {}): Promise<Answer<CreatedKey>> {
  return api.request('POST', '/api-keys/create', { json: { name: 'a key', ...fields } });
}

/** Creates a key and gives back a caller that has it. */
export async function createdKey(
  api: ApiClient,
  fields: Record<string, unknown> = {},
): Promise<{ key: CreatedKey; api: ApiClient }> {
  const { status, data, error } = await createKey(api, fields);
  expect({ status, error }).toEqual({ status: 201, error: undefined });
  return { key: data, api: new ApiClient(api.baseUrl, data.plain_key) };
}

export async function listKeys(api: ApiClient): Promise<Key[]> {
  const { status, data } = await api.request<{ object: string; data: Key[] }>('GET', '/api-keys');
  expect({ status, object: data.object }).toEqual({ status: 200, object: 'list' });
  return data.data;
}

export function revoke(api: ApiClient, id: string): Promise<Answer<{ id: string; object: string; deleted: boolean }>> {
  return api.request('DELETE', `/api-keys/${id}`);
}
