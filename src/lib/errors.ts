/** `error.type` of the envelope (spec: Errors). */
export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'authorization_error'
  | 'balance_error'
  | 'rate_limit_error'
  | 'provider_error'
  | 'api_error';

/** Every code the API answers with, its status and its type. The statuses of the spec are a closed list. */
export const errorCatalogue = {
  invalid_request: { status: 400, type: 'invalid_request_error' },
  invalid_recipient: { status: 400, type: 'invalid_request_error' },
  invalid_sender: { status: 400, type: 'invalid_request_error' },
  sender_not_approved: { status: 400, type: 'invalid_request_error' },
  sender_exists: { status: 400, type: 'invalid_request_error' },
  recipient_blocked: { status: 400, type: 'invalid_request_error' },
  content_rejected: { status: 400, type: 'invalid_request_error' },
  idempotency_conflict: { status: 400, type: 'invalid_request_error' },
  unauthorized: { status: 401, type: 'authentication_error' },
  insufficient_balance: { status: 402, type: 'balance_error' },
  forbidden: { status: 403, type: 'authorization_error' },
  account_suspended: { status: 403, type: 'authorization_error' },
  not_found: { status: 404, type: 'invalid_request_error' },
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error' },
  daily_limit_exceeded: { status: 429, type: 'rate_limit_error' },
  monthly_limit_exceeded: { status: 429, type: 'rate_limit_error' },
  provider_unavailable: { status: 500, type: 'provider_error' },
  provider_billing: { status: 500, type: 'provider_error' },
  dispatch_expired: { status: 500, type: 'provider_error' },
  internal_error: { status: 500, type: 'api_error' },
} as const satisfies Record<string, { status: number; type: ErrorType }>;

export type ErrorCode = keyof typeof errorCatalogue;

/** Codes that only appear on a message, never as the error of an answer. */
export type MessageErrorCode = ErrorCode | 'delivery_failed' | 'delivery_expired';

export type ErrorExtras = {
  param?: string;
  details?: Record<string, unknown>;
  /** Overrides the catalogue's type: a refusal by an upstream is a `provider_error`. */
  type?: ErrorType;
  /** For the log only; never rendered. */
  cause?: unknown;
  /** Seconds for `Retry-After`. */
  retryAfterSeconds?: number;
};

/** An error whose message may be shown to the caller. Everything else that is thrown becomes `internal_error`. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly type: ErrorType;
  readonly param: string | undefined;
  readonly details: Record<string, unknown> | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    const entry = errorCatalogue[code];
    this.code = code;
    this.status = entry.status;
    this.type = extras.type ?? entry.type;
    this.param = extras.param;
    this.details = extras.details;
    this.retryAfterSeconds = extras.retryAfterSeconds;
  }
}
