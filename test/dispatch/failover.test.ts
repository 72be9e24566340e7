import { afterAll, describe, expect, it } from 'vitest';
import { createStillClock } from '../helpers/clock.ts';
import { reportAsTwilio } from '../helpers/receipts.ts';
import { TestService } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';

/** Longer than the providers' time-out here: only +99901007 and imposed latency come near it. */
const providerTimeoutMs = 3_000;

const service = await TestService.start({ providerTimeoutMs });
afterAll(() => service.stop());

describe('the chain of providers', () => {
  it.each([
    ['that of the route', '+9990100611', {}, ['twilio', 'vonage']],
    [
      'the preferred provider, then the others of the route',
      '+9990100612',
      { provider: 'vonage' },
      ['vonage', 'twilio'],
    ],
    ['that of the forced route', '+9990100613', { route_id: 2 }, ['vonage', 'twilio']],
    [
      'the preferred provider before the forced route',
      '+9990100614',
      { route_id: 2, provider: 'twilio' },
      ['twilio', 'vonage'],
    ],
  ])('is %s', async (_rule, to, fields, chain) => {
    const { api } = await service.account();
    const { error } = await api.send({ to, ...fields });
    expect(error.code).toBe('provider_unavailable');
    expect((await service.asked(to)).map(({ provider }) => provider)).toEqual(chain);
  });

  it('is not followed after a hard refusal, which another provider might not share', async () => {
    const { api } = await service.account();
    await api.send({ to: '+999010027' });
    expect(await service.asked('+999010027')).toHaveLength(1);
  });

  it('is followed when a provider cannot carry a text that the next one can', async () => {
    const { api } = await service.account();
    const to = '+9990100188';
    const message = await api.sent({ to, provider: 'vonage', body: 'a'.repeat(1_200) });
    expect(message).toMatchObject({ provider: 'twilio', attempts: 2 });
    expect((await service.story(message.id)).map(({ provider, result }) => [provider, result])).toEqual([
      ['vonage', 'retryable'],
      ['twilio', 'accepted'],
    ]);
    expect(await service.asked(to)).toHaveLength(1);
  });

  it('and what each attempt came to is kept on the message', async () => {
    const { api } = await service.account();
    const message = await api.sent({ to: '+999010055' });
    expect(await service.story(message.id)).toEqual([
      {
        provider: 'twilio',
        result: 'retryable',
        at: expect.any(String),
        latency_ms: expect.any(Number),
        code: '20503',
        detail: expect.any(String),
      },
      {
        provider: 'vonage',
        result: 'accepted',
        at: expect.any(String),
        latency_ms: expect.any(Number),
        provider_message_id: message.provider_message_id,
      },
    ]);
  });
});

describe('a request that was written and got no answer', () => {
  it('is unknown, and the next provider takes the message; a receipt for it later is a duplicate of the same message', async () => {
    const { api } = await service.account();
    const to = '+9990100771';
    const message = await api.sent({ to });
    expect(message).toMatchObject({ provider: 'vonage', attempts: 2 });
    const [lost] = await service.asked(to);
    await reportAsTwilio(lost?.callbackUrl ?? '', { MessageSid: 'SMlate', MessageStatus: 'delivered' });
    await until('delivered by the other too', async () => (await api.get(message.id)).status === 'delivered');
    const story = await service.story(message.id);
    expect(story.map(({ provider, result }) => [provider, result])).toEqual([
      ['twilio', 'unknown'],
      ['vonage', 'accepted'],
      ['twilio', 'accepted'],
    ]);
    expect(story[2]).toMatchObject({ duplicate: true, provider_message_id: 'SMlate' });
    expect(await api.get(message.id)).toMatchObject({ provider: 'vonage', attempts: 2, cost: 0.01 });
    expect((await api.eventsOf(message.id)).map(({ type }) => type)).toEqual(['message.sent', 'message.delivered']);
  });

  it('and whose receipt is the only one that says delivered, delivered the message', async () => {
    const { api } = await service.account();
    await service.disturb('twilio', { latencyMs: providerTimeoutMs * 20 });
    const to = '+9990101072';
    const message = await api.sent({ to });
    await service.disturb('twilio', { latencyMs: 0 });
    expect(message).toMatchObject({ provider: 'vonage', attempts: 2, status: 'sent' });
    const [lost] = await service.asked(to);
    await reportAsTwilio(lost?.callbackUrl ?? '', { MessageSid: 'SMlate', MessageStatus: 'delivered' });
    expect((await api.get(message.id)).status).toBe('delivered');
    expect((await service.story(message.id)).at(-1)).toMatchObject({ provider: 'twilio', duplicate: true });
  });

  it('and is reported failed does not fail the message that the next provider has', async () => {
    const { api } = await service.account();
    await service.disturb('twilio', { latencyMs: providerTimeoutMs * 20 });
    const to = '+9990101073';
    const message = await api.sent({ to });
    await service.disturb('twilio', { latencyMs: 0 });
    const [lost] = await service.asked(to);
    await reportAsTwilio(lost?.callbackUrl ?? '', {
      MessageSid: 'SMlate',
      MessageStatus: 'undelivered',
      ErrorCode: '30005',
    });
    expect(await api.get(message.id)).toEqual(message);
    expect((await service.story(message.id)).at(-1)).toMatchObject({ provider: 'twilio', duplicate: true });
  });

  it('and is accepted late is a duplicate, whatever its receipts say, and is told once', async () => {
    const { api } = await service.account();
    await service.disturb('twilio', { latencyMs: providerTimeoutMs * 20 });
    const to = '+9990101075';
    const message = await api.sent({ to });
    await service.disturb('twilio', { latencyMs: 0 });
    const [lost] = await service.asked(to);
    for (const state of ['queued', 'sent', 'sent']) {
      await reportAsTwilio(lost?.callbackUrl ?? '', { MessageSid: 'SMlate', MessageStatus: state });
    }
    expect(await api.get(message.id)).toEqual(message);
    expect((await service.story(message.id)).slice(2)).toMatchObject([
      { provider: 'twilio', result: 'accepted', provider_message_id: 'SMlate', duplicate: true },
    ]);
  });

  it('but whose receipt comes before its time is up, has sent the message: nobody else is asked, and its sender is told', async () => {
    const { api } = await service.account();
    await service.disturb('twilio', { latencyMs: providerTimeoutMs * 20 });
    const to = '+9990101076';
    const sending = api.sent({ to });
    const [asked] = await until('it is asked', async () => {
      const all = await service.asked(to);
      return all.length === 1 && all;
    });
    await reportAsTwilio(asked?.callbackUrl ?? '', { MessageSid: 'SMearly', MessageStatus: 'sent' });
    const message = await sending;
    await service.disturb('twilio', { latencyMs: 0 });
    expect(message).toMatchObject({ status: 'sent', provider: 'twilio', provider_message_id: 'SMearly', attempts: 1 });
    expect(await service.asked(to)).toHaveLength(1);
  });

  it('but whose receipt comes while the next provider is being asked, has sent the message', async () => {
    const { api } = await service.account();
    await service.disturb('vonage', { latencyMs: providerTimeoutMs - 500 });
    const to = '+9990100774';
    const sending = api.sent({ to });
    await until('the next provider is asked', async () => (await service.asked(to)).length === 2);
    const [lost] = await service.asked(to);
    await reportAsTwilio(lost?.callbackUrl ?? '', { MessageSid: 'SMlate', MessageStatus: 'sent' });
    const message = await sending;
    await service.disturb('vonage', { latencyMs: 0 });
    expect(message).toMatchObject({ provider: 'twilio', provider_message_id: 'SMlate', attempts: 1 });
    expect((await api.eventsOf(message.id)).filter(({ type }) => type === 'message.sent')).toHaveLength(1);
    await until('the story has what the other attempt came to', async () => {
      const duplicate = (await service.story(message.id)).find(({ provider }) => provider === 'vonage');
      return duplicate?.duplicate;
    });
    expect(await api.balance()).toBe(100 - 0.01);
  });
});

describe('a provider that refuses our credentials', () => {
  it('is passed over at once, by the message that met it and by those after it', async () => {
    const astray = await TestService.start({
      providers: ({ twilio, ...others }) => ({
        ...others,
        ...(twilio && { twilio: { ...twilio, authToken: 'wrong' } }),
      }),
    });
    try {
      const { api } = await astray.account();
      const first = await api.sent({ to: '+9990101081' });
      const second = await api.sent({ to: '+9990101082' });
      expect([first, second].map(({ provider, attempts }) => [provider, attempts])).toEqual([
        ['vonage', 2],
        ['vonage', 1],
      ]);
      expect((await astray.story(second.id)).map(({ provider, result, code }) => [provider, result, code])).toEqual([
        ['twilio', 'skipped', 'breaker_open'],
        ['vonage', 'accepted', undefined],
      ]);
    } finally {
      await astray.stop();
    }
  });
});

describe('a provider that is out', () => {
  it('is soon passed over, and asked again when it is back; when all are out, all are asked', async () => {
    // Its breakers' pauses of 5 s end when the test says so, not because the bulks took so long.
    const clock = createStillClock();
    const troubled = await TestService.start({ clock });
    try {
      const { api } = await troubled.account({ balance: 100 });
      await troubled.disturb('twilio', { outage: true });
      const recipients = Array.from({ length: 100 }, (_, index) => `+9990101090${String(index).padStart(3, '0')}`);
      expect((await api.bulk({ recipients })).data.sent).toBe(100);
      const during = await api.sent({ to: '+9990101091' });
      expect(during).toMatchObject({ provider: 'vonage', attempts: 1 });

      await troubled.disturb('vonage', { outage: true });
      // Of 300 answers within the breaker's 10 s, two thirds are failures now.
      expect((await api.bulk({ recipients: [...recipients, ...recipients] })).data.failed).toBe(200);
      const { error } = await api.send({ to: '+9990101092' });
      expect(error.code).toBe('provider_unavailable');
      const story = await troubled.story(String(error.details?.['message_id']));
      expect(story.map(({ provider, result }) => [provider, result])).toEqual([
        ['twilio', 'skipped'],
        ['vonage', 'skipped'],
        ['twilio', 'retryable'],
        ['vonage', 'retryable'],
      ]);

      await troubled.disturb('twilio', { outage: false });
      await troubled.disturb('vonage', { outage: false });
      clock.advance(5_000);
      await until('twilio takes messages again', async () => {
        const { provider, attempts } = await api.sent({ to: '+9990101093' });
        return provider === 'twilio' && attempts === 1;
      });
    } finally {
      await troubled.stop();
    }
  });
});

describe('with the policy to stop after a request without an answer', () => {
  it('the message fails, is paid back, and no other provider is asked; a late receipt changes nothing', async () => {
    const careful = await TestService.start({ providerTimeoutMs, onTimeout: 'stop' });
    try {
      const { api } = await careful.account({ balance: 1 });
      const to = '+9990100785';
      const { status, error } = await api.send({ to });
      expect({ status, type: error.type, code: error.code }).toEqual({
        status: 500,
        type: 'provider_error',
        code: 'provider_unavailable',
      });
      const failed = await api.get(String(error.details?.['message_id']));
      expect(failed).toMatchObject({ status: 'failed', attempts: 1, provider: 'twilio', cost: 0 });
      expect(await api.balance()).toBe(1);
      const [lost] = await careful.asked(to);
      const answer = await reportAsTwilio(lost?.callbackUrl ?? '', { MessageSid: 'SM1', MessageStatus: 'delivered' });
      expect(answer).toEqual({ status: 200 });
      expect(await api.get(failed.id)).toEqual(failed);
      expect((await careful.asked(to)).map(({ provider }) => provider)).toEqual(['twilio']);

      const retried = await api.sent({ to: '+9990100586' });
      expect(retried).toMatchObject({ provider: 'vonage', attempts: 2 });
    } finally {
      await careful.stop();
    }
  });
});
