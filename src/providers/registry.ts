import { Type, type Static, type TObject, type TSchema } from 'typebox';
import type { Clock } from '../lib/clock.ts';
import { africastalkingSettingsSchema, createAfricastalkingProvider } from './africastalking.ts';
import type { HttpAdapterDependencies } from './http.ts';
import { createInfobipProvider, infobipSettingsSchema } from './infobip.ts';
import { createMessagebirdProvider, messagebirdSettingsSchema } from './messagebird.ts';
import { createPlivoProvider, plivoSettingsSchema } from './plivo.ts';
import { providerNames, type Provider, type ProviderName } from './provider.ts';
import { createSinchProvider, sinchSettingsSchema } from './sinch.ts';
import type { BindNotice } from './smpp/bind.ts';
import { smppSettingsSchema } from './smpp/settings.ts';
import { createSmppProvider } from './smpp/smpp.ts';
import { createTelnyxProvider, telnyxSettingsSchema } from './telnyx.ts';
import { createTwilioProvider, twilioSettingsSchema } from './twilio.ts';
import { createVonageProvider, vonageSettingsSchema } from './vonage.ts';

export type ProviderDependencies = {
  clock: Clock;
  /** Numbers from 0 up to, not including, 1. */
  random: () => number;
  /** Told of every SMPP bind that stands and every one that failed. */
  onNotice?: (notice: BindNotice) => void;
};

type Adapter<Schema extends TSchema = TSchema> = {
  settingsSchema: Schema;
  create(settings: Static<Schema>, dependencies: ProviderDependencies & HttpAdapterDependencies): Provider;
  /**
   * Messages per second that the upstream takes from an account unless more was agreed. Left out where it queues what comes faster or
   * states no limit.
   */
  defaultRatePerSecond?: number;
  /** Requests that the upstream serves at a time, where it says so. */
  defaultConcurrency?: number;
};

/** Every upstream there is an adapter for; a name that is missing here cannot be configured. */
const adapters = {
  // Per account; each sender has a limit of its own, beyond which Twilio queues.
  twilio: {
    settingsSchema: twilioSettingsSchema,
    create: createTwilioProvider,
    defaultRatePerSecond: 2_000,
    defaultConcurrency: 100,
  },
  vonage: { settingsSchema: vonageSettingsSchema, create: createVonageProvider, defaultRatePerSecond: 30 },
  infobip: { settingsSchema: infobipSettingsSchema, create: createInfobipProvider },
  // Takes batches at once and sends them at the rate of the service plan.
  sinch: { settingsSchema: sinchSettingsSchema, create: createSinchProvider },
  // Beyond it Plivo queues, and drops after 3 hours.
  plivo: { settingsSchema: plivoSettingsSchema, create: createPlivoProvider, defaultRatePerSecond: 5 },
  telnyx: { settingsSchema: telnyxSettingsSchema, create: createTelnyxProvider, defaultRatePerSecond: 50 },
  // Neither of these two states a limit: a pace that no account is known to be too small for.
  messagebird: {
    settingsSchema: messagebirdSettingsSchema,
    create: createMessagebirdProvider,
    defaultRatePerSecond: 10,
  },
  africastalking: {
    settingsSchema: africastalkingSettingsSchema,
    create: createAfricastalkingProvider,
    defaultRatePerSecond: 10,
  },
  // Keeps to its contract's rate by itself, in parts a second.
  smpp: { settingsSchema: smppSettingsSchema, create: createSmppProvider },
} satisfies Partial<Record<ProviderName, Adapter>>;

const usualConcurrency = 128;

/** What every upstream can be told besides its own settings. */
function paceSchemaOf({ defaultRatePerSecond, defaultConcurrency = usualConcurrency }: Partial<Adapter> = {}) {
  return Type.Object({
    ratePerSecond: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 100_000,
        description:
          'Messages a second; what comes faster waits a second at most, then takes the next provider. ' +
          `Omitted: ${defaultRatePerSecond ?? 'no limit'}.`,
      }),
    ),
    concurrency: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10_000,
        description:
          'Messages under way at a time; what finds no place for a second takes the next provider. ' +
          `Omitted: ${defaultConcurrency}.`,
      }),
    ),
  });
}

type PaceOptions = Static<ReturnType<typeof paceSchemaOf>>;

/** The `providers` section of the configuration: settings by upstream, only of those in use. */
export type ProvidersSettings = {
  [Name in keyof typeof adapters]?: Static<(typeof adapters)[Name]['settingsSchema']> & PaceOptions;
};

export const providersSettingsSchema = Type.Unsafe<ProvidersSettings>(
  Type.Object(
    Object.fromEntries(
      Object.entries(adapters).map(([name, adapter]) => {
        const { properties, description } = adapter.settingsSchema as unknown as TObject & { description?: string };
        const all = { ...paceSchemaOf(adapter).properties, ...properties };
        return [name, Type.Optional(Type.Object(all, { additionalProperties: false, description }))];
      }),
    ),
    { additionalProperties: false, description: 'Upstream providers by name; one that is left out is not used.' },
  ),
);

/** One adapter per configured upstream, in the order in which the API lists the names. Opens no connection yet. */
export function createProviders(
  settings: ProvidersSettings,
  dependencies: ProviderDependencies,
): ReadonlyMap<ProviderName, Provider> {
  const adapterOf: Partial<Record<ProviderName, Adapter>> = adapters;
  const settingsOf: Partial<Record<ProviderName, unknown>> = settings;
  const providers = new Map<ProviderName, Provider>();
  for (const name of providerNames) {
    if (settingsOf[name] === undefined) continue;
    const adapter = adapterOf[name];
    if (adapter === undefined) throw new Error(`there is no adapter for the provider ${name}`);
    const connectionsMax = paceOf(settings, name).concurrencyMax;
    providers.set(name, adapter.create(settingsOf[name], { ...dependencies, connectionsMax }));
  }
  return providers;
}

/** How fast and how many at a time to call an upstream: as its settings say, else as is known of it. */
export function paceOf(
  settings: ProvidersSettings,
  name: ProviderName,
): { ratePerSecond: number | undefined; concurrencyMax: number } {
  const adapterOf: Partial<Record<ProviderName, Adapter>> = adapters;
  const settingsOf: Partial<Record<ProviderName, PaceOptions>> = settings;
  const { ratePerSecond, concurrency } = settingsOf[name] ?? {};
  const { defaultRatePerSecond, defaultConcurrency = usualConcurrency } = adapterOf[name] ?? {};
  return {
    ratePerSecond: name === 'smpp' ? undefined : (ratePerSecond ?? defaultRatePerSecond),
    concurrencyMax: concurrency ?? defaultConcurrency,
  };
}
