import { isIP } from 'node:net';
import path from 'node:path';
import { Ajv, type ErrorObject } from 'ajv';
import ipaddr from 'ipaddr.js';
import { parse as parseYaml } from 'yaml';
import { configFileSchema, type ConfigFile } from './config-file.ts';
import type { RateCard } from './messages/price.ts';
import type { Route } from './messages/route.ts';
import type { ProviderName } from './providers/provider.ts';
import { providersSettingsSchema, type ProvidersSettings } from './providers/registry.ts';
import { defaultRetention, problemsOf, type RetentionDays } from './retention/retention-days.ts';

/** Everything the program is told from outside, read once and frozen. */
export type Config = {
  host: string;
  port: number;
  /** Where quickstart and the embedded database keep what must last. */
  dataDir: string;
  /** A given PostgreSQL; undefined starts the embedded one. */
  databaseUrl: string | undefined;
  databaseConnections: number;
  /** Where all processes count requests together; undefined counts in each one's memory. */
  redisUrl: string | undefined;
  /** How upstreams and callers reach this server; undefined means by the address it listens on. */
  publicUrl: string | undefined;
  /** 32 bytes; undefined keeps one in the data folder. */
  secretKey: Buffer | undefined;
  operatorToken: string | undefined;
  trustedProxies: string[];
  webhookTargets: { allowPrivate: boolean; allowedNetworks: string[] };
  logLevel: string;
  /** `/metrics` without the operator's token. */
  metricsOpen: boolean;
  /** Set when no configuration file is: the carrier simulator behind every provider, and a demo account. */
  quickstart: { simulatorPort: number } | undefined;
  providers: ProvidersSettings;
  routes: Route[];
  rateCard: RateCard;
  onTimeout: 'next' | 'stop';
  retention: RetentionDays;
};

/** Every problem of a configuration at once, so that it is mended in one go. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      `the configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n  - ${problems.join('\n  - ')}`,
    );
    this.problems = problems;
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment and the text of the file `HELIOGRAPH_CONFIG` names, as one checked and frozen whole. Throws `ConfigError`. */
export function loadConfig(env: Environment, readFile: (file: string) => string): Config {
  const problems: string[] = [];
  const reader = new EnvironmentReader(env, problems);
  const file = env['HELIOGRAPH_CONFIG'];
  const fileConfig = file === undefined || file === '' ? undefined : readConfigFile(file, env, readFile, problems);
  const config: Config = {
    host: reader.text('HOST') ?? '127.0.0.1',
    port: reader.integer('PORT', 8080, 0, 65_535),
    dataDir: path.resolve(reader.text('DATA_DIR') ?? 'data'),
    databaseUrl: reader.url('DATABASE_URL', ['postgres:', 'postgresql:']),
    databaseConnections: reader.integer('DATABASE_CONNECTIONS', 12, 4, 200),
    redisUrl: reader.url('REDIS_URL', ['redis:', 'rediss:']),
    publicUrl: (reader.url('PUBLIC_URL', ['http:', 'https:']) ?? fileConfig?.publicUrl)?.replace(/\/+$/, ''),
    secretKey: reader.secretKey('SECRET_KEY'),
    operatorToken: reader.token('OPERATOR_TOKEN'),
    trustedProxies: reader.networks('TRUSTED_PROXIES'),
    webhookTargets: {
      allowPrivate: fileConfig === undefined,
      allowedNetworks: reader.networks('WEBHOOK_ALLOWED_NETWORKS'),
    },
    logLevel: reader.oneOf('LOG_LEVEL', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
    metricsOpen: reader.oneOf('METRICS_OPEN', ['true', 'false'], 'false') === 'true',
    quickstart:
      fileConfig === undefined ? { simulatorPort: reader.integer('SIMULATOR_PORT', 8081, 0, 65_535) } : undefined,
    providers: fileConfig?.providers ?? {},
    routes: fileConfig?.routes ?? [],
    rateCard: fileConfig?.rateCard ?? { defaultMicros: 10_000, byPrefix: new Map([['+1', 7_900]]) },
    onTimeout: fileConfig?.onTimeout ?? 'next',
    retention: fileConfig?.retention ?? defaultRetention,
  };
  if (
    fileConfig !== undefined &&
    config.databaseUrl !== undefined &&
    config.secretKey === undefined &&
    env['SECRET_KEY'] === undefined
  ) {
    problems.push(
      'SECRET_KEY is required with DATABASE_URL: all processes on a database must share it. Make one with: openssl rand -base64 32',
    );
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
}

class EnvironmentReader {
  readonly #env: Environment;
  readonly #problems: string[];

  constructor(env: Environment, problems: string[]) {
    this.#env = env;
    this.#problems = problems;
  }

  text(name: string): string | undefined {
    const value = this.#env[name]?.trim();
    return value === '' ? undefined : value;
  }

  integer(name: string, fallback: number, min: number, max: number): number {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    this.#problems.push(`${name} must be a whole number from ${min} to ${max}, not "${text}"`);
    return fallback;
  }

  url(name: string, protocols: string[]): string | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (URL.canParse(text) && protocols.includes(new URL(text).protocol)) return text;
    this.#problems.push(
      `${name} must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
    );
    return undefined;
  }

  oneOf<Value extends string>(name: string, values: readonly Value[], fallback: Value): Value {
    const text = this.text(name);
    const value = values.find((known) => known === text);
    if (text !== undefined && value === undefined)
      this.#problems.push(`${name} must be one of ${values.join(', ')}, not "${text}"`);
    return value ?? fallback;
  }

  token(name: string): string | undefined {
    const text = this.text(name);
    if (text !== undefined && text.length < 16) this.#problems.push(`${name} must have at least 16 characters`);
    return text;
  }

  secretKey(name: string): Buffer | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const key = /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
    if (key.length === 32) return key;
    this.#problems.push(`${name} must be 32 bytes in base64 or hex. Make one with: openssl rand -base64 32`);
    return undefined;
  }

  networks(name: string): string[] {
    const items = (this.text(name) ?? '').split(/[\s,]+/).filter((item) => item !== '');
    for (const item of items) {
      if (isIP(item) === 0 && !ipaddr.isValidCIDR(item)) {
        this.#problems.push(`${name} holds "${item}", which is neither an IP address nor a network such as 10.0.0.0/8`);
      }
    }
    return items;
  }
}

type FileConfig = Pick<Config, 'publicUrl' | 'providers' | 'routes' | 'rateCard' | 'onTimeout' | 'retention'>;

function readConfigFile(
  file: string,
  env: Environment,
  readFile: (file: string) => string,
  problems: string[],
): FileConfig {
  const empty: FileConfig = {
    publicUrl: undefined,
    providers: {},
    routes: [],
    rateCard: { defaultMicros: 0, byPrefix: new Map() },
    onTimeout: 'next',
    retention: defaultRetention,
  };
  let document: unknown;
  try {
    document = substitute(parseYaml(readFile(file)), env, problems);
  } catch (error) {
    problems.push(`HELIOGRAPH_CONFIG: ${file}: ${error instanceof Error ? error.message : String(error)}`);
    return empty;
  }
  const content = camelCaseKeys(document ?? {});
  const validate = new Ajv({ allErrors: true, useDefaults: true, strict: false }).compile<ConfigFile>(configFileSchema);
  if (!validate(content)) {
    problems.push(...(validate.errors ?? []).map((error) => `${file}: ${describe(error)}`));
    return empty;
  }
  checkRoutes(content, file, problems);
  problems.push(...problemsOf(content.retention).map((problem) => `${file}: retention.${problem}`));
  return toFileConfig(content);
}

/** Provider settings given by code rather than by a file: checked by the same schema, with its defaults. */
export function readProvidersSettings(settings: unknown): ProvidersSettings {
  const complete = structuredClone(settings);
  const validate = new Ajv({ allErrors: true, useDefaults: true, strict: false }).compile<ProvidersSettings>(
    providersSettingsSchema,
  );
  if (validate(complete)) return complete;
  throw new ConfigError(
    (validate.errors ?? []).map(({ instancePath, message }) => `providers${instancePath} ${message}`),
  );
}

/** `${NAME}` in a value stands for a variable of the environment, so that secrets stay out of the file. */
function substitute(value: unknown, env: Environment, problems: string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => substitute(item, env, problems));
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, substitute(inner, env, problems)]));
  }
  if (typeof value !== 'string') return value;
  return value.replaceAll(/\$\{([A-Z_][A-Z0-9_]*)\}/g, (_match, name: string) => {
    const given = env[name];
    if (given === undefined) {
      problems.push(`the configuration file refers to \${${name}}, which is not set in the environment`);
    }
    return given ?? '';
  });
}

/** Prefixes such as `+44` are keys too, and stay as they are. */
function camelCaseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelCaseKeys);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()),
      camelCaseKeys(inner),
    ]),
  );
}

/** Where a value stands, in the file's own spelling, and what is wrong with it. */
function describe({ instancePath, keyword, message, params }: ErrorObject): string {
  const place = snakeCase(instancePath.replaceAll('/', '.').replace(/^\./, '')) || 'the file';
  const { additionalProperty, allowedValues } = params as { additionalProperty?: string; allowedValues?: unknown[] };
  if (additionalProperty !== undefined) return `${place} has no setting ${snakeCase(additionalProperty)}`;
  if (allowedValues !== undefined) return `${place} must be one of ${allowedValues.join(', ')}`;
  return `${place} ${(message ?? `does not satisfy ${keyword}`).replaceAll(/'[^']*'/g, snakeCase)}`;
}

function snakeCase(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function checkRoutes({ routes, providers }: ConfigFile, file: string, problems: string[]): void {
  const ids = new Set<number>();
  for (const { id, name, providers: chain } of routes) {
    if (ids.has(id)) problems.push(`${file}: two routes have the id ${id}`);
    ids.add(id);
    for (const provider of chain) {
      if (!(provider in providers))
        problems.push(`${file}: the route "${name}" names ${provider}, which is not configured under providers`);
    }
  }
}

function toMicros(price: number): number {
  return Math.round(price * 1_000_000);
}

function toRates(prices: Record<string, number>): Map<string, number> {
  return new Map(Object.entries(prices).map(([prefix, price]) => [prefix, toMicros(price)]));
}

function toFileConfig(content: ConfigFile): FileConfig {
  return {
    publicUrl: content.publicUrl,
    providers: content.providers,
    routes: content.routes.map(({ id, name, match, providers, rates }) => ({
      id,
      name,
      match: { prefixes: match.prefixes, senderTypes: match.senderTypes },
      providers: providers as ProviderName[],
      rates: toRates(rates),
    })),
    rateCard: { defaultMicros: toMicros(content.rateCard.default), byPrefix: toRates(content.rateCard.prefixes) },
    onTimeout: content.dispatch.onTimeout,
    retention: content.retention,
  };
}
