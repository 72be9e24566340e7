import { describe, expect, it } from 'vitest';
import type { Config } from '../../src/config.ts';
import { createTestClock } from '../helpers/clock.ts';
import type { ServiceOptions } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';
import { withService } from '../helpers/with-service.ts';

/** Long enough that what is silent stays so while others are sent. */
const providerTimeoutMs = 4_000;
const onlyTwilio: Config['routes'] = [
  {
    id: 1,
    name: 'one provider',
    match: { prefixes: [], senderTypes: [] },
    providers: ['twilio'],
    rates: new Map(),
  },
];

/** Twilio with limits of its own. */
function twilioAt(pace: { ratePerSecond?: number; concurrency?: number }): ServiceOptions['providers'] {
  return ({ twilio, ...others }) => ({ ...others, ...(twilio && { twilio: { ...twilio, ...pace } }) });
}

describe('a provider that takes requests and never answers', () => {
  it('holds up as many messages as it has places for, and no others: they go to the next one', async () => {
    const clock = createTestClock();
    await withService({ clock, providerTimeoutMs, providers: twilioAt({ concurrency: 3 }) }, async (service) => {
      const { api } = await service.account();
      await service.disturb('twilio', { latencyMs: 60_000 });
      const recipients = ['+9990100171', '+9990100172', '+9990100173'];
      const held = recipients.map((to) => api.sent({ to }));
      for (const to of recipients) await until('it is asked', async () => (await service.asked(to)).length === 1);
      clock.advance(1_001);
      const passed = await api.sent({ to: '+9990100174' });
      expect(passed).toMatchObject({ status: 'sent', provider: 'vonage', attempts: 1 });
      expect(await service.story(passed.id)).toMatchObject([
        { provider: 'twilio', result: 'skipped', code: 'concurrency_reached' },
        { provider: 'vonage', result: 'accepted' },
      ]);
      for (const message of await Promise.all(held)) expect(message).toMatchObject({ provider: 'vonage', attempts: 2 });
      expect((await service.asked('+9990100174')).map(({ provider }) => provider)).toEqual(['vonage']);
    });
  });
});

describe('a message for whose turn its only provider has no room yet', () => {
  it.each(['next', 'stop'] as const)(
    'waits, and is sent by it later, once (policy after a request without an answer: %s)',
    async (onTimeout) => {
      const clock = createTestClock();
      const providers = twilioAt({ ratePerSecond: 2 });
      await withService({ clock, onTimeout, providers, routes: onlyTwilio, answerWithinMs: 100 }, async (service) => {
        const { api } = await service.account({ balance: 1 });
        const recipients = Array.from({ length: 6 }, (_, index) => `+999010018${index}`);
        const answers = await Promise.all(recipients.map((to) => api.sent({ to })));
        const waiting = answers.filter(({ status }) => status === 'pending');
        expect(waiting.length).toBeGreaterThan(0);
        clock.advance(6_000);
        for (const { id } of answers) {
          await until('delivered', async () => (await api.get(id)).status === 'delivered');
        }
        for (const { id } of waiting) expect(await api.get(id)).toMatchObject({ provider: 'twilio', attempts: 1 });
        for (const to of recipients) expect(await service.asked(to)).toHaveLength(1);
        expect(await api.balance()).toBe(0.94);
      });
    },
  );

  it.each(['next', 'stop'] as const)(
    'keeps the attempts that others refused in its story (policy after a request without an answer: %s)',
    async (onTimeout) => {
      const clock = createTestClock();
      const providers = twilioAt({ ratePerSecond: 2 });
      const routes = onlyTwilio.map((route) => ({ ...route, providers: ['vonage' as const, 'twilio' as const] }));
      await withService({ clock, onTimeout, providers, routes, answerWithinMs: 100 }, async (service) => {
        const { api } = await service.account();
        await service.disturb('vonage', { outage: true });
        const recipients = Array.from({ length: 6 }, (_, index) => `+999010018${index}`);
        const answers = await Promise.all(recipients.map((to) => api.sent({ to })));
        expect(answers.filter(({ status }) => status === 'pending').length).toBeGreaterThan(0);
        clock.advance(6_000);
        for (const { id } of answers) {
          await until('delivered', async () => (await api.get(id)).status === 'delivered');
          expect(await api.get(id)).toMatchObject({ provider: 'twilio', attempts: 2 });
          const made = (await service.story(id)).filter(({ result }) => result !== 'skipped');
          expect(made).toMatchObject([
            { provider: 'vonage', result: 'retryable', code: '1030' },
            { provider: 'twilio', result: 'accepted' },
          ]);
        }
        for (const to of recipients) {
          expect((await service.asked(to)).map(({ provider }) => provider)).toEqual(['vonage', 'twilio']);
        }
      });
    },
  );

  it('is waited for by who sent it, alone or in a bulk', async () => {
    const clock = createTestClock();
    await withService({ clock, providers: twilioAt({ ratePerSecond: 2 }), routes: onlyTwilio }, async (service) => {
      const { api } = await service.account();
      const recipients = Array.from({ length: 6 }, (_, index) => `+999010018${index}`);
      const bulk = api.bulk({ recipients });
      const singles = Promise.all(recipients.map((to) => api.sent({ to })));
      const asked = async (): Promise<number> => {
        const all = await Promise.all(recipients.map((to) => service.asked(to)));
        return all.flat().length;
      };
      await until('every message was asked for', async () => {
        clock.advance(200);
        return (await asked()) === 12;
      });
      expect((await bulk).data).toMatchObject({ total: 6, sent: 6 });
      expect((await singles).filter(({ status }) => status === 'pending')).toEqual([]);
    });
  });

  it('when its process stops is sent by another one, which is asked for it once', async () => {
    const providers = twilioAt({ concurrency: 1 });
    await withService({ providerTimeoutMs, providers, routes: onlyTwilio, onTimeout: 'stop' }, async (service) => {
      const { api } = await service.account();
      const peer = await service.peer();
      const atPeer = api.at(`${peer.url}/api/v1`);
      await service.disturb('twilio', { latencyMs: 60_000 });
      const first = atPeer.send({ to: '+9990100191' });
      await until('the first is under way', async () => (await service.asked('+9990100191')).length === 1);
      const second = atPeer.send({ to: '+9990100192' });
      await until('the second waits', async () => (await api.list({ status: 'pending' })).data.length === 2);
      await service.disturb('twilio', { latencyMs: 0 });
      await Promise.all([peer.stop(), first, second]);
      const sent = await until('the second is delivered', async () => {
        const { data } = await api.list({ to: '+9990100192' });
        return data[0]?.status === 'delivered' && data[0];
      });
      expect(sent).toMatchObject({ provider: 'twilio', attempts: 1 });
      expect(await service.asked('+9990100192')).toHaveLength(1);
    });
  });
});
