import { acceptMessage, answerLater, type CarrierParts, decide } from './carrier.ts';
import type { JournalEntry } from './journal.ts';
import { currentStatus, type Message } from './message.ts';
import type { Reporter } from './reporter.ts';
import { type Outcome, type Refusal, refusedLater, scenarioOf } from './scenario.ts';
import type { Reading, Submission, Upstream, WireRequest, WireResponse } from './upstream.ts';

const RETRY_AFTER_SECONDS = 1;

/** One HTTP request to an upstream and where its answer goes. */
export type Exchange = {
  readonly provider: string;
  readonly upstream: Upstream;
  readonly reporter: Reporter;
  readonly request: WireRequest;
  send(response: WireResponse): void;
  /** No answer, ever. */
  hold(): void;
};

/** What happens to a request: an upstream only reads it and words the answer. */
export function handleExchange(parts: CarrierParts, exchange: Exchange): void {
  const { provider, upstream, request } = exchange;
  const reading = upstream.read(request);
  // A struck request got no further than the upstream's front door: it is nobody's first try.
  const struck = parts.faults.strikes(provider);

  if (reading.kind === 'send') {
    if (struck) turnAway(parts, exchange, reading.submission, 'unavailable', upstream.unavailable());
    else send(parts, exchange, reading.submission);
    return;
  }
  if (reading.kind === 'invalid')
    record(parts, exchange, { to: reading.to, outcome: struck ? 'unavailable' : 'invalid' });
  answerLater(parts, provider, () => {
    exchange.send(struck ? upstream.unavailable() : answer(parts, exchange, reading));
  });
}

function send(parts: CarrierParts, exchange: Exchange, submission: Submission): void {
  const { provider, upstream } = exchange;
  if (upstream.duplicate !== undefined && isKnown(parts, provider, submission)) {
    turnAway(parts, exchange, submission, 'duplicate', upstream.duplicate(submission));
    return;
  }
  const outcome = decide(parts, provider, submission);
  switch (outcome) {
    case 'accepted':
      accept(parts, exchange, submission);
      break;
    case 'silent':
      record(parts, exchange, { to: submission.to, outcome, submission });
      exchange.hold();
      break;
    case 'unavailable':
      turnAway(parts, exchange, submission, outcome, upstream.unavailable());
      break;
    case 'throttled':
      turnAway(parts, exchange, submission, outcome, upstream.throttled(RETRY_AFTER_SECONDS));
      break;
    default: {
      const response = upstream.refused(submission, outcome);
      if (response === undefined) accept(parts, exchange, submission, outcome);
      else turnAway(parts, exchange, submission, outcome, response);
    }
  }
}

function isKnown({ journal }: CarrierParts, provider: string, { messageId }: Submission): boolean {
  return messageId !== undefined && journal.find(provider, messageId) !== undefined;
}

function accept(parts: CarrierParts, exchange: Exchange, submission: Submission, refusal?: Refusal): void {
  const { provider, upstream, reporter } = exchange;
  const message: Message = {
    id: upstream.newMessageId(submission),
    provider,
    submission,
    scenario: refusal === undefined ? scenarioOf(submission.to) : refusedLater,
    acceptedAt: parts.clock.now(),
    receipts: [],
    refusal,
  };
  record(parts, exchange, { to: submission.to, outcome: 'accepted', submission, message });
  acceptMessage(parts, message, reporter, () => exchange.send(upstream.accepted(message)));
}

function turnAway(
  parts: CarrierParts,
  exchange: Exchange,
  submission: Submission,
  outcome: Outcome | 'duplicate',
  response: WireResponse,
): void {
  record(parts, exchange, { to: submission.to, outcome, submission });
  answerLater(parts, exchange.provider, () => exchange.send(response));
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
  happened: Pick<JournalEntry, 'to' | 'outcome'> & { submission?: Submission; message?: Message },
): void {
  const { to, outcome, submission, message } = happened;
  journal.add({ provider, receivedAt: clock.now(), to, submission, outcome, message, request });
}
