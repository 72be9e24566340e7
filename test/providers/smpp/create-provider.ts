import { Default } from 'typebox/value';
import { systemClock } from '../../../src/lib/clock.ts';
import type { BindNotice } from '../../../src/providers/smpp/bind.ts';
import { smppSettingsSchema, type SmppSettings } from '../../../src/providers/smpp/settings.ts';
import { createSmppProvider, type SmppProvider } from '../../../src/providers/smpp/smpp.ts';
import type { SmppTiming } from '../../../src/providers/smpp/timing.ts';
import { until } from '../../helpers/until.ts';

/** Settings as the configuration would give them, with `changes`. */
export function settingsWith(changes: Partial<SmppSettings> = {}): SmppSettings {
  return Default(smppSettingsSchema, {
    host: '127.0.0.1',
    systemId: 'helio',
    password: 'secret',
    ...changes,
  }) as SmppSettings;
}

export type TestProvider = SmppProvider & { notices: BindNotice[] };

/** Of a part for its turn: connecting and binding may take a while on a busy machine. */
const waitTimeoutMs = 10_000;

/** An adapter whose waits are the real ones except for `timing`; what it notices is kept. */
export function createProvider(
  changes: Partial<SmppSettings> & { port: number },
  shorter: Partial<SmppTiming> = {},
): TestProvider {
  const notices: BindNotice[] = [];
  const provider = createSmppProvider(settingsWith({ waitTimeoutMs, ...changes }), {
    clock: systemClock,
    random: () => 0.5,
    onNotice: (notice) => notices.push(notice),
    timing: { reconnectFirstMs: 20, reconnectLongestMs: 100, partRetryMs: 10, ...shorter },
  });
  return Object.assign(provider, { notices });
}

/** The same, bound already: what is measured from here on is no part of connecting. */
export async function createBoundProvider(...options: Parameters<typeof createProvider>): Promise<TestProvider> {
  const provider = createProvider(...options);
  provider.reports.onReceipt(() => Promise.resolve());
  await until('the bind stands', () => provider.notices.some(({ state }) => state === 'bound'));
  return provider;
}
