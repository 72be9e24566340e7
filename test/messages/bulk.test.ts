import { afterAll, describe, expect, it } from 'vitest';
import { TestService } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';

const service = await TestService.start();
afterAll(() => service.stop());

describe('a bulk', () => {
  it('answers 201 with one whole message per recipient, in the order of the request, duplicates included', async () => {
    const { api } = await service.account();
    // Of these nothing is reported: they stay sent.
    const recipients = ['+9990101003', '+9990101001', '+9990101002', '+9990101001', '+9990101003'];
    const { status, data } = await api.bulk({ recipients, body: 'Hello all' });
    expect(status).toBe(201);
    expect(data).toMatchObject({ object: 'bulk_result', total: 5, sent: 5, failed: 0 });
    expect(data.messages.map(({ to }) => to)).toEqual(recipients);
    expect(new Set(data.messages.map(({ id }) => id)).size).toBe(5);
    for (const message of data.messages) {
      expect(message).toMatchObject({
        object: 'message',
        from: 'HELIO',
        body: 'Hello all',
        status: 'sent',
        provider: 'twilio',
        error: null,
        reference: null,
      });
    }
    const listed = await api.list();
    expect(listed.data.map(({ id }) => id)).toEqual(data.messages.map(({ id }) => id).toReversed());
  });

  it('tells each recipient’s own outcome, and counts them', async () => {
    const { api } = await service.account();
    await api.send({ to: '+999010038' });
    const recipients = [
      '+999010011',
      '0044 20 7946 0000',
      '+999010021',
      '+999010038',
      '+999010041',
      '+999010051',
      '+999010061',
      '',
      '+999010131',
    ];
    const { status, data } = await api.bulk({ recipients });
    expect(status).toBe(201);
    expect(data).toMatchObject({ total: 9, sent: 3, failed: 6 });
    expect(data.messages.map((message) => message.error?.code ?? 'accepted')).toEqual([
      'accepted',
      'invalid_recipient',
      'invalid_recipient',
      'recipient_blocked',
      'provider_billing',
      'accepted',
      'provider_unavailable',
      'invalid_recipient',
      'accepted',
    ]);
    expect(data.messages.map(({ attempts }) => attempts)).toEqual([1, 0, 1, 0, 1, 2, 2, 0, 2]);
    for (const item of data.messages) {
      const { status: now, ...message } = await api.get(item.id);
      expect({ to: message.to, cost: message.cost, error: message.error }).toEqual({
        to: item.to,
        cost: item.cost,
        error: item.error,
      });
      expect([item.status, 'delivered']).toContain(now);
    }
  });

  it('emits the events of every message: sent or failed, and then delivered', async () => {
    const { api } = await service.account();
    const { data } = await api.bulk({ recipients: ['+999010011', 'malformed', '+999010021'] });
    const [delivered, malformed, refused] = data.messages.map(({ id }) => id) as [string, string, string];
    await until('delivered', async () => (await api.get(delivered)).status === 'delivered');
    const typesOf = async (id: string): Promise<string[]> => (await api.eventsOf(id)).map(({ type }) => type);
    expect(await typesOf(delivered)).toEqual(['message.sent', 'message.delivered']);
    expect(await typesOf(malformed)).toEqual(['message.failed']);
    expect(await typesOf(refused)).toEqual(['message.failed']);
  });

  it('takes 1,000 recipients', async () => {
    const { api } = await service.account({ balance: 10 });
    const recipients = Array.from({ length: 1_000 }, (_, index) => `+33612${String(index).padStart(6, '0')}`);
    const { data } = await api.bulk({ recipients });
    expect(data).toMatchObject({ total: 1_000, sent: 1_000, failed: 0 });
    expect(data.messages.map(({ to }) => to)).toEqual(recipients);
    expect(await api.balance()).toBe(0);
    await until('all are delivered', async () => (await api.list({ status: 'delivered' })).pagination.total === 1_000);
  });

  it('keeps a recipient that is no number as it was written, shortened to 64 characters', async () => {
    const { api } = await service.account();
    const { data } = await api.bulk({ recipients: ['Ann\0a', `${'x'.repeat(63)}😀`, '\ud83d', '😀'] });
    expect(data.messages.map(({ to }) => to)).toEqual(['Anna', `${'x'.repeat(63)}\ufffd`, '\ufffd', '😀']);
    for (const { id, to } of data.messages) expect((await api.get(id)).to).toBe(to);
  });

  it('follows the preferred provider and the forced route', async () => {
    const { api } = await service.account();
    const preferred = await api.bulk({ recipients: ['+999010011'], provider: 'vonage' });
    const forced = await api.bulk({ recipients: ['+999010012'], route_id: 2 });
    expect([preferred, forced].map(({ data }) => data.messages[0]?.provider)).toEqual(['vonage', 'vonage']);
  });
});

it('a bulk does not hold up single sends', async () => {
  const { api } = await service.account();
  await service.disturb('twilio', { latencyMs: 250 });
  let bulkIsRunning = true;
  const recipients = Array.from({ length: 1_000 }, (_, index) => `+33613${String(index).padStart(6, '0')}`);
  const bulk = api.bulk({ recipients }).finally(() => {
    bulkIsRunning = false;
  });
  await until('the bulk is being dispatched', async () => (await service.asked('+33613000200')).length === 1);
  await api.sent({ to: '+14155550177' });
  expect(bulkIsRunning).toBe(true);
  expect((await bulk).data.sent).toBe(1_000);
  await service.disturb('twilio', { latencyMs: 0 });
});
