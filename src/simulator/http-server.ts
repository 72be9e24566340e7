import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type CarrierParts, handleExchange } from './carrier.ts';
import type { Control } from './control.ts';
import type { Upstream, WireResponse } from './upstream.ts';

const BODY_BYTES_MAX = 64 * 1024;
const HOLD_MS_MAX = 60_000;
/** Longer than any client keeps an idle connection, so that none is closed under a request. */
const KEEP_ALIVE_MS = 75_000;

type Parts = { carrier: CarrierParts; control: Control; upstreams: Readonly<Record<string, Upstream>> };

/**
 * Bare node:http: the simulator shares the machine with the service it is measured against, and a framework would take
 * the larger part of a request's time here.
 */
export function createHttpServer(parts: Parts): Server {
  return createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    readBody(request, (body) => {
      if (body === undefined) send(response, { ...notFound('The body is too large.'), status: 413 });
      else dispatch(parts, request, response, body);
    });
  });
}

function readBody(request: IncomingMessage, done: (body: string | undefined) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
  });
  request.on('end', () => {
    if (bytes > BODY_BYTES_MAX) done(undefined);
    else done(chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString());
  });
}

function dispatch(parts: Parts, request: IncomingMessage, response: ServerResponse, body: string): void {
  const { method = 'GET', url = '/', headers } = request;
  const queryAt = url.indexOf('?');
  const path = queryAt === -1 ? url : url.slice(0, queryAt);

  if (path.startsWith('/control/')) {
    const query = new URLSearchParams(queryAt === -1 ? '' : url.slice(queryAt));
    send(response, parts.control.handle({ method, path, query, body }));
    return;
  }
  const route = findUpstream(parts.upstreams, path);
  if (route === undefined) {
    send(response, notFound(`No upstream answers at ${path}.`));
    return;
  }
  handleExchange(parts.carrier, {
    provider: route.provider,
    upstream: route.upstream,
    request: { method, path: route.nativePath, headers, body },
    send: (wireResponse) => send(response, wireResponse),
    hold: () => hold(response),
  });
}

/** By base path (`/twilio/2010-04-01/…`), or by the native path alone. */
function findUpstream(upstreams: Parts['upstreams'], path: string) {
  const baseEnd = path.indexOf('/', 1);
  const base = path.slice(1, baseEnd);
  const named = Object.hasOwn(upstreams, base) ? upstreams[base] : undefined;
  if (named !== undefined) return { provider: base, upstream: named, nativePath: path.slice(baseEnd) };

  for (const [provider, upstream] of Object.entries(upstreams)) {
    if (upstream.nativePaths.some((native) => path.startsWith(native))) return { provider, upstream, nativePath: path };
  }
  return undefined;
}

function hold(response: ServerResponse): void {
  const timer = setTimeout(() => response.destroy(), HOLD_MS_MAX).unref();
  response.on('close', () => clearTimeout(timer));
}

function send(response: ServerResponse, { status, headers, body }: WireResponse): void {
  // The client may have given up meanwhile.
  if (response.destroyed) return;
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

function notFound(error: string): WireResponse {
  return { status: 404, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ error }) };
}
