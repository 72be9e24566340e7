import type { Clock } from '../lib/clock.ts';
import { type Message, receiptDelayMs } from './message.ts';
import { createReceiptQueue } from './receipt-queue.ts';
import type { Reporter } from './reporter.ts';
import type { ReceiptStatus } from './scenario.ts';
import type { CallbackResult } from './upstream.ts';

/** Posts at a time, over all receivers: no more than a service would be sent by one busy upstream. */
export const POSTS_MAX = 64;

/** Receipts waiting for their time, their turn or their retry. One more is dropped, and its message says so. */
const WAITING_MAX = 200_000;

type Receipt = {
  readonly message: Message;
  readonly reporter: Reporter;
  readonly address: string;
  readonly step: number;
  readonly attempt: number;
  /** Called when each step has been tried once. */
  readonly onTried: (() => void) | undefined;
  readonly epoch: number;
};

export type Receipts = {
  /** Reports what the message's scenario says, when it says. */
  schedule(message: Message, reporter: Reporter, onTried?: () => void): void;
  /** Forgets all that wait; those being posted end, and are followed by nothing. */
  clear(): void;
};

/**
 * Steps of a message go out one after the other, each when it is due and the one before was answered or failed, so their
 * order is the scenario's also where a receiver is slow. A retry holds nothing up.
 */
export function createReceipts(options: { clock: Clock; deliveryDelayMs: number; waitingMax?: number }): Receipts {
  const { clock, deliveryDelayMs, waitingMax = WAITING_MAX } = options;
  const queue = createReceiptQueue<Receipt>({ clock, postsMax: POSTS_MAX, waitingMax, post });
  let epoch = 0;

  function post(receipt: Receipt, done: () => void): void {
    const { message, reporter, address, attempt } = receipt;
    const at = clock.now();
    reporter.tell(message, { status: statusOf(receipt), callbackUrl: address, attempt, at }, (result) => {
      if (receipt.epoch === epoch) follow(receipt, at, result);
      else receipt.onTried?.();
      done();
    });
  }

  function follow(receipt: Receipt, at: number, result: CallbackResult): void {
    const { message, reporter, step, attempt, onTried } = receipt;
    message.receipts.push({ status: statusOf(receipt), attempt, at, result });

    const retryDelayMs = reporter.retryDelayMs(attempt, result);
    if (retryDelayMs !== undefined) wait({ ...receipt, attempt: attempt + 1, onTried: undefined }, retryDelayMs);

    if (attempt === 1) waitForStep(message, reporter, step + 1, onTried);
  }

  /** The next step from `from` on that anybody wants to hear of. */
  function waitForStep(message: Message, reporter: Reporter, from: number, onTried: Receipt['onTried']): void {
    const statuses = message.scenario.receipts;
    for (let step = from; step < statuses.length; step += 1) {
      const address = reporter.addressFor(message, statuses[step] ?? 'sent');
      if (address === undefined) continue;
      const dueAt = message.acceptedAt + receiptDelayMs(message, step, deliveryDelayMs);
      wait({ message, reporter, address, step, attempt: 1, onTried, epoch }, dueAt - clock.now());
      return;
    }
    onTried?.();
  }

  function wait(receipt: Receipt, delayMs: number): void {
    if (queue.add(receipt, delayMs)) return;
    const { message, attempt, onTried } = receipt;
    message.receipts.push({ status: statusOf(receipt), attempt, at: clock.now(), result: 'dropped' });
    onTried?.();
  }

  return {
    schedule: (message, reporter, onTried) => waitForStep(message, reporter, 0, onTried),

    clear() {
      epoch += 1;
      for (const receipt of queue.clear()) receipt.onTried?.();
    },
  };
}

function statusOf({ message, step }: Receipt): ReceiptStatus {
  return message.scenario.receipts[step] ?? 'sent';
}
