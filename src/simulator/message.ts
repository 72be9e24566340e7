import type { ReceiptStatus, Refusal, Scenario } from './scenario.ts';
import type { CallbackResult, Submission } from './upstream.ts';

/** One attempt to post one receipt. `dropped`: too many were waiting already. */
export type ReceiptAttempt = {
  readonly status: ReceiptStatus;
  readonly attempt: number;
  readonly at: number;
  readonly result: CallbackResult | 'dropped';
};

/** A message that an upstream took. */
export type Message = {
  /** The upstream's own id. */
  readonly id: string;
  readonly provider: string;
  readonly submission: Submission;
  readonly scenario: Scenario;
  /** When the sender was told; the carrier's reports count from here. */
  acceptedAt: number;
  readonly receipts: ReceiptAttempt[];
  /** Why it will be reported failed, where the upstream takes a message before it finds out. */
  readonly refusal?: Refusal;
  /** Set once its report was fetched, where an upstream hands out each only once. */
  reportFetched?: boolean;
};

/** When the receipt numbered `step` is due, counted from acceptance. */
export function receiptDelayMs(message: Message, step: number, deliveryDelayMs: number): number {
  if (message.scenario.receiptsBeforeAnswer) return 0;
  return (deliveryDelayMs * (step + 1)) / message.scenario.receipts.length;
}

/** What the carrier would report at this moment, whether or not it has a callback URL to report to. */
export function currentStatus(message: Message, now: number, deliveryDelayMs: number): ReceiptStatus | undefined {
  const elapsedMs = now - message.acceptedAt;
  const { receipts } = message.scenario;
  return receipts.findLast((_status, step) => receiptDelayMs(message, step, deliveryDelayMs) <= elapsedMs);
}
