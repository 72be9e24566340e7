import type { Clock } from '../lib/clock.ts';
import type { CallbackClient } from './callback-client.ts';
import { type Message, receiptDelayMs } from './message.ts';
import { createReceiptQueue } from './receipt-queue.ts';
import type { ReceiptStatus } from './scenario.ts';
import type { CallbackResult, Upstream } from './upstream.ts';

/** Posts at a time, over all receivers: no more than a service would be sent by one busy upstream. */
export const POSTS_MAX = 64;

/** Receipts waiting for their time, their turn or their retry. One more is dropped, and its message says so. */
const WAITING_MAX = 200_000;

type Receipt = {
  readonly message: Message;
  readonly upstream: Upstream;
  readonly callbackUrl: string;
  readonly step: number;
  readonly attempt: number;
  /** Called when each step has been tried once. */
  readonly onTried: (() => void) | undefined;
  readonly epoch: number;
};

export type Receipts = {
  /** Reports what the message's scenario says, when it says. */
  schedule(message: Message, upstream: Upstream, onTried?: () => void): void;
  /** Forgets all that wait; those being posted end, and are followed by nothing. */
  clear(): void;
};

/**
 * Steps of a message go out one after the other, each when it is due and the one before was answered or failed, so their
 * order is the scenario's also where a receiver is slow. A retry holds nothing up.
 */
export function createReceipts(options: {
  clock: Clock;
  client: Pick<CallbackClient, 'post'>;
  deliveryDelayMs: number;
  waitingMax?: number;
}): Receipts {
  const { clock, client, deliveryDelayMs, waitingMax = WAITING_MAX } = options;
  const queue = createReceiptQueue<Receipt>({ clock, postsMax: POSTS_MAX, waitingMax, post });
  let epoch = 0;

  function post(receipt: Receipt, done: () => void): void {
    const { message, upstream, callbackUrl } = receipt;
    const at = clock.now();
    client.post(upstream.callback(message, callbackUrl, statusOf(receipt), at), (result) => {
      if (receipt.epoch === epoch) follow(receipt, at, result);
      else receipt.onTried?.();
      done();
    });
  }

  function follow(receipt: Receipt, at: number, result: CallbackResult): void {
    const { message, upstream, step, attempt, onTried } = receipt;
    message.receipts.push({ status: statusOf(receipt), attempt, at, result });

    const retryDelayMs = upstream.callbackRetryDelayMs(attempt, result);
    if (retryDelayMs !== undefined) wait({ ...receipt, attempt: attempt + 1, onTried: undefined }, retryDelayMs);

    if (attempt > 1) return;
    if (step + 1 === message.scenario.receipts.length) onTried?.();
    else waitForStep({ ...receipt, step: step + 1 });
  }

  function waitForStep(receipt: Receipt): void {
    const { message, step } = receipt;
    const dueAt = message.acceptedAt + receiptDelayMs(message, step, deliveryDelayMs);
    wait(receipt, dueAt - clock.now());
  }

  function wait(receipt: Receipt, delayMs: number): void {
    if (queue.add(receipt, delayMs)) return;
    const { message, attempt, onTried } = receipt;
    message.receipts.push({ status: statusOf(receipt), attempt, at: clock.now(), result: 'dropped' });
    onTried?.();
  }

  return {
    schedule(message, upstream, onTried) {
      const { callbackUrl } = message.submission;
      if (callbackUrl === undefined || message.scenario.receipts.length === 0) onTried?.();
      else waitForStep({ message, upstream, callbackUrl, step: 0, attempt: 1, onTried, epoch });
    },

    clear() {
      epoch += 1;
      for (const receipt of queue.clear()) receipt.onTried?.();
    },
  };
}

function statusOf({ message, step }: Receipt): ReceiptStatus {
  return message.scenario.receipts[step] ?? 'sent';
}
