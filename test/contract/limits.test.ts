import { describe, expect, test } from 'vitest';
import { api, createKey, newSenderId, recipient, sendBody, target } from './client.ts';

const lists = ['GET /messages', 'GET /senders', 'GET /events'] as const;

/** How many segments a body is billed as, against one short one. */
async function segmentsOf(body: string): Promise<number> {
  const [{ cost: one }, { cost }] = [await api.send({ body: 'Hello' }), await api.send({ body })];
  return Math.round((cost / one) * 1e6) / 1e6;
}

describe('the limit of', () => {
  test('a message body is 1,600 characters', async () => {
    expect((await api.send({ body: 'ж'.repeat(1_600) })).status).toBe('sent');
    await api.fail(400, 'POST /messages/send', { json: sendBody({ body: 'ж'.repeat(1_601) }) });
  });

  test('the recipients of a bulk is 1 to 1,000', async () => {
    const bulk = { ...sendBody({ to: undefined }), recipients: [recipient()] };
    expect((await api.get('POST /messages/bulk', { json: bulk })).total).toBe(1);
    for (const recipients of [[], Array(1_001).fill(recipient())]) {
      await api.fail(400, 'POST /messages/bulk', { json: { ...bulk, recipients } });
    }
  });

  test('sender_id is 16 characters', async () => {
    const sender_id = newSenderId().padEnd(16, 'x');
    expect((await api.get('POST /senders/create', { json: { sender_id } })).sender_id).toHaveLength(16);
    await api.fail(400, 'POST /senders/create', { json: { sender_id: `${sender_id}x` } });
  });

  test('an alphanumeric from is 11 characters', async () => {
    expect(target.sender.length).toBeLessThanOrEqual(11);
    expect((await api.send()).from).toBe(target.sender);
    expect((await api.fail(400, 'POST /messages/send', { json: sendBody({ from: target.tooLongSender }) })).param).toBe(
      'from',
    );
  });

  test('page is at least 1, and 1 unless told otherwise', async () => {
    for (const list of lists) {
      expect((await api.call(list)).pagination.page).toBe(1);
      expect((await api.call(list, { query: { page: 2 } })).pagination.page).toBe(2);
      for (const page of [0, -1, 'one']) expect((await api.fail(400, list, { query: { page } })).param).toBe('page');
    }
  });

  test('limit is 1 to 100, and 50 unless told otherwise', async () => {
    for (const list of lists) {
      expect((await api.call(list)).pagination.limit).toBe(50);
      for (const limit of [1, 100]) {
        expect((await api.call(list, { query: { limit } })).pagination.limit).toBe(limit);
      }
      for (const limit of [0, 101, 'all'])
        expect((await api.fail(400, list, { query: { limit } })).param).toBe('limit');
    }
  });

  test('a key’s rate_limit is 1 to 6000', async () => {
    for (const rate_limit of [1, 6_000]) expect((await createKey({ rate_limit })).rate_limit).toBe(rate_limit);
    for (const rate_limit of [0, 6_001]) {
      const json = { name: 'contract', rate_limit };
      expect((await api.fail(400, 'POST /api-keys/create', { json })).param).toBe('rate_limit');
    }
  });

  test('a key’s daily_limit and monthly_limit is at least 1, or null', async () => {
    for (const name of ['daily_limit', 'monthly_limit']) {
      for (const value of [1, null]) await createKey({ [name]: value });
      const json = { name: 'contract', [name]: 0 };
      expect((await api.fail(400, 'POST /api-keys/create', { json })).param).toBe(name);
    }
  });
});

describe('segments are billed:', () => {
  test('in GSM-7 160 characters, then 153 for each further one', async () => {
    const segments: number[] = [];
    for (const length of [160, 161, 306, 307, 459, 460]) segments.push(await segmentsOf('a'.repeat(length)));
    expect(segments).toEqual([1, 2, 2, 3, 3, 4]);
  });

  test('in UCS-2 70 characters, then 67 for each further one', async () => {
    const segments: number[] = [];
    for (const length of [70, 71, 134, 135, 201, 202]) segments.push(await segmentsOf('ж'.repeat(length)));
    expect(segments).toEqual([1, 2, 2, 3, 3, 4]);
  });

  test('in UCS-2 when the body has any character outside GSM-7', async () => {
    expect(await segmentsOf(`${'a'.repeat(70)}ж`)).toBe(2);
    expect(await segmentsOf(`${'ä'.repeat(70)}ß`)).toBe(1);
  });
});

test('the rate limit is per key', async () => {
  const [one, other] = [await createKey({ rate_limit: 1 }), await createKey({ rate_limit: 1 })];
  await one.client.get('GET /account');
  await one.client.fail(429, 'GET /account');
  await other.client.get('GET /account');
});
