import type { Socket } from 'node:net';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { reportAsTwilio } from '../helpers/receipts.ts';
import { TestService, type ServiceOptions } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';
import { answer, ScriptedServer, type WireRequest } from '../providers/scripted-server.ts';

/** A message that Twilio took and has not answered. */
type Held = { socket: Socket; request: WireRequest; callbackUrl: string };

const held: Held[] = [];
beforeEach(() => {
  held.length = 0;
});

const acceptance = { status: 201, body: JSON.stringify({ sid: 'SM1', status: 'queued' }) };
const refusal = { status: 400, body: JSON.stringify({ code: 21_211, message: 'Invalid To', status: 400 }) };

/** Twilio answers when a test says so; of these recipients at once. */
const atOnce = new Map([
  ['+9990100104', acceptance],
  ['+9990100205', refusal],
]);
const twilioServer = await ScriptedServer.start((socket, request) => {
  const form = new URLSearchParams(request.body);
  const given = atOnce.get(form.get('To') ?? '');
  if (given === undefined) held.push({ socket, request, callbackUrl: form.get('StatusCallback') ?? '' });
  else answer(given)(socket, request);
});

const providers: ServiceOptions['providers'] = ({ twilio, ...others }) => ({
  ...others,
  ...(twilio && { twilio: { ...twilio, baseUrl: twilioServer.baseUrl, timeoutMs: 60_000 } }),
});

/** In place of the 25 s that a caller waits at most: what is not answered by then is held by the test. */
const service = await TestService.start({ answerWithinMs: 300, providers });
/** Time enough on a busy machine for what is answered at once. */
const patient = await TestService.start({ answerWithinMs: 3_000, providers });
afterAll(async () => {
  await service.stop();
  await patient.stop();
  await twilioServer.close();
});

/** Answers what was held, once Twilio has as many. */
async function release(count: number, given: typeof acceptance): Promise<void> {
  await until('Twilio is asked', () => held.length === count);
  for (const { socket, request } of held) answer(given)(socket, request);
}

describe('a send that is not resolved in time', () => {
  it('is answered 201 and pending, and goes on', async () => {
    const { api } = await service.account({ balance: 1 });
    const message = await api.sent({ to: '+9990100101' });
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

    await release(1, acceptance);
    await until('sent', async () => (await api.get(message.id)).status === 'sent');
    await reportAsTwilio(held[0]?.callbackUrl ?? '', { MessageSid: 'SM1', MessageStatus: 'delivered' });
    expect((await api.get(message.id)).status).toBe('delivered');
    expect(held).toHaveLength(1);
    expect((await api.eventsOf(message.id)).map(({ type }) => type)).toEqual(['message.sent', 'message.delivered']);
    expect((await api.list({ status: 'pending' })).pagination.total).toBe(0);
  });

  it('and is refused afterwards, fails, is paid back and told by its event', async () => {
    const { api } = await service.account({ balance: 1 });
    const { id, status } = await api.sent({ to: '+9990100202' });
    expect(status).toBe('pending');
    await release(1, refusal);
    const failed = await until('failed', async () => {
      const message = await api.get(id);
      return message.status === 'failed' && message;
    });
    expect(failed).toMatchObject({ cost: 0, attempts: 1, error: { code: 'invalid_recipient' } });
    expect(await api.balance()).toBe(1);
    expect((await api.eventsOf(id)).map(({ type }) => type)).toEqual(['message.failed']);
  });

  it('and is repeated with its Idempotency-Key, is told as it was told', async () => {
    const { api } = await service.account();
    const headers = { 'idempotency-key': 'slow' };
    const first = await api.sent({ to: '+9990100103' }, headers);
    expect(first.status).toBe('pending');
    await release(1, acceptance);
    await until('sent', async () => (await api.get(first.id)).status === 'sent');
    expect(await api.sent({ to: '+9990100103' }, headers)).toEqual(first);
    expect(held).toHaveLength(1);
  });
});

describe('a provider that takes 5 s', () => {
  it('within its time-out has the message all the same', async () => {
    const { api } = await service.account();
    const { id, status } = await api.sent({ to: '+9990101401', provider: 'vonage' });
    expect(status).toBe('pending');
    await until('delivered', async () => (await api.get(id)).status === 'delivered', 15_000);
    expect(await api.get(id)).toMatchObject({ provider: 'vonage', attempts: 1 });
    expect(await service.asked('+9990101401')).toHaveLength(1);
  });
});

describe('a bulk of which not all is resolved in time', () => {
  it('is answered with what is resolved, and the rest pending; the rest goes on', async () => {
    const { api } = await patient.account({ balance: 1 });
    const recipients = ['+9990100104', '+9990100106', '+9990100205', '+9990100107', 'malformed'];
    const { status, data } = await api.bulk({ recipients });
    expect(status).toBe(201);
    expect(data).toMatchObject({ total: 5, sent: 1, failed: 2 });
    expect(data.messages.map((message) => message.status)).toEqual(['sent', 'pending', 'failed', 'pending', 'failed']);
    await release(2, acceptance);
    for (const { id } of data.messages.filter((message) => message.status === 'pending')) {
      await until('sent', async () => (await api.get(id)).status === 'sent');
    }
    expect(await api.balance()).toBe(1 - 0.03);
  });
});
