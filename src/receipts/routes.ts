import { timingSafeEqual, type KeyObject } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../http/app.ts';
import { ApiError } from '../lib/errors.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Provider, ProviderName, Receipt } from '../providers/provider.ts';
import { accountTokenOf } from './account-token.ts';
import type { ReceiptDesk } from './desk.ts';
import { decodeRef } from './ref.ts';

export type ReceiptDeps = {
  receiptDesk: ReceiptDesk;
  providers: ReadonlyMap<ProviderName, Provider>;
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
        const provider = deps.providers.get(request.params.provider as ProviderName);
        if (provider === undefined) throw unknownPlace();
        await receive(request, provider, request.params.ref, deps);
        return reply.status(200).send();
      },
    });
  });
}

function unknownPlace(): ApiError {
  return new ApiError('not_found', 'There is nothing at this path.');
}

async function receive(request: FastifyRequest, provider: Provider, token: string, deps: ReceiptDeps): Promise<void> {
  const { name, receiptsByMessageId } = provider;
  const ref = decodeRef(token, name, deps.refKey);
  if (receiptsByMessageId === true ? !isSame(token, accountTokenOf(name, deps.refKey)) : ref === undefined) {
    throw unknownPlace();
  }
  const rawBody = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const receipts = readReceipts(request, provider, rawBody, deps);
  await Promise.all(
    receipts.map((receipt) => {
      const raw = rawOf(request, rawBody, receipt, receipts.length);
      return ref === undefined && receipt.ref === undefined
        ? deps.receiptDesk.settleById(name, {
            ...receipt,
            candidates: [{ id: receipt.providerMessageId, certain: true }],
            recipient: '',
            raw,
          })
        : deps.receiptDesk.settleByRef(name, receipt, ref, raw);
    }),
  );
}

/** What came for several messages at once is kept as it was read, each apart: none is to hold another one's recipient. */
function rawOf({ method, url }: FastifyRequest, rawBody: Buffer, receipt: Receipt, count: number): string {
  const content =
    count > 1
      ? `one of ${count} receipts\n${JSON.stringify(receipt)}`
      : `${url.split('?')[1] ?? ''}\n${rawBody.toString('utf8')}`;
  return `${method} ${content}`.replaceAll('\0', '').slice(0, rawLengthMax);
}

function readReceipts(
  request: FastifyRequest,
  provider: Provider,
  rawBody: Buffer,
  { metrics, publicUrl }: ReceiptDeps,
): Receipt[] {
  const reading = provider.readReceipts({
    method: request.method,
    url: `${publicUrl()}${request.url}`,
    headers: request.headers,
    rawBody,
  });
  if (reading.ok) return reading.receipts;
  metrics.receipt(provider.name, reading.problem);
  request.log.warn({ provider: provider.name, problem: reading.problem, reason: reading.reason }, 'receipt refused');
  if (reading.problem === 'forged') throw new ApiError('forbidden', 'The signature of this receipt is not valid.');
  throw new ApiError('invalid_request', 'This receipt could not be understood.');
}

function isSame(given: string, expected: string): boolean {
  const [first, second] = [Buffer.from(given), Buffer.from(expected)];
  return first.length === second.length && timingSafeEqual(first, second);
}
