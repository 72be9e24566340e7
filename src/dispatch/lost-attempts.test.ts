import { expect, it } from 'vitest';
import type { MessageRow } from '../events/message-view.ts';
import { Batcher } from '../lib/batcher.ts';
import { systemClock } from '../lib/clock.ts';
import { createIdSource } from '../lib/ids.ts';
import type { LookUpResult, Provider, ProviderName, SendResult } from '../providers/provider.ts';
import { createBreaker } from './breaker.ts';
import { Pace } from './pace.ts';
import type { StartedAttempt } from './queries.ts';
import { Chain } from './send.ts';

// Attempts of a process that was lost, at upstreams of which only infobip knows messages by an id of ours.

const clock = systemClock;
const ids = createIdSource(clock);

/** Walks on after the loss of `started`, with what infobip says when it is asked; gives the outcome and which refs were asked about. */
async function walkOn(
  started: ProviderName[],
  answer: LookUpResult,
  { onTimeout = 'next' }: { onTimeout?: 'next' | 'stop' } = {},
) {
  const asked: string[] = [];
  const sent: ProviderName[] = [];
  const providerOf = (name: ProviderName): [ProviderName, Provider] => [
    name,
    {
      name,
      send: () => {
        sent.push(name);
        const accepted: SendResult = { outcome: 'accepted', providerMessageId: `of ${name}` };
        return Promise.resolve(accepted);
      },
      readReceipts: () => ({ ok: true, receipts: [] }),
      ...(name === 'infobip'
        ? {
            lookUpRef: (ref: string) => {
              asked.push(ref);
              return Promise.resolve(answer);
            },
          }
        : {}),
      close: () => Promise.resolve(),
    },
  ];
  const providers = ['twilio', 'infobip', 'vonage'] as const;
  const pace = { ratePerSecond: undefined, concurrencyMax: 10 };
  const message = { account_id: ids.next(), id: ids.next(), recipient: '+14155550123', sender: 'HELIO', body: 'Hello' };
  const chain = new Chain(
    {
      message: message as MessageRow,
      segments: 1,
      providers,
      started,
      ownsLastStarted: false,
      leasedUntilMs: clock.now() + 30_000,
    },
    {
      clock,
      providers: new Map(providers.map(providerOf)),
      breakers: new Map(providers.map((name) => [name, createBreaker(clock)])),
      paces: new Map(providers.map((name) => [name, new Pace(pace, clock)])),
      started: new Batcher<StartedAttempt, boolean>({
        run: (attempts) => Promise.resolve(attempts.map(() => true)),
        maxWeight: 256,
        maxWaiting: 50_000,
        isSharedFault: () => false,
      }),
      isStopping: () => false,
      attemptTimeoutMs: 10_000,
      onTimeout,
      refOf: (_provider, _message, attempt) => `ref of ${attempt}`,
      callbackUrlOf: () => 'https://example.com/',
    },
  );
  return { outcome: await chain.walk(), asked, sent };
}

const took: LookUpResult = { outcome: 'found', receipt: { providerMessageId: 'its id', state: 'sent' } };

it.each(['next', 'stop'] as const)(
  'an attempt that the upstream says it took has sent the message: %s',
  async (onTimeout) => {
    const { outcome, asked, sent } = await walkOn(['twilio', 'infobip'], took, { onTimeout });
    expect(outcome).toMatchObject({
      kind: 'sent',
      provider: 'infobip',
      providerMessageId: 'its id',
      attemptCount: 2,
      attempts: [
        { provider: 'twilio', result: 'unknown', code: 'process_lost' },
        { provider: 'infobip', result: 'accepted', provider_message_id: 'its id' },
      ],
    });
    expect(asked).toEqual(['ref of 1']);
    expect(sent).toEqual([]);
  },
);

it('one that the upstream says it turned down goes on to the next provider, whatever the policy', async () => {
  const refused: LookUpResult = {
    outcome: 'found',
    receipt: { providerMessageId: 'its id', state: 'failed', code: 'REJECTED_NETWORK' },
  };
  const { outcome, sent } = await walkOn(['infobip'], refused, { onTimeout: 'stop' });
  expect(outcome).toMatchObject({
    kind: 'sent',
    provider: 'twilio',
    attempts: [
      { provider: 'infobip', result: 'retryable', code: 'REJECTED_NETWORK' },
      { provider: 'twilio', result: 'accepted' },
    ],
  });
  expect(sent).toEqual(['twilio']);
});

it.each<[string, LookUpResult]>([
  ['of which the upstream knows nothing', { outcome: 'not_found' }],
  ['about which it cannot be asked', { outcome: 'unavailable', code: 'http_503', message: 'out' }],
])('one %s stays unknown, and the policy decides', async (_what, answer) => {
  const on = await walkOn(['infobip'], answer);
  expect(on.outcome).toMatchObject({ kind: 'sent', provider: 'twilio', attempts: [{ result: 'unknown' }, {}] });
  const stopped = await walkOn(['infobip'], answer, { onTimeout: 'stop' });
  expect(stopped.outcome).toMatchObject({ kind: 'failed', errorCode: 'provider_unavailable' });
  expect(stopped.sent).toEqual([]);
});
