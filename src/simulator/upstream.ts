import type { IncomingHttpHeaders } from 'node:http';
import type { Message } from './message.ts';
import type { ReceiptStatus, Refusal } from './scenario.ts';

/** A request as it arrived; `path` is the native one, without base path, and `query` what follows its `?`. */
export type WireRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: string;
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

export function isSuccess(result: CallbackResult): boolean {
  return typeof result === 'number' && result >= 200 && result < 300;
}

/** What an upstream was asked to send, freed of its wire form: `to` is always `+` and digits. */
export type Submission = {
  readonly to: string;
  readonly from: string;
  readonly text: string;
  readonly callbackUrl: string | undefined;
  readonly reference: string | undefined;
  /** Chosen by the sender, where the upstream lets it; it takes each only once. */
  readonly messageId?: string;
  /** What else of the request this upstream's answers and callbacks depend on. */
  readonly details?: Readonly<Record<string, string>>;
};

/** One status of a message, to be told to `callbackUrl`; `attempt` counts from 1. */
export type Report = {
  readonly status: ReceiptStatus;
  readonly callbackUrl: string;
  readonly attempt: number;
  readonly at: number;
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
  /** Callbacks go to one URL set for the account, for a request cannot carry one. */
  readonly hasAccountCallback?: true;
  read(request: WireRequest): Reading;
  newMessageId(submission: Submission): string;
  accepted(message: Message): WireResponse;
  /** `undefined`: this upstream finds out only later. It takes the message, and reports it failed. */
  refused(submission: Submission, refusal: Refusal): WireResponse | undefined;
  /** Required of an upstream whose senders choose message ids. */
  duplicate?(submission: Submission): WireResponse;
  throttled(retryAfterSeconds: number): WireResponse;
  unavailable(): WireResponse;
  /** Whether the sender asked to be told of this status; without it, of all. */
  reportsOn?(submission: Submission, status: ReceiptStatus): boolean;
  callback(message: Message, report: Report): WireCallback;
  /** How long until a callback is tried again; `undefined`: not again. `attempt` counts those made, from 1. */
  callbackRetryDelayMs(attempt: number, result: CallbackResult): number | undefined;
};
