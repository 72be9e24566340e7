import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { BatcherFullError } from '../lib/batcher.ts';
import { ApiError, errorCatalogue } from '../lib/errors.ts';
import { metaOf, metaSchema, type Meta } from './envelope.ts';
import { tell } from './told.ts';

export type ErrorEnvelope = {
  success: false;
  error: { type: string; code: string; message: string; param?: string; details?: Record<string, unknown> };
  meta: Meta;
};

const errorTypes = [...new Set(Object.values(errorCatalogue).map(({ type }) => type))];

export const errorEnvelopeSchema = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.Object({
      type: Type.String({
        enum: errorTypes,
        description: 'What kind of error it is, for programs that do not know the code.',
      }),
      code: Type.String({ enum: Object.keys(errorCatalogue) }),
      message: Type.String({ description: 'A sentence for people: what is wrong and what to do.' }),
      param: Type.Optional(Type.String({ description: 'The parameter to mend, such as `to` or `recipients.3`.' })),
      details: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description: 'More about it; `message_id` names the message that was stored as failed.',
        }),
      ),
    }),
    meta: metaSchema,
  },
  { title: 'Error' },
);

/** The body of a failed answer. Kept apart from sending it, because idempotent answers are stored first. */
export function renderError(request: FastifyRequest, error: ApiError): ErrorEnvelope {
  const { type, code, message, param, details } = error;
  return { success: false, error: { type, code, message, param, details }, meta: metaOf(request) };
}

type AjvProblem = NonNullable<FastifyError['validation']>[number];

/** `/recipients/3` and `required: body` both name the parameter the caller must mend. */
function paramOf(problem: AjvProblem): string | undefined {
  const path = problem.instancePath.split('/').filter((part) => part !== '');
  const missing = problem.keyword === 'required' ? problem.params['missingProperty'] : undefined;
  if (typeof missing === 'string') path.push(missing);
  return path.length === 0 ? undefined : path.join('.');
}

function validationError(error: FastifyError): ApiError {
  const problem = error.validation?.[0];
  if (problem === undefined) return new ApiError('invalid_request', 'The request is not valid.');
  const param = paramOf(problem);
  if (problem.keyword === 'required' && param !== undefined) {
    return new ApiError('invalid_request', `The parameter ${param} is required.`, { param });
  }
  if (param === undefined) {
    return new ApiError('invalid_request', `The request's ${error.validationContext ?? 'body'} must be a JSON object.`);
  }
  const allowed = problem.keyword === 'enum' ? problem.params['allowedValues'] : undefined;
  const rule = Array.isArray(allowed) ? `must be one of ${allowed.join(', ')}` : (problem.message ?? 'is not valid');
  return new ApiError('invalid_request', `The parameter ${param} ${rule}.`, { param });
}

/** Faults the framework finds before a route runs. The spec's statuses are a closed list: 413 and 415 are a 400 here. */
const frameworkMessages: Record<string, string> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'Send the body as JSON, with the header "Content-Type: application/json".',
  FST_ERR_CTP_BODY_TOO_LARGE: 'The body is larger than 1 MiB.',
  FST_ERR_CTP_INVALID_JSON_BODY: 'The body is not valid JSON.',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'The body is empty. Send a JSON object.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body is not as long as its Content-Length header says.',
  FST_ERR_BAD_URL: 'The URL is not well-formed.',
};

function toApiError(error: FastifyError): ApiError {
  if (error instanceof ApiError) return error;
  if (error.validation !== undefined) return validationError(error);
  if (error instanceof BatcherFullError) {
    return new ApiError('internal_error', 'The service is overloaded. Try again in a moment.', { cause: error });
  }
  const status = error.statusCode ?? 500;
  // No id is as long as that.
  if (status === 404 || error.code === 'FST_ERR_MAX_PARAM_LENGTH')
    return new ApiError('not_found', 'There is nothing at this path.');
  if (status >= 400 && status < 500) {
    return new ApiError('invalid_request', frameworkMessages[error.code] ?? 'The request is not well-formed.');
  }
  return new ApiError(
    'internal_error',
    'Something went wrong on our side. Try again; if it persists, quote the request id.',
    {
      cause: error,
    },
  );
}

/** The one renderer of errors. What is internal reaches the log here, once, with the request's id, and nowhere else. */
export function handleError(thrown: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const error = toApiError(thrown);
  if (error.code === 'internal_error') request.log.error({ err: error.cause ?? thrown }, 'request failed');
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', error.retryAfterSeconds);
  tell(request, { error: error.code });
  void reply.status(error.status).send(renderError(request, error));
}

export function handleNotFound(request: FastifyRequest, reply: FastifyReply): void {
  const error = new ApiError('not_found', `There is no ${request.method} endpoint at this path.`);
  void reply.status(404).send(renderError(request, error));
}
