import type { QueuedDelivery } from './enqueue.ts';
import type { Settlement } from './retry.ts';

/** One attempt, as it is kept on its delivery. */
export type AttemptRecord = {
  at: string;
  /** The receiver's HTTP status; null when there was no answer, and `error` says why. */
  status: number | null;
  latency_ms: number;
  error: string | null;
  /** The first 1 KiB of the answer. */
  answer: string | null;
};

/** What became of one turn of a delivery. Without an attempt it was skipped: its endpoint or its message is gone. */
export type DeliveryResult = {
  delivery: QueuedDelivery;
  attempt: AttemptRecord | null;
  endedAtMs: number;
  settlement: Settlement;
};

/** What a batch of attempts at one endpoint, in their order, does to its count of consecutive failures. */
export type EndpointTally = {
  accountId: string;
  endpointId: string;
  /** Failures before the first success: they follow those already counted. */
  leadingFailures: number;
  /** Failures after the last success, or all of them. */
  trailingFailures: number;
  longestRun: number;
  lastSuccessAtMs: number | null;
  lastFailureAtMs: number | null;
};

function startTally({ accountId, endpointId }: QueuedDelivery): EndpointTally {
  return {
    accountId,
    endpointId,
    leadingFailures: 0,
    trailingFailures: 0,
    longestRun: 0,
    lastSuccessAtMs: null,
    lastFailureAtMs: null,
  };
}

/** Sums up a batch by endpoint, ordered by key so that processes lock endpoints in one order. */
export function tallyByEndpoint(results: readonly DeliveryResult[]): EndpointTally[] {
  const tallies = new Map<string, EndpointTally>();
  for (const { delivery, attempt, endedAtMs, settlement } of results) {
    if (attempt === null) continue;
    const key = `${delivery.accountId} ${delivery.endpointId}`;
    const tally = tallies.get(key) ?? startTally(delivery);
    tallies.set(key, tally);
    if (settlement.status === 'succeeded') {
      tally.trailingFailures = 0;
      tally.lastSuccessAtMs = endedAtMs;
    } else {
      tally.trailingFailures += 1;
      tally.longestRun = Math.max(tally.longestRun, tally.trailingFailures);
      if (tally.lastSuccessAtMs === null) tally.leadingFailures += 1;
      tally.lastFailureAtMs = endedAtMs;
    }
  }
  return [...tallies.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, tally]) => tally);
}
