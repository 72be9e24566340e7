import { formatTime } from '../lib/clock.ts';
import { timeOfId, toPublicId } from '../lib/ids.ts';
import { showMessage, type Message, type MessageRow, type MessageStatus } from './message-view.ts';

export const eventTypes = ['message.sent', 'message.delivered', 'message.failed'] as const;
export type EventType = (typeof eventTypes)[number];

/** The state a message entered when the event happened. */
export type EventStatus = Exclude<MessageStatus, 'pending'>;

/** The Event of the API (spec: Event), and the body of a webhook. */
export type Event = { id: string; object: 'event'; type: EventType; created_at: string; data: Message };

/** `failed` and `undelivered` are both told as message.failed; `data.status` tells which. */
export function eventTypeOf(status: EventStatus): EventType {
  return status === 'sent' || status === 'delivered' ? `message.${status}` : 'message.failed';
}

/** An event is derived from its message, so redacting the message redacts its events. */
export function showEvent(eventId: string, status: EventStatus, message: MessageRow): Event {
  return {
    id: toPublicId('evt', eventId),
    object: 'event',
    type: eventTypeOf(status),
    created_at: formatTime(timeOfId(eventId)),
    data: showMessage(message, status),
  };
}
