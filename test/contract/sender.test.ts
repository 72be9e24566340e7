import { beforeAll, describe, expect, test } from 'vitest';
import { api, newSenderId, target, time } from './client.ts';
import type { Sender } from './resources.ts';

describe('the Sender has', () => {
  const senderId = newSenderId();
  let created: Sender;
  let approved: Sender | undefined;

  beforeAll(async () => {
    const json = { sender_id: senderId, type: 'alphanumeric', country_code: 'GB' };
    created = await api.get('POST /senders/create', { json });
    const senders = await api.get('GET /senders', { query: { status: 'approved', limit: 100 } });
    approved = senders.find((sender) => sender.sender_id === target.sender);
  });

  test('id, a string', () => expect(created.id).toMatch(/./));
  test('object, which is sender', () => expect(created.object).toBe('sender'));
  test('sender_id, the text itself', () => expect(created.sender_id).toBe(senderId));
  test('type, one of four', async () => {
    expect(created.type).toBe('alphanumeric');
    for (const [type, sender_id] of Object.entries(typical())) {
      const sender = await api.get('POST /senders/create', { json: { sender_id, type } });
      expect(sender.type).toBe(type);
    }
  });
  test('country_code, two letters or null', async () => {
    expect(created.country_code).toBe('GB');
    const { country_code } = await api.get('POST /senders/create', { json: { sender_id: newSenderId() } });
    expect(country_code).toBeNull();
  });
  test('status, one of four', async () => {
    expect([created.status, approved?.status]).toEqual(['pending', 'approved']);
    for (const status of ['pending', 'approved', 'rejected', 'suspended']) {
      const senders = await api.get('GET /senders', { query: { status, limit: 100 } });
      expect(senders.filter((sender) => sender.status !== status)).toEqual([]);
    }
  });
  test('approved_at, a time once it is approved, else null', () => {
    expect(created.approved_at).toBeNull();
    expect(approved?.approved_at).toMatch(time);
  });
  test('created_at, a time', () => expect(created.created_at).toMatch(time));
});

/** A sender of each type. */
function typical(): Record<string, string> {
  const number = newSenderId().replaceAll('T', '');
  return {
    alphanumeric: newSenderId(),
    numeric: `1${number}`,
    short_code: `5${number.slice(0, 5)}`,
    long_code: `+1${number}`,
  };
}
