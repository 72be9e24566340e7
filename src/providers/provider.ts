/** The nine upstream identifiers, in the order the API lists them. */
export const providerNames = [
  'twilio',
  'vonage',
  'infobip',
  'sinch',
  'plivo',
  'telnyx',
  'messagebird',
  'africastalking',
  'smpp',
] as const;

export type ProviderName = (typeof providerNames)[number];

export type SendRequest = {
  /** E.164 with the leading `+`; an adapter strips it where its upstream wants none. */
  to: string;
  /** Alphanumeric sender id, short code or long number, as the caller gave it. */
  from: string;
  body: string;
  encoding: 'gsm7' | 'ucs2';
  segments: number;
  /** Absolute URL at which this attempt's receipts are awaited; unguessable. */
  callbackUrl: string;
  /** Our name for the attempt, for upstreams that echo a client reference (at most 64 characters, base64url). */
  ref: string;
};

/** Why an upstream will never take this message. Each class stops the chain. */
export type RejectionClass = 'invalid_recipient' | 'invalid_sender' | 'invalid_content' | 'blocked' | 'billing';

/** What became of one attempt. Outcomes are data; an adapter throws only on bugs. */
export type SendResult =
  | {
      outcome: 'accepted';
      providerMessageId: string;
      /** Every part's id where the upstream took a long text in parts and reports each (SMPP); the first is `providerMessageId`. */
      partIds?: string[];
    }
  | {
      outcome: 'rejected';
      class: RejectionClass;
      /** The upstream's own code and text, for the operator. */
      code: string;
      message: string;
      /** The recipient opted out at this upstream: a suppression follows. */
      optOut?: boolean;
    }
  | {
      outcome: 'retryable';
      /**
       * `credentials` (ours to fix) opens the breaker at once. `throttled` and `unavailable` count against it. `unsupported` says
       * nothing about the upstream's health: it cannot carry this message (a text longer than it takes), another one may.
       */
      reason: 'throttled' | 'unavailable' | 'credentials' | 'unsupported';
      code: string;
      message: string;
      retryAfterMs?: number;
    }
  /** The request was written and no answer came: the upstream may have the message. */
  | { outcome: 'unknown'; code: string; message: string };

/** What one receipt says. `sent` is any intermediate state and moves nothing. */
export type Receipt = {
  providerMessageId: string;
  state: 'sent' | 'delivered' | 'undelivered' | 'failed';
  /** The upstream's own code and text where the state is a failure. */
  code?: string;
  message?: string;
  optOut?: boolean;
  /** Set where one call carries receipts of several messages and each names its ref itself. */
  ref?: string;
};

/** What an upstream answers when it is asked about a message it took. */
export type LookUpResult =
  /** Where the message is now; a state of `sent` is not the last word. */
  | { outcome: 'found'; receipt: Receipt }
  /** It knows no such message, or no longer. */
  | { outcome: 'not_found' }
  /** It could not be asked or its answer not be read: ask again, not before `retryAfterMs` where that is set. */
  | { outcome: 'unavailable'; code: string; message: string; retryAfterMs?: number };

export type ReceiptRequest = {
  method: string;
  /** The public URL the upstream called, rebuilt from configuration: signatures cover it. */
  url: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  rawBody: Buffer;
};

export type ReceiptReading =
  | { ok: true; receipts: Receipt[] }
  /** `forged`: the signature is missing, wrong or stale. `malformed`: signed but not understood. */
  | { ok: false; problem: 'forged' | 'malformed'; reason: string };

/**
 * A receipt that came over a connection of ours (SMPP) and names nothing but the upstream's id. Where the message had several parts it
 * speaks of one of them.
 */
export type AsyncReceipt = Receipt & {
  /**
   * Ids under which the part may be known, most likely first. One that is not `certain` is another spelling of the upstream's id: it
   * counts only when it is the only one known and that message went to `recipient`.
   */
  candidates: Array<{ id: string; certain: boolean }>;
  /** E.164 with the leading `+`, as far as the upstream tells. */
  recipient: string;
  /** The receipt as it came, as JSON, for the message's story. */
  raw: string;
};

/** A recipient wrote STOP (or the like) to one of our senders. */
export type AsyncOptOut = { recipient: string; sender: string; keyword: string };

/** A message that was accepted after its `send` had already resolved to `unknown`. */
export type LateAcceptance = { ref: string; providerMessageId: string; partIds?: string[] };

/**
 * What an upstream reports over a connection that we keep open. A listener resolves once what it was told is stored: only then is the
 * report acknowledged. When it rejects, or takes longer than the upstream waits, the upstream is asked to report again.
 */
export type AsyncReports = {
  /** Also opens the connection, and from then on keeps it open. */
  onReceipt(listener: (receipt: AsyncReceipt) => Promise<void>): void;
  onOptOut(listener: (optOut: AsyncOptOut) => Promise<void>): void;
  onLateAcceptance(listener: (acceptance: LateAcceptance) => void): void;
};

/**
 * One upstream. `send` resolves within `timeoutMs` of the adapter's settings, holds no more than a bounded answer in memory, and never
 * logs. `readReceipts` is pure: it verifies the upstream's own signature and reads the states.
 */
export type Provider = {
  readonly name: ProviderName;
  send(request: SendRequest): Promise<SendResult>;
  readReceipts(request: ReceiptRequest): ReceiptReading;
  /**
   * Asks the upstream where a message is, for those that lost their receipt; resolves within `timeoutMs`. Absent where the upstream has no
   * such call. `recipient` is E.164 with the leading `+`.
   */
  lookUp?(providerMessageId: string, recipient: string): Promise<LookUpResult>;
  /** The same about an attempt whose answer is not known. Absent where the upstream knows messages by no id of ours. */
  lookUpRef?(ref: string): Promise<LookUpResult>;
  /**
   * Receipts come to one URL for the whole account, because the upstream cannot be given one with a message. They are known by
   * `providerMessageId`, so whoever sends must remember which attempt that is.
   */
  readonly receiptsByMessageId?: true;
  /** Only where receipts come over a connection of ours and not by HTTP. */
  readonly reports?: AsyncReports;
  /** Lets running requests end, then closes the connections. */
  close(): Promise<void>;
};
