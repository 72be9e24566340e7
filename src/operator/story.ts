import type { Pool } from '../db/pool.ts';
import type { AttemptRecord } from '../dispatch/attempt.ts';
import { readDispatchStory } from '../dispatch/story.ts';
import { eventTypeOf } from '../events/event.ts';
import { microsToNumber, showMessage } from '../events/message-view.ts';
import { findEventsOf } from '../events/of-message.ts';
import { readMessages } from '../events/read.ts';
import { readMessageEntries, type LedgerEntry } from '../ledger/ledger.ts';
import { formatTime, formatTimeOrNull } from '../lib/clock.ts';
import { timeOfId, toPublicId } from '../lib/ids.ts';
import { findAccountOfMessage } from '../messages/search-queries.ts';
import { readReceiptsOf, type KeptReceipt } from '../receipts/kept.ts';
import { readDeliveriesOf, type DeliveryRow } from '../webhooks/replay.ts';
import type { DeliveryView, Story } from './story-schema.ts';
import { tellTimeline } from './timeline.ts';

/** More than any upstream sends; a story shows the first of them. */
const receiptsMax = 200;

/** Everything that is known of a message, whosever it is; undefined where there is no such message. */
export async function readStory(pool: Pool, messageId: string): Promise<Story | undefined> {
  const accountId = await findAccountOfMessage(pool, messageId);
  if (accountId === undefined) return undefined;
  const key = { accountId, messageId };
  const message = (await readMessages(pool, [key])).get(messageId);
  if (message === undefined) return undefined;
  const [dispatch, receipts, events, ledger] = await Promise.all([
    readDispatchStory(pool, key),
    readReceiptsOf(pool, key, receiptsMax),
    findEventsOf(pool, message),
    readMessageEntries(pool, accountId, messageId),
  ]);
  const deliveries = await readDeliveriesOf(
    pool,
    accountId,
    events.map(({ eventId }) => eventId),
  );
  const parts = {
    object: 'message_story' as const,
    account_id: toPublicId('acc', accountId),
    message: showMessage(message),
    segments: dispatch.segments,
    route_id: dispatch.routeId,
    providers: dispatch.providers,
    in_dispatch:
      dispatch.leasedUntil === null
        ? null
        : { leased_until: formatTime(dispatch.leasedUntil), started: dispatch.started ?? [] },
    attempts: dispatch.attempts.map(showAttempt),
    receipts: receipts.map(showReceipt),
    events: events.map(({ eventId, status }) => ({
      id: toPublicId('evt', eventId),
      type: eventTypeOf(status),
      status,
      created_at: formatTime(timeOfId(eventId)),
      deliveries: deliveries
        .filter((delivery) => delivery.event_id === eventId)
        .map((delivery) => ({ url: delivery.url, ...showCourse(delivery) })),
    })),
    ledger: ledger.map(showEntry),
  };
  return { ...parts, timeline: tellTimeline(parts) };
}

function showAttempt(attempt: AttemptRecord): Story['attempts'][number] {
  const { at, provider, result, duplicate = false } = attempt;
  return {
    at,
    provider,
    result,
    code: attempt.code ?? null,
    detail: attempt.detail ?? null,
    latency_ms: attempt.latency_ms ?? null,
    provider_message_id: attempt.provider_message_id ?? null,
    duplicate,
  };
}

/** People count attempts from 1. */
function showReceipt({ id, attempt, providerMessageId, ...receipt }: KeptReceipt): Story['receipts'][number] {
  const { provider, state, code, raw } = receipt;
  const at = formatTime(timeOfId(id));
  return { at, provider, provider_message_id: providerMessageId, attempt: attempt + 1, state, code, raw };
}

function showEntry({ kind, amountMicros, note, createdAt }: LedgerEntry): Story['ledger'][number] {
  return {
    kind: kind as 'charge' | 'refund',
    amount: microsToNumber(amountMicros),
    note,
    created_at: formatTime(createdAt),
  };
}

/** What has become of a delivery so far. */
function showCourse({ endpoint_id: endpointId, status, attempts, next_attempt_at: nextAttemptAt }: DeliveryRow) {
  return {
    endpoint_id: toPublicId('whe', endpointId),
    status,
    next_attempt_at: status === 'pending' ? formatTimeOrNull(nextAttemptAt) : null,
    attempts,
  };
}

/** A delivery as a list shows it. */
export function showDelivery(row: DeliveryRow): DeliveryView {
  return {
    object: 'delivery',
    account_id: toPublicId('acc', row.account_id),
    event_id: toPublicId('evt', row.event_id),
    message_id: toPublicId('msg', row.message_id),
    ...showCourse(row),
  };
}
