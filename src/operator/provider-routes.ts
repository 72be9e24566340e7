import type { KeyObject } from 'node:crypto';
import { Type } from 'typebox';
import type { Breaker } from '../dispatch/breaker.ts';
import type { PaceSettings } from '../dispatch/pace.ts';
import { recentWindowSeconds, type RecentAttemptCounts } from '../dispatch/recent-attempts.ts';
import type { App } from '../http/app.ts';
import { envelope, envelopeSchema, wrappedList, wrappedListSchema } from '../http/envelope.ts';
import type { Provider, ProviderName } from '../providers/provider.ts';
import { accountTokenOf } from '../receipts/account-token.ts';
import { nullableString, shown, words } from './fields.ts';

export type ProviderRouteDeps = {
  providers: ReadonlyMap<ProviderName, Provider>;
  dispatcher: { readonly breakers: ReadonlyMap<ProviderName, Breaker> };
  paceOf: (provider: ProviderName) => PaceSettings;
  recentAttempts: RecentAttemptCounts;
  refKey: KeyObject;
  publicUrl: () => string;
};

const nullableNumber = (description: string, example: number) =>
  Type.Unsafe<number | null>({ type: ['number', 'null'], description, examples: [example] });
const count = (example: number, description?: string) => Type.Integer({ description, examples: [example] });

const providerSchema = Type.Object(
  {
    object: Type.Literal('provider'),
    name: shown('twilio'),
    breaker: words(
      ['closed', 'open', 'half_open'] as const,
      'Open: it is left alone for a while. Half open: one message probes it.',
    ),
    rate_per_second: nullableNumber('Messages a second it is called with at most; null for no limit.', 100),
    concurrency: count(128, 'Messages under way at a time at most.'),
    recent: Type.Object(
      {
        seconds: count(300),
        accepted: count(1_480),
        rejected: count(12, 'Refused for good: no fault of the provider.'),
        retryable: count(7, 'Failed in a way that another provider may not.'),
        unknown: count(1, 'Written and not answered.'),
        error_rate: nullableNumber('The share of retryable and unknown, from 0 to 1; null without attempts.', 0.0053),
        latency_ms: nullableNumber('The mean of all attempts; null without any.', 184.2),
      },
      { description: 'Attempts of the last minutes.' },
    ),
    receipts_url: nullableString(
      'Where its receipts go, for a provider that is told so on its own dashboard; null where each message says it.',
    ),
  },
  { title: 'Provider' },
);

/** The providers as the process that answers sees them: each has breakers and counts of its own. */
export function providerRoutes(app: App, deps: ProviderRouteDeps): void {
  app.get(
    '/providers',
    {
      schema: {
        summary: 'List the configured providers and how they are doing',
        description: 'Breakers and counts are those of the process that answers.',
        response: { 200: envelopeSchema(wrappedListSchema(providerSchema)) },
      },
    },
    async (request) =>
      envelope(request, wrappedList([...deps.providers.values()].map((provider) => show(provider, deps)))),
  );
}

function show({ name, receiptsByMessageId }: Provider, deps: ProviderRouteDeps) {
  const { ratePerSecond, concurrencyMax } = deps.paceOf(name);
  const { latencyMsMean, ...counts } = deps.recentAttempts.of(name);
  const attempts = counts.accepted + counts.rejected + counts.retryable + counts.unknown;
  return {
    object: 'provider' as const,
    name,
    breaker: deps.dispatcher.breakers.get(name)?.state ?? 'closed',
    rate_per_second: ratePerSecond ?? null,
    concurrency: concurrencyMax,
    recent: {
      seconds: recentWindowSeconds,
      ...counts,
      error_rate: attempts === 0 ? null : (counts.retryable + counts.unknown) / attempts,
      latency_ms: latencyMsMean === null ? null : Math.round(latencyMsMean * 10) / 10,
    },
    receipts_url:
      receiptsByMessageId === true ? `${deps.publicUrl()}/receipts/${name}/${accountTokenOf(name, deps.refKey)}` : null,
  };
}
