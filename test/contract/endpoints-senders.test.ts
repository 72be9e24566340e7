import { describe, expect, test } from 'vitest';
import { until } from './until.ts';
import { api, Client, newSenderId } from './client.ts';
import type { Sender } from './resources.ts';

function page(number: number): Promise<Sender[]> {
  return api.get('GET /senders', { query: { limit: 1, page: number } });
}

describe('GET /senders', () => {
  test('answers 200 with an array of Sender and pagination', async () => {
    const { id } = await api.get('POST /senders/create', { json: { sender_id: newSenderId() } });
    const { status, data, pagination } = await api.call('GET /senders', { query: { limit: 100 } });
    expect(status).toBe(200);
    expect(data.map((sender) => sender.id)).toContain(id);
    expect(pagination).toMatchObject({ page: 1, limit: 100 });
  });
  test('status, one of four, filters', async () => {
    const { id } = await api.get('POST /senders/create', { json: { sender_id: newSenderId() } });
    for (const status of ['pending', 'approved', 'rejected', 'suspended']) {
      const senders = await api.get('GET /senders', { query: { status, limit: 100 } });
      expect(senders.filter((sender) => sender.status !== status)).toEqual([]);
      expect(senders.some((sender) => sender.id === id)).toBe(status === 'pending');
    }
    expect((await api.fail(400, 'GET /senders', { query: { status: 'unknown' } })).param).toBe('status');
  });
  test('page and limit choose the part', async () => {
    for (const sender_id of [newSenderId(), newSenderId()])
      await api.get('POST /senders/create', { json: { sender_id } });
    await until('two pages differ; what others add meanwhile moves the list on', async () => {
      const [first, second] = [await page(1), await page(2)];
      expect([first.length, second.length]).toEqual([1, 1]);
      return first[0]?.id !== second[0]?.id;
    });
  });
  test('answers 401 without a valid key', async () => {
    await new Client(null).fail(401, 'GET /senders');
  });
});

describe('POST /senders/create', () => {
  test('answers 201 with the Sender, which is pending', async () => {
    const { status, data } = await api.call('POST /senders/create', { json: { sender_id: newSenderId() } });
    expect({ status, state: data.status }).toEqual({ status: 201, state: 'pending' });
  });
  test('sender_id is required, at most 16 characters', async () => {
    const longest = `${newSenderId()} GmbH`.padEnd(16, '.');
    const { sender_id } = await api.get('POST /senders/create', { json: { sender_id: longest } });
    expect([sender_id, sender_id.length]).toEqual([longest, 16]);
    for (const json of [{}, { sender_id: `${longest}.` }, { sender_id: 7 }]) {
      expect((await api.fail(400, 'POST /senders/create', { json })).param).toBe('sender_id');
    }
  });
  test('type, one of four, is optional', async () => {
    const { type } = await api.get('POST /senders/create', { json: { sender_id: newSenderId() } });
    expect(['alphanumeric', 'numeric', 'short_code', 'long_code']).toContain(type);
    const json = { sender_id: newSenderId(), type: 'toll_free' };
    expect((await api.fail(400, 'POST /senders/create', { json })).param).toBe('type');
  });
  test('country_code, exactly two characters, is optional', async () => {
    const json = { sender_id: newSenderId(), country_code: 'DE' };
    expect((await api.get('POST /senders/create', { json })).country_code).toBe('DE');
    for (const country_code of ['D', 'DEU', '']) {
      const wrong = { sender_id: newSenderId(), country_code };
      expect((await api.fail(400, 'POST /senders/create', { json: wrong })).param).toBe('country_code');
    }
  });
  test('answers 400 to an invalid request', async () => {
    expect((await api.fail(400, 'POST /senders/create', { json: {} })).type).toBe('invalid_request_error');
  });
  test('answers 401 without a valid key', async () => {
    await new Client(null).fail(401, 'POST /senders/create', { json: { sender_id: newSenderId() } });
  });
});

describe('GET /senders/{id}', () => {
  test('answers 200 with the Sender of that id', async () => {
    const sender = await api.get('POST /senders/create', { json: { sender_id: newSenderId() } });
    expect(await api.call('GET /senders/{id}', { id: sender.id })).toMatchObject({ status: 200, data: sender });
  });
  test('answers 404 when there is no such sender', async () => {
    expect((await api.fail(404, 'GET /senders/{id}', { id: 'snd_00000000000000000000000000' })).code).toBe('not_found');
  });
});
