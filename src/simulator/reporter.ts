import type { CallbackClient } from './callback-client.ts';
import type { CallbackUrls } from './callback-urls.ts';
import type { Message } from './message.ts';
import type { ReceiptStatus } from './scenario.ts';
import type { CallbackResult, Report, Upstream } from './upstream.ts';

/** How an upstream tells its customers what became of a message. */
export type Reporter = {
  /** Where a status of this message is told; `undefined`: nowhere. */
  addressFor(message: Message, status: ReceiptStatus): string | undefined;
  tell(message: Message, report: Report, done: (result: CallbackResult) => void): void;
  /** How long until it is told again; `undefined`: not again. `attempt` counts those made, from 1. */
  retryDelayMs(attempt: number, result: CallbackResult): number | undefined;
};

/** Tells by HTTP, as every upstream but SMPP does. */
export function createCallbackReporter(parts: {
  provider: string;
  upstream: Upstream;
  client: Pick<CallbackClient, 'post'>;
  callbackUrls: CallbackUrls;
}): Reporter {
  const { provider, upstream, client, callbackUrls } = parts;
  return {
    addressFor({ submission }, status) {
      if (upstream.reportsOn?.(submission, status) === false) return undefined;
      return submission.callbackUrl ?? callbackUrls.get(provider);
    },
    tell: (message, report, done) => client.post(upstream.callback(message, report), done),
    retryDelayMs: (attempt, result) => upstream.callbackRetryDelayMs(attempt, result),
  };
}
