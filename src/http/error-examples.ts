import type { FastifySchema, RouteOptions } from 'fastify';
import { errorCatalogue, type ErrorCode, type ErrorExtras } from '../lib/errors.ts';
import { exampleMeta } from './envelope.ts';

type Example = { message: string } & Pick<ErrorExtras, 'param' | 'details' | 'type'>;

const stored = { message_id: 'msg_01kagq3v5xf7r8t2m9n4c6w0ds' };

/** What does not depend on the route, in the words the service itself uses. */
const examples: Record<Exclude<ErrorCode, 'invalid_request' | 'forbidden' | 'unauthorized'>, Example> = {
  invalid_recipient: {
    message: 'The recipient must be in E.164 form: a plus sign, the country code and the number, such as +14155550123.',
    param: 'to',
  },
  invalid_sender: {
    message:
      'The sender must be 1 to 11 letters, digits or spaces with at least one letter, or a numeric long or short code.',
    param: 'from',
  },
  sender_not_approved: { message: '"ACME" is not an approved sender of this account.', param: 'from' },
  sender_exists: { message: '"HELIO" is among this account\'s senders already.', param: 'sender_id' },
  recipient_blocked: {
    message: 'The recipient has opted out of messages from this account.',
    param: 'to',
    details: stored,
  },
  content_rejected: {
    message: 'The upstream provider refused the content of the message.',
    param: 'body',
    details: stored,
    type: 'provider_error',
  },
  idempotency_conflict: {
    message: 'This Idempotency-Key was used with another request. Use a new key for a new request.',
  },
  insufficient_balance: { message: 'The balance does not cover this message. Top up the account.' },
  account_suspended: {
    message: 'This account is suspended and cannot send. Contact the operator of the service.',
  },
  not_found: { message: 'There is no such resource.', param: 'id' },
  rate_limit_exceeded: { message: 'This API key may make 600 requests per minute. Try again in 12 s.' },
  daily_limit_exceeded: {
    message: 'This API key may send 5000 messages in a UTC day and has 0 left until 2026-11-21T00:00:00.000+00:00.',
    details: { limit: 5_000, left: 0, resets_at: '2026-11-21T00:00:00.000+00:00' },
  },
  monthly_limit_exceeded: {
    message:
      'This API key may send 100000 messages in a UTC month and has 12 left until 2026-12-01T00:00:00.000+00:00.',
    details: { limit: 100_000, left: 12, resets_at: '2026-12-01T00:00:00.000+00:00' },
  },
  provider_unavailable: {
    message: 'No upstream provider could take the message now. Send it again later.',
    details: stored,
  },
  provider_billing: {
    message:
      "The service's own account at the upstream provider cannot pay for the message. The operator must top it up.",
    details: stored,
  },
  dispatch_expired: {
    message:
      'The message could not be handed to an upstream provider within 10 minutes and was given up. Nothing was charged.',
    details: stored,
  },
  internal_error: {
    message: 'Something went wrong on our side. Try again; if it persists, quote the request id.',
  },
};

type ObjectSchema = { required?: string[]; properties?: Record<string, { enum?: unknown[] }> };

/** What is wrong with a request depends on what it takes. */
function invalidRequest({ body, querystring }: FastifySchema): Example {
  const [required] = (body as ObjectSchema | undefined)?.required ?? [];
  if (required !== undefined) {
    return { message: `The parameter ${required} is required.`, param: required };
  }
  const fields = Object.entries((querystring as ObjectSchema | undefined)?.properties ?? {});
  if (fields.length === 0) return { message: 'The body is not valid JSON.' };
  const [param = 'limit', { enum: allowed } = {}] = fields.find(([, schema]) => schema.enum !== undefined) ?? [];
  const rule = allowed === undefined ? 'must be <= 100' : `must be one of ${allowed.join(', ')}`;
  return { message: `The parameter ${param} ${rule}.`, param };
}

function forbidden(scopes: readonly string[] = []): Example {
  return {
    message:
      scopes.length === 0
        ? "The address 203.0.113.7 is not among this key's allowed_ips."
        : `This API key lacks the permission ${scopes.join(' or ')}.`,
  };
}

function exampleOf(code: ErrorCode, { schema = {}, config }: RouteOptions, token: string): Example {
  if (code === 'invalid_request') return invalidRequest(schema);
  if (code === 'forbidden') return forbidden(config?.anyScopeOf);
  if (code === 'unauthorized') return { message: `Send ${token}.` };
  return examples[code];
}

/** What a route answers with when it fails with one of these codes, by the code: examples for the document. */
export function errorExamplesOf(
  codes: readonly ErrorCode[],
  route: RouteOptions,
  token: string,
): Record<string, { value: object }> {
  return Object.fromEntries(
    codes.map((code) => {
      const { type = errorCatalogue[code].type, message, param, details } = exampleOf(code, route, token);
      const error = { type, code, message, param, details };
      return [code, { value: { success: false, error, meta: exampleMeta } }];
    }),
  );
}
