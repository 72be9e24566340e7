import type { Clock } from '../lib/clock.ts';
import type { FaultBoard } from './faults.ts';
import type { Journal } from './journal.ts';
import { currentStatus, type Message } from './message.ts';
import type { Receipts } from './receipts.ts';
import { type Outcome, scenarioOf } from './scenario.ts';
import type { Threads } from './threads.ts';
import type { Reading, Submission, Upstream, WireRequest, WireResponse } from './upstream.ts';

const RETRY_AFTER_SECONDS = 1;

export type CarrierParts = {
  readonly clock: Clock;
  readonly journal: Journal;
  readonly faults: FaultBoard;
  readonly threads: Threads;
  readonly receipts: Receipts;
  readonly deliveryDelayMs: number;
};

/** One request and where its answer goes. */
export type Exchange = {
  readonly provider: string;
  readonly upstream: Upstream;
  readonly request: WireRequest;
  send(response: WireResponse): void;
  /** No answer, ever. */
  hold(): void;
};

/** What happens to a request, the same for every upstream: an upstream only reads it and words the answer. */
export function handleExchange(parts: CarrierParts, exchange: Exchange): void {
  const reading = exchange.upstream.read(exchange.request);
  // A struck request got no further than the upstream's front door: it is nobody's first try.
  const struck = parts.faults.strikes(exchange.provider);

  if (reading.kind === 'send') {
    send(parts, exchange, reading.submission, struck);
    return;
  }
  if (reading.kind === 'invalid')
    record(parts, exchange, { to: reading.to, outcome: struck ? 'unavailable' : 'invalid' });
  after(latencyMs(parts, exchange), () => {
    exchange.send(struck ? exchange.upstream.unavailable() : answer(parts, exchange, reading));
  });
}

function send(parts: CarrierParts, exchange: Exchange, submission: Submission, struck: boolean): void {
  const outcome = struck ? 'unavailable' : decide(parts, exchange.provider, submission);
  if (outcome === 'accepted') {
    accept(parts, exchange, submission);
    return;
  }
  record(parts, exchange, { to: submission.to, outcome, submission });
  if (outcome === 'silent') exchange.hold();
  else after(latencyMs(parts, exchange), () => exchange.send(refusal(exchange.upstream, submission, outcome)));
}

function decide({ threads }: CarrierParts, provider: string, { to, text }: Submission): Outcome {
  const { outcome, firstOutcome } = scenarioOf(to);
  return firstOutcome !== undefined && threads.isFirstTried(provider, to, text) ? firstOutcome : outcome;
}

function accept(parts: CarrierParts, exchange: Exchange, submission: Submission): void {
  const { clock, receipts } = parts;
  const { provider, upstream } = exchange;
  const scenario = scenarioOf(submission.to);
  const id = upstream.newMessageId(submission);
  const message: Message = { id, provider, submission, scenario, acceptedAt: clock.now(), receipts: [] };
  record(parts, exchange, { to: submission.to, outcome: 'accepted', submission, message });

  const delayMs = latencyMs(parts, exchange) + scenario.answerAfterMs;
  const confirm = () => {
    message.acceptedAt = clock.now();
    exchange.send(upstream.accepted(message));
  };
  if (scenario.receiptsBeforeAnswer) {
    receipts.schedule(message, upstream, () => after(delayMs, confirm));
  } else {
    after(delayMs, () => {
      confirm();
      receipts.schedule(message, upstream);
    });
  }
}

function refusal(
  upstream: Upstream,
  submission: Submission,
  outcome: Exclude<Outcome, 'accepted' | 'silent'>,
): WireResponse {
  if (outcome === 'unavailable') return upstream.unavailable();
  if (outcome === 'throttled') return upstream.throttled(RETRY_AFTER_SECONDS);
  return upstream.refused(submission, outcome);
}

function answer(
  parts: CarrierParts,
  { provider }: Exchange,
  reading: Exclude<Reading, { kind: 'send' }>,
): WireResponse {
  if (reading.kind !== 'poll') return reading.response;
  const message = parts.journal.find(provider, reading.messageId);
  return reading.render(message, message && currentStatus(message, parts.clock.now(), parts.deliveryDelayMs));
}

function record(
  { clock, journal }: CarrierParts,
  { provider, request }: Exchange,
  happened: { to: string | undefined; outcome: Outcome | 'invalid'; submission?: Submission; message?: Message },
): void {
  const { to, outcome, submission, message } = happened;
  journal.add({ provider, receivedAt: clock.now(), to, submission, outcome, message, request });
}

function latencyMs({ faults }: CarrierParts, { provider }: Exchange): number {
  return faults.get(provider).latencyMs;
}

/** Without delay it happens at once, in the caller's turn: the hot path sets no timer. */
function after(delayMs: number, act: () => void): void {
  if (delayMs === 0) act();
  else setTimeout(act, delayMs).unref();
}
