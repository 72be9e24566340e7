import { isUtf8 } from 'node:buffer';
import { Ajv } from 'ajv';
import fastify, { type FastifyError, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Socket } from 'node:net';
import { ApiError } from '../lib/errors.ts';
import { toPublicId, type IdSource } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { App } from './app.ts';
import { apiVersion } from './envelope.ts';
import { handleError, handleNotFound } from './errors.ts';

const bodyBytesMax = 1024 * 1024;

export type FastifyDeps = { log: Log; ids: IdSource; trustedProxies: readonly string[]; metrics: Metrics };

/**
 * Fastify with our request ids, our errors and nothing else. Bodies are validated without coercion; query strings, where everything is text,
 * with it.
 */
export function createFastify({ log, ids, trustedProxies, metrics }: FastifyDeps): App {
  const newRequestId = (): string => toPublicId('req', ids.next());
  const app = fastify({
    loggerInstance: log,
    logController: new fastify.LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: newRequestId,
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    bodyLimit: bodyBytesMax,
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000,
    // While closing, requests on open connections are still served: 503 is not among the statuses of the spec.
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: 200 },
    // Node's own refusal has no body; ours has the envelope.
    http: { requireHostHeader: false },
    // For these no hook runs.
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) =>
      handleError(error, request, reply.header('x-request-id', request.id)),
    clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) =>
      refuseMalformed(error, socket, newRequestId()),
  }) as unknown as App;

  const bodies = new Ajv({ coerceTypes: false, useDefaults: true, removeAdditional: false, strict: false });
  const queries = new Ajv({ coerceTypes: true, useDefaults: true, removeAdditional: false, strict: false });
  for (const ajv of [bodies, queries]) ajv.addFormat('date-time', true).addFormat('uri', true);
  app.setValidatorCompiler(({ schema, httpPart }) =>
    (httpPart === 'body' ? bodies : queries).compile(schema as object),
  );

  // Node would answer 417, which is not among the statuses of the spec.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));

  // Some clients name a content type on requests without a body.
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const bytes = body as Buffer;
    if (bytes.length === 0) done(null, undefined);
    // Text in another encoding would be sent with question marks in it.
    else if (!isUtf8(bytes)) done(new ApiError('invalid_request', 'The body is not UTF-8. Send JSON in UTF-8.'));
    else void parseJson(request, bytes.toString('utf8'), done);
  });
  // Any other kind of body is refused for what it is.
  app.removeContentTypeParser('text/plain');

  // Closing ends the connections that are idle at that moment; Node would wait for the others until their keep-alive time-out.
  app.addHook('preClose', async () => {
    const reaping = setInterval(() => app.server.closeIdleConnections(), 50).unref();
    app.server.once('close', () => clearInterval(reaping));
  });

  app.decorateRequest('caller');
  app.decorateRequest('told', null);
  app.setErrorHandler(handleError);
  app.setNotFoundHandler(handleNotFound);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      throw new ApiError('invalid_request', 'The request has no Host header.');
    }
  });
  app.addHook('onResponse', async (request, reply) => {
    const { method } = request;
    // The path's pattern: ids are in the lines that speak of them, and a receipt's ref is a secret.
    const route = request.routeOptions.url ?? 'unknown';
    const status = reply.statusCode;
    metrics.request(method, route, status, reply.elapsedTime);
    // Upstreams report twice or more for each message; that they did is in the message's story.
    const level = route.startsWith('/receipts/') && status < 400 ? 'debug' : 'info';
    const ms = Math.round(reply.elapsedTime * 10) / 10;
    request.log[level]({ method, route, status, ms, ...request.told }, 'request');
  });
  return app;
}

/** What is not HTTP never reaches a route; it gets the envelope all the same. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { type, code, message } = new ApiError('invalid_request', 'The request is not well-formed HTTP.');
  const body = JSON.stringify({
    success: false,
    error: { type, code, message },
    meta: { request_id: requestId, api_version: apiVersion },
  });
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Request-Id: ${requestId}\r\nConnection: close\r\n\r\n${body}`,
  );
}
