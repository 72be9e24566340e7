import type { Clock } from '../lib/clock.ts';
import type { FaultBoard } from './faults.ts';
import type { Journal } from './journal.ts';
import type { Message } from './message.ts';
import type { Receipts } from './receipts.ts';
import type { Reporter } from './reporter.ts';
import { type Outcome, scenarioOf } from './scenario.ts';
import type { Threads } from './threads.ts';
import type { Submission } from './upstream.ts';

export type CarrierParts = {
  readonly clock: Clock;
  readonly journal: Journal;
  readonly faults: FaultBoard;
  readonly threads: Threads;
  readonly receipts: Receipts;
  readonly deliveryDelayMs: number;
};

/** What happens to a message, the same for every upstream. */
export function decide({ threads }: CarrierParts, provider: string, { to, text }: Submission): Outcome {
  const { outcome, firstOutcome } = scenarioOf(to);
  return firstOutcome !== undefined && threads.isFirstTried(provider, to, text) ? firstOutcome : outcome;
}

/** Confirms a message to its sender and reports on it, in the order and after the time that its scenario says. */
export function acceptMessage(parts: CarrierParts, message: Message, reporter: Reporter, confirm: () => void): void {
  const { clock, receipts } = parts;
  const { answerAfterMs, receiptsBeforeAnswer } = message.scenario;
  const delayMs = latencyMs(parts, message.provider) + answerAfterMs;
  const confirmNow = () => {
    message.acceptedAt = clock.now();
    confirm();
  };
  if (receiptsBeforeAnswer) {
    receipts.schedule(message, reporter, () => after(delayMs, confirmNow));
  } else {
    after(delayMs, () => {
      confirmNow();
      receipts.schedule(message, reporter);
    });
  }
}

/** Every answer but an acceptance: later by the latency imposed on the provider. */
export function answerLater(parts: CarrierParts, provider: string, answer: () => void): void {
  after(latencyMs(parts, provider), answer);
}

function latencyMs({ faults }: CarrierParts, provider: string): number {
  return faults.get(provider).latencyMs;
}

/** Without delay it happens at once, in the caller's turn: the hot path sets no timer. */
function after(delayMs: number, act: () => void): void {
  if (delayMs === 0) act();
  else setTimeout(act, delayMs).unref();
}
