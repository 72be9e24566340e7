import { beforeAll, describe, expect, test } from 'vitest';
import { until } from './until.ts';
import { api, magicRecipient, target, time } from './client.ts';
import type { Event, Message } from './resources.ts';

/** The event of a message, from the list of past ones. */
function eventOf(messageId: string, type: string): Promise<Event> {
  return until(`${type} of ${messageId} is listed`, async () => {
    const events = await api.get('GET /events', { query: { type, limit: 100 } });
    return events.find((event) => event.data.id === messageId);
  });
}

describe('the Event has', () => {
  let message: Message;
  let sent: Event;

  beforeAll(async () => {
    message = await api.send();
    sent = await eventOf(message.id, 'message.sent');
  });

  test('id, with the prefix evt_', () => expect(sent.id).toMatch(/^evt_./));
  test('object, which is event', () => expect(sent.object).toBe('event'));
  test('type, one of three', async () => {
    const types = [sent.type, (await eventOf(message.id, 'message.delivered')).type];
    if (target.magicPrefix !== null) {
      const { id } = await api.send({ to: magicRecipient('008') });
      types.push((await eventOf(id, 'message.failed')).type);
    }
    expect(['message.sent', 'message.delivered', 'message.failed'].slice(0, types.length)).toEqual(types);
  });
  test('created_at, a time', () => expect(sent.created_at).toMatch(time));
  test('data, the Message it is about', () => {
    expect(sent.data).toMatchObject({ id: message.id, object: 'message', to: message.to, status: 'sent' });
  });
});
