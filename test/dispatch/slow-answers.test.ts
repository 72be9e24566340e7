import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { TestService } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';

/** In place of the 25 s that a caller waits at most. */
const answerWithinMs = 300;

const service = await TestService.start({ answerWithinMs });
afterAll(() => service.stop());
afterEach(async () => {
  await service.disturb('twilio', { latencyMs: 0 });
  await service.disturb('vonage', { latencyMs: 0 });
});

describe('a send that is not resolved in time', () => {
  it('is answered 201 and pending, and goes on', async () => {
    await service.disturb('twilio', { latencyMs: 3_000 });
    const { api } = await service.account({ balance: 1 });
    const startedAt = performance.now();
    const message = await api.sent({ to: '+9990100101' });
    const waitedMs = performance.now() - startedAt;
    expect(waitedMs).toBeGreaterThanOrEqual(answerWithinMs - 5);
    expect(waitedMs).toBeLessThan(3_000);
    expect(message).toMatchObject({
      status: 'pending',
      provider: null,
      provider_message_id: null,
      attempts: 0,
      cost: 0.01,
      sent_at: null,
    });
    expect(await api.get(message.id)).toEqual(message);
    expect((await api.list({ status: 'pending' })).data).toEqual([message]);
    expect(await api.eventsOf(message.id)).toEqual([]);
    expect(await api.balance()).toBe(0.99);

    await until('delivered', async () => (await api.get(message.id)).status === 'delivered');
    expect(await service.asked('+9990100101')).toHaveLength(1);
    expect((await api.eventsOf(message.id)).map(({ type }) => type)).toEqual(['message.sent', 'message.delivered']);
    expect((await api.list({ status: 'pending' })).pagination.total).toBe(0);
  });

  it('and is refused afterwards, fails, is paid back and told by its event', async () => {
    await service.disturb('twilio', { latencyMs: 800 });
    const { api } = await service.account({ balance: 1 });
    const { id, status } = await api.sent({ to: '+9990100202' });
    expect(status).toBe('pending');
    const failed = await until('failed', async () => {
      const message = await api.get(id);
      return message.status === 'failed' && message;
    });
    expect(failed).toMatchObject({ cost: 0, attempts: 1, error: { code: 'invalid_recipient' } });
    expect(await api.balance()).toBe(1);
    expect((await api.eventsOf(id)).map(({ type }) => type)).toEqual(['message.failed']);
  });

  it('and is repeated with its Idempotency-Key, is told as it was told', async () => {
    await service.disturb('twilio', { latencyMs: 800 });
    const { api } = await service.account();
    const headers = { 'idempotency-key': 'slow' };
    const first = await api.sent({ to: '+9990100103' }, headers);
    await until('delivered', async () => (await api.get(first.id)).status === 'delivered');
    expect(await api.sent({ to: '+9990100103' }, headers)).toEqual(first);
    expect(await service.asked('+9990100103')).toHaveLength(1);
  });
});

describe('a provider that takes 5 s', () => {
  it('within its time-out has the message all the same', async () => {
    const { api } = await service.account();
    const { id, status } = await api.sent({ to: '+9990101401' });
    expect(status).toBe('pending');
    await until('delivered', async () => (await api.get(id)).status === 'delivered');
    expect(await api.get(id)).toMatchObject({ provider: 'twilio', attempts: 1 });
    expect(await service.asked('+9990101401')).toHaveLength(1);
  });
});

describe('a bulk of which not all is resolved in time', () => {
  it('is answered with what is resolved, and the rest pending; the rest goes on', async () => {
    const { api } = await service.account({ balance: 1 });
    const recipients = ['+9990101004', '+9990101402', '+9990100205', '+9990101403', 'malformed'];
    const { status, data } = await api.bulk({ recipients });
    expect(status).toBe(201);
    expect(data).toMatchObject({ total: 5, sent: 1, failed: 2 });
    expect(data.messages.map((message) => message.status)).toEqual(['sent', 'pending', 'failed', 'pending', 'failed']);
    for (const { id } of data.messages.filter((message) => message.status === 'pending')) {
      await until('delivered', async () => (await api.get(id)).status === 'delivered');
    }
    expect(await api.balance()).toBe(1 - 0.03);
  });
});
