import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig, type Config, type Environment } from './config.ts';

const file = `
public_url: https://sms.example.com/
providers:
  twilio:
    account_sid: AC5e1f0a9c3b7d42868f12c4d09ab37e65
    auth_token: \${TWILIO_AUTH_TOKEN}
  vonage:
    api_key: a7c93e51
    api_secret: secret
    signature_secret: signature
    timeout_ms: 4000
routes:
  - id: 1
    name: everywhere
    providers: [twilio, vonage]
  - id: 2
    name: British mobiles from names
    match: { prefixes: ['+447'], sender_types: [alphanumeric] }
    providers: [vonage]
    rates: { '+447': 0.0311 }
rate_card:
  default: 0.05
  prefixes: { '+1': 0.0079, '+44': 0.04 }
dispatch:
  on_timeout: stop
`;

const secret = { TWILIO_AUTH_TOKEN: 'token' };

function load(env: Environment, text = file): Config {
  return loadConfig({ HELIOGRAPH_CONFIG: '/etc/heliograph.yaml', ...env }, () => text);
}

/** What is wrong, one line each. */
function problemsOf(act: () => unknown): readonly string[] {
  try {
    act();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const noFile = (): string => {
  throw new Error('ENOENT: no such file');
};

describe('without a configuration file', () => {
  it('it is a quickstart on this machine only', () => {
    expect(loadConfig({}, noFile)).toMatchObject({
      host: '127.0.0.1',
      port: 8_080,
      quickstart: { simulatorPort: 8_081 },
      databaseUrl: undefined,
      publicUrl: undefined,
      webhookTargets: { allowPrivate: true, allowedNetworks: [] },
      trustedProxies: [],
      onTimeout: 'next',
    });
  });

  it('the environment has its say; what is empty or blank was not said', () => {
    const config = loadConfig(
      {
        PORT: '0',
        HOST: '::1',
        SIMULATOR_PORT: ' 9000 ',
        DATABASE_URL: 'postgres://localhost/heliograph',
        PUBLIC_URL: 'https://sms.example.com/base//',
        TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.1 ::1',
        LOG_LEVEL: 'debug',
        SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
        OPERATOR_TOKEN: '',
        HELIOGRAPH_CONFIG: '',
        REDIS_URL: '   ',
      },
      noFile,
    );
    expect(config).toMatchObject({
      port: 0,
      host: '::1',
      quickstart: { simulatorPort: 9_000 },
      databaseUrl: 'postgres://localhost/heliograph',
      publicUrl: 'https://sms.example.com/base',
      trustedProxies: ['10.0.0.0/8', '192.0.2.1', '::1'],
      logLevel: 'debug',
      operatorToken: undefined,
      redisUrl: undefined,
    });
    expect(config.secretKey).toEqual(Buffer.alloc(32, 7));
  });

  it('it cannot be changed once it is read', () => {
    const config = loadConfig({}, noFile);
    expect(() => Object.assign(config, { port: 1 })).toThrow(TypeError);
  });

  it('a secret key may be hex, too', () => {
    const key = Buffer.from(Array.from({ length: 32 }, (_, index) => index));
    expect(loadConfig({ SECRET_KEY: key.toString('hex') }, noFile).secretKey).toEqual(key);
  });
});

describe('a problem is told by its name and how to mend it:', () => {
  it.each([
    ['PORT', 'http'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80.5'],
    ['PORT', '0x50'],
    ['SIMULATOR_PORT', 'any'],
    ['DATABASE_URL', 'localhost'],
    ['DATABASE_URL', 'mysql://localhost/db'],
    ['DATABASE_CONNECTIONS', '3'],
    ['PUBLIC_URL', 'sms.example.com'],
    ['REDIS_URL', 'http://localhost'],
    ['SECRET_KEY', 'short'],
    ['OPERATOR_TOKEN', 'fifteen letters'],
    ['TRUSTED_PROXIES', 'localhost'],
    ['WEBHOOK_ALLOWED_NETWORKS', '10.0.0.0/33'],
    ['LOG_LEVEL', 'loud'],
    ['METRICS_OPEN', 'yes'],
  ])('%s=%s', (name, value) => {
    const problems = problemsOf(() => loadConfig({ [name]: value }, noFile));
    expect(problems).toEqual([expect.stringContaining(name)]);
  });

  it('all of them at once', () => {
    const problems = problemsOf(() => load({ PORT: 'x', LOG_LEVEL: 'loud', SECRET_KEY: 'short' }, 'routes: []'));
    for (const part of ['PORT', 'LOG_LEVEL', 'SECRET_KEY', 'routes', 'providers']) {
      expect(problems.some((problem) => problem.includes(part))).toBe(true);
    }
    expect(new ConfigError(problems).message).toMatch(/problems:\n {2}- .*\n {2}- /);
  });

  it('what is missing is named as it is written in the file', () => {
    const problems = problemsOf(() => load({}, 'routes: []'));
    expect(problems.some((problem) => problem.includes('public_url'))).toBe(true);
    expect(problems.some((problem) => problem.includes('rate_card'))).toBe(true);
  });

  it('and never tells a secret', () => {
    const problems = problemsOf(() => loadConfig({ SECRET_KEY: 's3cret', OPERATOR_TOKEN: 't0ken' }, noFile));
    expect(problems.join('\n')).not.toMatch(/s3cret|t0ken/);
  });
});

describe('with a configuration file', () => {
  it('there is no quickstart, and webhooks reach public addresses only', () => {
    const config = load(secret);
    expect(config.quickstart).toBeUndefined();
    expect(config.webhookTargets.allowPrivate).toBe(false);
  });

  it('it says what there is, with defaults for what it leaves out', () => {
    const { publicUrl, providers, routes, rateCard, onTimeout } = load(secret);
    expect(publicUrl).toBe('https://sms.example.com');
    expect(providers.twilio).toMatchObject({
      authToken: 'token',
      baseUrl: 'https://api.twilio.com',
      timeoutMs: 10_000,
    });
    expect(providers.vonage).toMatchObject({ timeoutMs: 4_000 });
    expect(routes).toEqual([
      {
        id: 1,
        name: 'everywhere',
        match: { prefixes: [], senderTypes: [] },
        providers: ['twilio', 'vonage'],
        rates: new Map(),
      },
      {
        id: 2,
        name: 'British mobiles from names',
        match: { prefixes: ['+447'], senderTypes: ['alphanumeric'] },
        providers: ['vonage'],
        rates: new Map([['+447', 31_100]]),
      },
    ]);
    expect(rateCard).toEqual({
      defaultMicros: 50_000,
      byPrefix: new Map([
        ['+1', 7_900],
        ['+44', 40_000],
      ]),
    });
    expect(onTimeout).toBe('stop');
  });

  it('PUBLIC_URL of the environment comes before that of the file', () => {
    expect(load({ ...secret, PUBLIC_URL: 'http://localhost:1' }).publicUrl).toBe('http://localhost:1');
  });

  it('a secret key must be given where several processes may share a database', () => {
    const shared = { ...secret, DATABASE_URL: 'postgres://localhost/heliograph' };
    expect(problemsOf(() => load(shared))).toEqual([expect.stringMatching(/SECRET_KEY is required/)]);
    expect(problemsOf(() => load({ ...shared, SECRET_KEY: 'a'.repeat(64) }))).toEqual([]);
  });

  it.each([
    ['a variable that is not set', file, {}, /TWILIO_AUTH_TOKEN/],
    [
      'a route to a provider that is not configured',
      file.replace('[twilio, vonage]', '[twilio, plivo]'),
      secret,
      /everywhere.*plivo/,
    ],
    ['two routes of one id', file.replace('id: 2', 'id: 1'), secret, /two routes.*1/],
    ['a price below zero', file.replace('default: 0.05', 'default: -1'), secret, /rate_card\.default/],
    ['a prefix without a plus sign', file.replace("'+1'", "'1'"), secret, /rate_card\.prefixes/],
    ['a name that it does not know', file.replace('on_timeout', 'on_time_out'), secret, /no setting on_time_out/],
    ['a word that is none of the choices', file.replace(/on_timeout: \w+/, 'on_timeout: wait'), secret, /next, stop/],
    ['a route without providers', file.replace('[vonage]', '[]'), secret, /routes\.1\.providers/],
    ['what is not YAML', 'routes: [', secret, /heliograph\.yaml/],
    ['nothing', '', secret, /routes/],
  ])('is refused with %s', (_what, text, env, problem) => {
    const problems = problemsOf(() => load(env, text));
    expect(problems.some((line) => problem.test(line))).toBe(true);
  });

  it('that cannot be read is a problem like any other', () => {
    expect(problemsOf(() => loadConfig({ HELIOGRAPH_CONFIG: '/nowhere' }, noFile))).toEqual([
      expect.stringMatching(/\/nowhere.*no such file/),
    ]);
  });

  it.each([
    ['a backslash', 'a\\b'],
    ['a quotation mark', 'a"b'],
    ['a hash after a space', 'a #b'],
    ['a colon before a space', 'a: b'],
    ['digits only', '1234567890'],
    ['a word that YAML knows', 'true'],
    ['a percent sign at its start', '%a'],
  ])('takes a secret from the environment as it is, with %s', (_what, token) => {
    expect(load({ TWILIO_AUTH_TOKEN: token }).providers.twilio?.authToken).toBe(token);
  });
});
