import type { KeyObject } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Pool } from '../db/pool.ts';
import type { Outcome } from '../dispatch/outcome.ts';
import type { MessageRow } from '../events/message-view.ts';
import type { App } from '../http/app.ts';
import type { Batcher } from '../lib/batcher.ts';
import type { Clock } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import type { IdSource } from '../lib/ids.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Provider, ProviderName, Receipt } from '../providers/provider.ts';
import { insertUnmatchedReceipt } from './queries.ts';
import { decodeRef, type Ref } from './ref.ts';

export type ReceiptDeps = {
  pool: Pool;
  clock: Clock;
  ids: IdSource;
  providers: ReadonlyMap<ProviderName, Provider>;
  outcomes: Batcher<Outcome, MessageRow | undefined>;
  refKey: KeyObject;
  metrics: Metrics;
  /** What upstreams were given as our address: their signatures cover it. */
  publicUrl: () => string;
};

const receiptBytesMax = 256 * 1024;
/** Longer receipts are kept cut: they are for people to read. */
const rawLengthMax = 4_096;

/**
 * Where upstreams report: verify → read → settle, and answer only after the commit. A ref that is not ours is a 404 and a wrong signature
 * a 403, so neither tells a forger more than that.
 */
export function receiptRoutes(app: App, deps: ReceiptDeps): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: receiptBytesMax }, (_request, body, done) => {
      done(null, body);
    });
    scope.route<{ Params: { provider: string; ref: string } }>({
      method: ['POST', 'GET'],
      url: '/receipts/:provider/:ref',
      schema: { params: Type.Object({ provider: Type.String(), ref: Type.String() }) },
      async handler(request, reply) {
        await receive(request, request.params.provider, request.params.ref, deps);
        return reply.status(200).send();
      },
    });
  });
}

async function receive(
  request: FastifyRequest,
  providerName: string,
  refText: string,
  deps: ReceiptDeps,
): Promise<void> {
  const ref = decodeRef(refText, deps.refKey);
  const provider = deps.providers.get(providerName as ProviderName);
  if (ref === undefined || provider === undefined) throw new ApiError('not_found', 'There is nothing at this path.');
  const rawBody = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const reading = provider.readReceipts({
    method: request.method,
    url: `${deps.publicUrl()}${request.url}`,
    headers: request.headers,
    rawBody,
  });
  if (!reading.ok) {
    deps.metrics.receipt(provider.name, reading.problem);
    request.log.warn({ provider: provider.name, problem: reading.problem, reason: reading.reason }, 'receipt refused');
    if (reading.problem === 'forged') throw new ApiError('forbidden', 'The signature of this receipt is not valid.');
    throw new ApiError('invalid_request', 'This receipt could not be understood.');
  }
  const raw = `${request.method} ${request.url}\n${rawBody.toString('utf8')}`
    .replaceAll('\0', '')
    .slice(0, rawLengthMax);
  for (const { state } of reading.receipts) deps.metrics.receipt(provider.name, state);
  await Promise.all(reading.receipts.map((receipt) => settle(receipt, ref, provider.name, raw, deps)));
}

async function settle(
  receipt: Receipt,
  urlRef: Ref,
  provider: ProviderName,
  raw: string,
  { pool, clock, ids, outcomes, refKey }: ReceiptDeps,
): Promise<void> {
  const ref = receipt.ref === undefined ? urlRef : decodeRef(receipt.ref, refKey);
  const message =
    ref === undefined
      ? undefined
      : await outcomes.add({
          kind: 'receipt',
          ...ref,
          atMs: clock.now(),
          provider,
          providerMessageId: receipt.providerMessageId,
          state: receipt.state,
          code: receipt.code ?? null,
          optOut: receipt.optOut ?? false,
          raw,
        });
  if (message !== undefined) return;
  await insertUnmatchedReceipt(pool, {
    id: ids.next(),
    provider,
    providerMessageId: receipt.providerMessageId,
    reason: ref === undefined ? 'its reference is not ours' : 'its message is not known',
    raw,
    receivedAtMs: clock.now(),
  });
}
