import { afterAll, describe, expect, it } from 'vitest';
import { toPublicId } from '../../src/lib/ids.ts';
import { createAccept } from '../../src/messages/accept.ts';
import { createTestClock } from '../helpers/clock.ts';
import { TestService, type TestAccount } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';
import { withService } from '../helpers/with-service.ts';

// Messages whose process was lost: they are stored and leased, and nobody has them in memory.

const clock = createTestClock();
const service = await TestService.start({ clock });
afterAll(() => service.stop());

const leaseMs = 30_000;

/**
 * Accepts messages as a process does that is lost right afterwards: before it asked any provider (a bulk), or perhaps in the middle of its
 * first attempt (a single send, which is marked as started with the acceptance).
 */
async function acceptAndVanish(
  at: TestService,
  { accountId }: TestAccount,
  recipients: string[],
  kind: 'bulk' | 'single',
): Promise<string[]> {
  const { pool, app } = at;
  const accept = createAccept({ pool, clock, ids: app.ids, dispatchLeaseMs: leaseMs, onDeliveries: () => undefined });
  const drafts = recipients.map((recipient) => ({
    id: app.ids.next(),
    recipient,
    sender: 'HELIO',
    body: 'Hello',
    reference: null,
    segments: 1,
    costMicros: 10_000,
    routeId: 1,
    providers: ['twilio', 'vonage'] as const,
    fault: null,
  }));
  const { kind: verdict } = await accept.add({
    accountId,
    currency: 'USD',
    limits: null,
    idempotency: null,
    startsAtOnce: kind === 'single',
    drafts,
  });
  expect(verdict).toBe('accepted');
  return drafts.map(({ id }) => toPublicId('msg', id));
}

describe('a message whose process was lost', () => {
  it('is left alone as long as its lease runs, and then sent', async () => {
    const account = await service.account();
    const [early] = await acceptAndVanish(service, account, ['+9990100111'], 'bulk');
    clock.advance(leaseMs / 2);
    const [late] = await acceptAndVanish(service, account, ['+9990100112'], 'bulk');
    clock.advance(leaseMs / 2 + 1_000);
    await until('the first is delivered', async () => (await account.api.get(String(early))).status === 'delivered');
    expect((await account.api.get(String(late))).status).toBe('pending');
    expect(await service.asked('+9990100112')).toEqual([]);
    clock.advance(leaseMs / 2);
    await until('the second is delivered', async () => (await account.api.get(String(late))).status === 'delivered');
  });

  it('before any provider was asked is sent as if nothing had happened', async () => {
    const account = await service.account({ balance: 1 });
    const [id] = await acceptAndVanish(service, account, ['+9990100113'], 'bulk');
    clock.advance(leaseMs + 1_000);
    await until('delivered', async () => (await account.api.get(String(id))).status === 'delivered');
    expect(await account.api.get(String(id))).toMatchObject({ provider: 'twilio', attempts: 1, cost: 0.01 });
    expect(await service.asked('+9990100113')).toHaveLength(1);
    expect(await account.api.balance()).toBe(0.99);
  });

  it('in the middle of an attempt goes on to the next provider, and the lost attempt is counted', async () => {
    const account = await service.account();
    const [id] = await acceptAndVanish(service, account, ['+9990100114'], 'single');
    clock.advance(leaseMs + 1_000);
    await until('sent', async () => (await account.api.get(String(id))).status !== 'pending');
    expect(await account.api.get(String(id))).toMatchObject({ provider: 'vonage', attempts: 2 });
    expect(await service.story(String(id))).toMatchObject([
      { provider: 'twilio', result: 'unknown', code: 'process_lost' },
      { provider: 'vonage', result: 'accepted' },
    ]);
    expect((await service.asked('+9990100114')).map(({ provider }) => provider)).toEqual(['vonage']);
  });

  it('and that no provider takes then, fails and is paid back', async () => {
    const account = await service.account({ balance: 1 });
    const [id] = await acceptAndVanish(service, account, ['+9990100611'], 'bulk');
    clock.advance(leaseMs + 1_000);
    await until('failed', async () => (await account.api.get(String(id))).status === 'failed');
    expect(await account.api.get(String(id))).toMatchObject({ cost: 0, error: { code: 'provider_unavailable' } });
    expect((await account.api.eventsOf(String(id))).map(({ type }) => type)).toEqual(['message.failed']);
    expect(await account.api.balance()).toBe(1);
  });

  it('more than 10 minutes ago is not sent any more: it fails and is paid back', async () => {
    const account = await service.account({ balance: 1 });
    const ids = [
      ...(await acceptAndVanish(service, account, ['+9990100116'], 'bulk')),
      ...(await acceptAndVanish(service, account, ['+9990100117'], 'single')),
    ];
    clock.advance(10 * 60_000 + 1_000);
    for (const id of ids) {
      await until('failed', async () => (await account.api.get(id)).status === 'failed');
      expect(await account.api.get(id)).toMatchObject({ cost: 0, error: { code: 'dispatch_expired' } });
      expect((await account.api.eventsOf(id)).map(({ type }) => type)).toEqual(['message.failed']);
    }
    expect(await service.asked('+9990100116')).toEqual([]);
    expect(await service.asked('+9990100117')).toEqual([]);
    expect(await account.api.balance()).toBe(1);
  });

  it('in the middle of an attempt fails where the policy is to stop after a request without an answer', async () => {
    await withService({ clock, onTimeout: 'stop' }, async (at) => {
      const account = await at.account({ balance: 1 });
      const [unknown] = await acceptAndVanish(at, account, ['+9990100118'], 'single');
      const [untried] = await acceptAndVanish(at, account, ['+9990100119'], 'bulk');
      clock.advance(leaseMs + 1_000);
      await until('failed', async () => (await account.api.get(String(unknown))).status === 'failed');
      await until('delivered', async () => (await account.api.get(String(untried))).status === 'delivered');
      expect(await account.api.get(String(unknown))).toMatchObject({
        error: { code: 'provider_unavailable' },
        cost: 0,
      });
      expect(await at.asked('+9990100118')).toEqual([]);
      expect(await account.api.balance()).toBe(0.99);
    });
  });
});

it('many messages that were left behind are each sent once, however many processes look for them', async () => {
  const accounts = await Promise.all(Array.from({ length: 5 }, () => service.account({ balance: 10 })));
  await service.peer();
  await service.peer();
  const recipients = accounts.map((_account, which) =>
    Array.from({ length: 120 }, (_, index) => `+99901001${String(which * 1_000 + index).padStart(5, '0')}`),
  );
  await Promise.all(
    accounts.map((account, which) => acceptAndVanish(service, account, recipients[which] ?? [], 'bulk')),
  );
  clock.advance(leaseMs + 1_000);
  for (const { api } of accounts) {
    await until('all are delivered', async () => (await api.list({ status: 'delivered' })).pagination.total === 120);
  }
  const asked = await Promise.all(recipients.flat().map((to) => service.asked(to)));
  expect(new Set(asked.map(({ length }) => length))).toEqual(new Set([1]));
});
