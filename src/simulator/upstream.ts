import type { IncomingHttpHeaders } from 'node:http';
import type { Message } from './message.ts';
import type { ReceiptStatus, Refusal } from './scenario.ts';

/** A request as it arrived; `path` is the native one, without base path and query. */
export type WireRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

export type WireResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** One status callback, signed and ready to be posted. */
export type WireCallback = {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** How posting a callback ended: the receiver's HTTP status, or that none came. */
export type CallbackResult = number | 'unreachable' | 'timed_out';

/** What an upstream was asked to send, freed of its wire form: `to` is always `+` and digits. */
export type Submission = {
  readonly to: string;
  readonly from: string;
  readonly text: string;
  readonly callbackUrl: string | undefined;
  readonly reference: string | undefined;
};

/** What a request turned out to be. */
export type Reading =
  | { readonly kind: 'send'; readonly submission: Submission }
  /** A request to send that fails the upstream's own checks; it is journalled like any other. */
  | { readonly kind: 'invalid'; readonly to: string | undefined; readonly response: WireResponse }
  /** A question about a message; `status` is what the carrier has reported so far. */
  | {
      readonly kind: 'poll';
      readonly messageId: string;
      readonly render: (message: Message | undefined, status: ReceiptStatus | undefined) => WireResponse;
    }
  | { readonly kind: 'answer'; readonly response: WireResponse };

/**
 * One upstream's wire, and nothing else: how it reads a request and words each answer and callback. What happens to a
 * message is decided elsewhere, the same for all; an upstream keeps no state.
 */
export type Upstream<Credentials extends object = object> = {
  /** The demo account: requests must carry it, callbacks are signed with it. */
  readonly credentials: Readonly<Credentials>;
  /** Native path prefixes, for clients that can be given a host but no base path. */
  readonly nativePaths: readonly string[];
  read(request: WireRequest): Reading;
  newMessageId(submission: Submission): string;
  accepted(message: Message): WireResponse;
  refused(submission: Submission, refusal: Refusal): WireResponse;
  throttled(retryAfterSeconds: number): WireResponse;
  unavailable(): WireResponse;
  callback(message: Message, callbackUrl: string, status: ReceiptStatus, now: number): WireCallback;
  /** How long until a callback is tried again; `undefined`: not again. `attempt` counts those made, from 1. */
  callbackRetryDelayMs(attempt: number, result: CallbackResult): number | undefined;
};
