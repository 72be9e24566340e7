import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { smppSettingsSchema } from '../../../src/providers/smpp/settings.ts';
import { settingsWith } from './create-provider.ts';

const account = { host: 'smsc.example', systemId: 'helio', password: 'secret' };

/** As the configuration checks its file. */
function problemsOf(settings: object): string[] {
  const validate = new Ajv({ allErrors: true, useDefaults: true, strict: false }).compile(smppSettingsSchema);
  return validate(structuredClone(settings))
    ? []
    : (validate.errors ?? []).map((error) => error.instancePath || '(all)');
}

describe('the settings of a bind', () => {
  it('need no more than the account', () => {
    const given = structuredClone(account);
    const validate = new Ajv({ useDefaults: true, strict: false }).compile(smppSettingsSchema);
    expect(validate(given)).toBe(true);
    expect(given).toEqual(settingsWith({ host: 'smsc.example' }));
    expect(given).toMatchObject({
      port: 2775,
      mode: 'trx',
      sessions: 1,
      window: 10,
      timeoutMs: 10_000,
      responseTimeoutMs: 30_000,
      enquireLinkMs: 30_000,
      concat: 'udh',
      defaultAlphabet: 'gsm',
      messageIdFormat: 'auto',
      addresses: {
        alphanumeric: { ton: 5, npi: 0 },
        shortCode: { ton: 3, npi: 0 },
        longCode: { ton: 1, npi: 1 },
        destination: { ton: 1, npi: 1 },
      },
    });
  });

  it('may say in part how numbers are marked', () => {
    const given = { ...account, addresses: { shortCode: { ton: 6, npi: 0 } } };
    expect(new Ajv({ useDefaults: true, strict: false }).validate(smppSettingsSchema, given)).toBe(true);
    expect(given.addresses).toMatchObject({ shortCode: { ton: 6, npi: 0 }, longCode: { ton: 1, npi: 1 } });
  });

  it.each([
    ['no account', { host: 'smsc.example' }, '(all)'],
    ['a setting nobody knows', { ...account, tps: 5 }, '(all)'],
    ['a system_id that SMPP cannot carry', { ...account, systemId: 'x'.repeat(16) }, '/systemId'],
    ['an empty window', { ...account, window: 0 }, '/window'],
    ['another mode', { ...account, mode: 'rx' }, '/mode'],
    ['a status that is no number', { ...account, statusClasses: { THROTTLED: 'throttled' } }, '/statusClasses'],
    ['a status that means nothing', { ...account, statusClasses: { '0x400': 'bad' } }, '/statusClasses/0x400'],
  ])('are refused with %s', (_title, settings, place) => {
    expect(problemsOf(settings)).toContain(place);
  });

  it('are all described', () => {
    for (const property of Object.values(smppSettingsSchema.properties)) {
      expect(property).toHaveProperty('description');
    }
  });
});
