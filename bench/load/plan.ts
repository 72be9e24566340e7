/** `+1…` is delivered a second later, with two receipts; `+99901010…` is accepted and never heard of again. */
export type RecipientPrefix = '+1' | '+99901010';

/** What a load process is told to do; every number it sends to is new. */
export type LoadPlan = {
  port: number;
  /** Requests take them in turn: each is good for 6,000 requests a minute. */
  keys: readonly string[];
  sender: string;
  connections: number;
  durationMs: number;
  /** Between an answer and the next request of its connection; 0 for as much as there is to have. */
  pauseMs: number;
  /** Set for a steady load: a request starts whenever so much time is over, whatever the answers do, on one of at most `connections`. */
  everyMs?: number;
  work:
    | { kind: 'send'; to: RecipientPrefix }
    | { kind: 'bulk'; to: RecipientPrefix; recipients: number }
    | { kind: 'get'; path: string };
};

export type LoadResult = {
  /** From the first request to the last answer. */
  elapsedMs: number;
  requests: number;
  /** Messages that were `sent` when their answer came. */
  sent: number;
  /** Answers by HTTP status. */
  statuses: Record<number, number>;
  latencyMs: { p50: number; p99: number; max: number };
  /** Of a steady load: every request, in the order of the answers. */
  answers: LoadAnswer[];
  /** Of a steady load: requests that were due while every connection waited for its answer, and that nobody sent. */
  unsent: number;
};

export type LoadAnswer = {
  /** When its request was due, in milliseconds since 1970. */
  dueAtMs: number;
  /** From then on, so that a request which starts late counts as a slow one. */
  latencyMs: number;
  /** Answered before its outcome was known. */
  isPending: boolean;
};

/** Digits after the prefix: E.164 allows 15 in all. */
export const digitsAfter: Readonly<Record<RecipientPrefix, number>> = { '+1': 10, '+99901010': 7 };

/** What an adapter's process is told to do. */
export type AdapterPlan = { durationMs: number; concurrency: number };

export type AdapterResult = {
  messages: number;
  elapsedMs: number;
  /** Processor time of this process, all its threads. */
  cpuMicros: number;
  notAccepted: number;
  latencyMs: { p50: number; p99: number; max: number };
};

/** The HTTP side that adapters share, with one request made ready: what is left of an adapter's figure is its own. */
export const bareRequest = 'a ready request';
