import { expect, it } from 'vitest';
import type { MessageRow } from '../events/message-view.ts';
import { Batcher } from '../lib/batcher.ts';
import { systemClock } from '../lib/clock.ts';
import { createIdSource } from '../lib/ids.ts';
import { createLog } from '../lib/log.ts';
import type { Pool } from '../db/pool.ts';
import type { Provider, ProviderName, SendResult } from '../providers/provider.ts';
import { Dispatcher } from './dispatcher.ts';
import type { Outcome } from './outcome.ts';
import type { DispatchJob } from './job.ts';

const ids = createIdSource(systemClock);
const accepted: SendResult = { outcome: 'accepted', providerMessageId: '1' };

function jobFor(provider: ProviderName): DispatchJob {
  const message = { account_id: ids.next(), id: ids.next(), recipient: '+14155550123', sender: 'HELIO', body: 'Hello' };
  return {
    message: message as MessageRow,
    segments: 1,
    providers: [provider],
    started: [provider],
    ownsLastStarted: true,
    leasedUntilMs: systemClock.now() + 30_000,
  };
}

const readReceipts: Provider['readReceipts'] = () => ({ ok: true, receipts: [] });

function providerOf(name: ProviderName, send: Provider['send']): [ProviderName, Provider] {
  return [name, { name, send, readReceipts, close: () => Promise.resolve() }];
}

it('a provider that holds all it may take and answers nothing leaves room in the lane for what goes to others', async () => {
  const { promise: silence, resolve: answer } = Promise.withResolvers<SendResult>();
  const dispatcher = new Dispatcher({
    // A first attempt is noted with its acceptance: no statement is run here.
    pool: undefined as unknown as Pool,
    log: createLog({ level: 'silent' }),
    clock: systemClock,
    providers: new Map([providerOf('twilio', () => silence), providerOf('vonage', () => Promise.resolve(accepted))]),
    outcomes: new Batcher<Outcome, MessageRow | undefined>({
      run: (outcomes) => Promise.resolve(outcomes.map(({ kind }) => ({ status: kind }) as MessageRow)),
      maxWeight: 256,
      maxWaiting: 50_000,
      isSharedFault: () => false,
    }),
    attemptTimeoutMs: 10_000,
    onTimeout: 'next',
    concurrency: { single: 16, bulk: 16 },
    paceOf: () => ({ ratePerSecond: undefined, concurrencyMax: 100 }),
    refOf: () => 'ref',
    callbackUrlOf: () => 'https://example.com/',
  });
  const held = Array.from({ length: 100 }, () => dispatcher.dispatch(jobFor('twilio'), 'single'));
  expect(await dispatcher.dispatch(jobFor('vonage'), 'single')).toMatchObject({ status: 'sent' });
  answer(accepted);
  expect(new Set((await Promise.all(held)).map(({ status }) => status))).toEqual(new Set(['sent']));
  await dispatcher.stop();
});
