import type { Story } from './story-schema.ts';

/** A story without its timeline: what that is told from. */
export type StoryParts = Omit<Story, 'timeline'>;
export type Moment = Story['timeline'][number];

/** All that happened to a message, in order, in sentences. Moments of the same millisecond stay in the order of the message's way. */
export function tellTimeline(story: StoryParts): Moment[] {
  return [
    acceptance(story),
    ...story.ledger.filter(({ kind }) => kind === 'charge').map((entry) => movement(entry, story)),
    ...story.attempts.map(attempt),
    ...story.receipts.map(receipt),
    ...story.ledger.filter(({ kind }) => kind === 'refund').map((entry) => movement(entry, story)),
    ...story.events.map((event) => announcement(event, story)),
    ...story.events.flatMap(deliveries),
  ].sort((first, second) => Date.parse(first.at) - Date.parse(second.at));
}

function acceptance({ message, segments, providers, route_id: routeId }: StoryParts): Moment {
  const size = segments === 1 ? '1 segment' : `${segments} segments`;
  const way = providers.length === 0 ? '' : `; route ${routeId} leads to ${providers.join(' → ')}`;
  return {
    at: message.created_at,
    kind: 'accepted',
    text: `Accepted from ${message.from} to ${message.to}: ${size}${way}.`,
  };
}

function movement({ kind, amount, created_at: at }: Story['ledger'][number], { message }: StoryParts): Moment {
  const sum = `${Math.abs(amount)} ${message.currency}`;
  const text = kind === 'charge' ? `${sum} taken from the balance.` : `${sum} given back.`;
  return { at, kind, text };
}

const skipReasons: Record<string, string> = {
  breaker_open: 'its breaker is open',
  rate_reached: 'its rate is reached',
  concurrency_reached: 'all its places are taken',
};

function attempt(record: Story['attempts'][number]): Moment {
  const { at, provider, result, code, detail, latency_ms: latencyMs, provider_message_id: id, duplicate } = record;
  if (result === 'skipped') {
    return { at, kind: 'skipped', text: `${provider} passed over: ${skipReasons[code ?? ''] ?? code}.` };
  }
  const took = latencyMs === null ? '' : ` after ${Math.round(latencyMs)} ms`;
  const said = [code, detail].filter((part) => part !== null).join(', ');
  const why = said === '' ? '' : `: ${said}`;
  const texts = {
    accepted: `${provider} accepted it${took}${id === null ? '' : ` as ${id}`}${why}`,
    rejected: `${provider} refused it${took}${why}`,
    retryable: `${provider} could not take it${took}${why}`,
    unknown: `${provider} may have taken it, no answer came${took}${why}`,
  };
  const warning = duplicate ? ' The recipient may have it twice.' : '';
  return { at, kind: 'attempt', text: `${texts[result]}.${warning}` };
}

function receipt({ at, provider, state, code, attempt: number }: Story['receipts'][number]): Moment {
  const why = code === null ? '' : `, code ${code}`;
  return { at, kind: 'receipt', text: `${provider} reports on attempt ${number}: ${state}${why}.` };
}

const entries = {
  sent: 'is sent',
  delivered: 'is delivered',
  undelivered: 'is undelivered',
  failed: 'has failed',
};

function announcement({ id, type, status, created_at: at }: Story['events'][number], { message }: StoryParts): Moment {
  const isFailure = status === 'failed' || status === 'undelivered';
  const why = isFailure && message.error !== null ? `: ${message.error.code}` : '';
  return { at, kind: 'event', text: `The message ${entries[status]}${why}. Event ${id}, ${type}.` };
}

function deliveries({ id, type, created_at: createdAt, deliveries: all }: Story['events'][number]): Moment[] {
  return all.flatMap(({ url, endpoint_id: endpointId, status, attempts, next_attempt_at: nextAt }) => {
    const place = url ?? endpointId;
    const moments: Moment[] = attempts.map(({ at, status: code, latency_ms: latencyMs, error }) => ({
      at,
      kind: 'delivery',
      text: `${type} to ${place}: ${code ?? error ?? 'no answer'} after ${Math.round(latencyMs)} ms.`,
    }));
    const ending =
      status === 'pending'
        ? `${type} to ${place}: waiting${nextAt === null ? '' : `, next attempt by ${nextAt}`}.`
        : status === 'succeeded'
          ? undefined
          : `${type} to ${place}: ${status}. Replay ${id} when the endpoint works.`;
    if (ending !== undefined) moments.push({ at: moments.at(-1)?.at ?? createdAt, kind: 'delivery', text: ending });
    return moments;
  });
}
