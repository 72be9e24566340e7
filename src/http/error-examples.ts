import type { FastifySchema, RouteOptions } from 'fastify';
import { errorCatalogue, type ErrorCode } from '../lib/errors.ts';
import { apiVersion } from './envelope.ts';

type Problem = { code: ErrorCode; message: string; param?: string; details?: Record<string, unknown> };

const problems: Record<number, Problem> = {
  401: { code: 'unauthorized', message: 'Send a valid API key in the header "Authorization: Bearer <API_KEY>".' },
  402: { code: 'insufficient_balance', message: 'The balance does not cover this message. Top up the account.' },
  404: { code: 'not_found', message: 'There is no such resource.', param: 'id' },
  429: {
    code: 'rate_limit_exceeded',
    message: 'This API key may make 600 requests per minute. Try again in 12 s.',
  },
  500: {
    code: 'internal_error',
    message: 'Something went wrong on our side. Try again; if it persists, quote the request id.',
  },
};

/** What only a send is refused with. */
const sendingProblems: Record<number, Problem[]> = {
  400: [
    {
      code: 'invalid_recipient',
      message:
        'The recipient must be in E.164 form: a plus sign, the country code and the number, such as +14155550123.',
      param: 'to',
    },
    {
      code: 'sender_not_approved',
      message: '"ACME" is not an approved sender of this account.',
      param: 'from',
    },
  ],
  500: [
    {
      code: 'provider_unavailable',
      message: 'No upstream provider could take the message now. Send it again later.',
      details: { message_id: 'msg_01kagq3v5xf7r8t2m9n4c6w0ds' },
    },
  ],
};

type ObjectSchema = { required?: string[]; properties?: Record<string, { enum?: unknown[] }> };

/** What is wrong with a request depends on what it takes. */
function invalidRequest({ body, querystring }: FastifySchema): Problem {
  const [required] = (body as ObjectSchema | undefined)?.required ?? [];
  if (required !== undefined) {
    return { code: 'invalid_request', message: `The parameter ${required} is required.`, param: required };
  }
  const fields = Object.entries((querystring as ObjectSchema | undefined)?.properties ?? {});
  const [param = 'limit', { enum: allowed } = {}] = fields.find(([, schema]) => schema.enum !== undefined) ?? [];
  const rule = allowed === undefined ? 'must be <= 100' : `must be one of ${allowed.join(', ')}`;
  return { code: 'invalid_request', message: `The parameter ${param} ${rule}.`, param };
}

function forbidden(scopes: readonly string[] = []): Problem {
  const message =
    scopes.length === 0
      ? "The address 203.0.113.7 is not among this key's allowed_ips."
      : `This API key lacks the permission ${scopes.join(' or ')}.`;
  return { code: 'forbidden', message };
}

function exampleOf({ code, message, param, details }: Problem): object {
  const { type } = errorCatalogue[code];
  const meta = { request_id: 'req_01kagq3v5xf7r8t2m9n4c6w0dr', api_version: apiVersion };
  return { success: false, error: { type, code, message, param, details }, meta };
}

/** What a route answers with when it fails with a status: examples for the document, by their codes. */
export function errorExamplesOf(
  { schema = {}, config }: RouteOptions,
  status: number,
): Record<string, { value: object }> {
  const common = { ...problems, 400: invalidRequest(schema), 403: forbidden(config?.anyScopeOf) }[status];
  const all = [...(config?.sends === true ? (sendingProblems[status] ?? []) : []), ...(common ? [common] : [])];
  return Object.fromEntries(all.map((problem) => [problem.code, { value: exampleOf(problem) }]));
}
