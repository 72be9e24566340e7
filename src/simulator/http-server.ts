import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { jsonAnswer } from './answer.ts';
import type { CarrierParts } from './carrier.ts';
import type { Control } from './control.ts';
import { handleExchange } from './exchange.ts';
import type { Reporter } from './reporter.ts';
import type { Upstream, WireResponse } from './upstream.ts';

const BODY_BYTES_MAX = 64 * 1024;
const HOLD_MS_MAX = 60_000;
/** Longer than any client keeps an idle connection, so that none is closed under a request. */
const KEEP_ALIVE_MS = 75_000;

/** An upstream as it is reached by HTTP. */
export type HttpLine = { readonly provider: string; readonly upstream: Upstream; readonly reporter: Reporter };

type Parts = { carrier: CarrierParts; control: Control; lines: ReadonlyMap<string, HttpLine> };

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
  const query = queryAt === -1 ? '' : url.slice(queryAt + 1);

  if (path.startsWith('/control/')) {
    send(response, parts.control.handle({ method, path, query: new URLSearchParams(query), body }));
    return;
  }
  const route = findLine(parts.lines, path);
  if (route === undefined) {
    send(response, notFound(`No upstream answers at ${path}.`));
    return;
  }
  handleExchange(parts.carrier, {
    ...route.line,
    request: { method, path: route.nativePath, query, headers, body },
    send: (wireResponse) => send(response, wireResponse),
    hold: () => hold(response),
  });
}

/** By base path (`/twilio/2010-04-01/…`), or by the native path alone. */
function findLine(lines: Parts['lines'], path: string): { line: HttpLine; nativePath: string } | undefined {
  const baseEnd = path.indexOf('/', 1);
  const named = lines.get(path.slice(1, baseEnd));
  if (named !== undefined) return { line: named, nativePath: path.slice(baseEnd) };

  for (const line of lines.values()) {
    if (line.upstream.nativePaths.some((native) => path.startsWith(native))) return { line, nativePath: path };
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
  return jsonAnswer(404, { error });
}
