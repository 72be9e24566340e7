import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import type { Answer } from '../helpers/client.ts';
import { createTestClock } from '../helpers/clock.ts';
import { TestService } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';

const clock = createTestClock();
const service = await TestService.start({ clock });
afterAll(() => service.stop());

const to = '+14155550123';
const withKey = (key: string = randomUUID()): Record<string, string> => ({ 'idempotency-key': key });

function isReplay({ headers }: Answer<unknown>): boolean {
  return headers.get('idempotent-replayed') === 'true';
}

/** An answer without what each request gets anew. */
function told<Data>({ status, data, error }: Answer<Data>): object {
  return { status, data, error };
}

describe('a repeat of a send with the same Idempotency-Key', () => {
  it('gets the first answer again, says so, and sends nothing', async () => {
    const { api } = await service.account({ balance: 1 });
    const recipient = '+14155550001';
    const headers = withKey();
    const first = await api.send({ to: recipient, reference: 'order 7' }, headers);
    const second = await api.send({ to: recipient, reference: 'order 7' }, headers);
    expect(first.status).toBe(201);
    expect([isReplay(first), isReplay(second)]).toEqual([false, true]);
    expect(told(second)).toEqual(told(first));
    expect(second.meta.request_id).not.toBe(first.meta.request_id);
    expect((await api.list()).pagination.total).toBe(1);
    expect(await service.asked(recipient)).toHaveLength(1);
    expect(await api.balance()).toBe(1 - 0.0079);
  });

  it('waits for the first while it is still running', async () => {
    await service.disturb('twilio', { latencyMs: 400 });
    const { api } = await service.account();
    const recipient = '+9990101002';
    const headers = withKey();
    const answers = await Promise.all(Array.from({ length: 6 }, () => api.send({ to: recipient }, headers)));
    await service.disturb('twilio', { latencyMs: 0 });
    expect(answers.map(told)).toEqual(answers.map(() => told(answers[0] as (typeof answers)[0])));
    expect(answers[0]?.data.status).toBe('sent');
    expect(answers.filter(isReplay)).toHaveLength(5);
    expect(await service.asked(recipient)).toHaveLength(1);
  });

  it('waits for the first also where another process runs it', async () => {
    const peer = await service.peer();
    await service.disturb('twilio', { latencyMs: 400 });
    const { api } = await service.account();
    const elsewhere = api.at(`${peer.url}/api/v1`);
    const recipient = '+14155550003';
    const headers = withKey();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => (index % 2 === 0 ? api : elsewhere).send({ to: recipient }, headers)),
    );
    await service.disturb('twilio', { latencyMs: 0 });
    expect(new Set(answers.map(({ data }) => data.id)).size).toBe(1);
    expect(answers.filter(isReplay)).toHaveLength(5);
    expect(await service.asked(recipient)).toHaveLength(1);
  });

  it('is told the failure of the first as it was told then', async () => {
    const { api } = await service.account();
    const headers = withKey();
    const first = await api.send({ to: '+999010021' }, headers);
    const second = await api.send({ to: '+999010021' }, headers);
    expect(first).toMatchObject({ status: 400, error: { type: 'provider_error', code: 'invalid_recipient' } });
    expect(told(second)).toEqual(told(first));
    expect(isReplay(second)).toBe(true);
    expect(await service.asked('+999010021')).toHaveLength(1);
  });

  it('is told what became of the messages when the process of the first was lost before it answered', async () => {
    const { api, accountId } = await service.account();
    const key = randomUUID();
    const first = await api.send({ to }, withKey(key));
    await until('delivered', async () => (await api.get(first.data.id)).status === 'delivered');
    await service.pool.query('UPDATE idempotency_keys SET status = NULL, answer = NULL WHERE account_id = $1', [
      accountId,
    ]);
    const repeating = api.send({ to }, withKey(key));
    await until('the repeat is being answered', async () => {
      clock.advance(1_000);
      return Promise.race([repeating, Promise.resolve(undefined)]);
    });
    const repeat = await repeating;
    expect(repeat).toMatchObject({ status: 201, data: { id: first.data.id, status: 'delivered' } });
    expect(isReplay(repeat)).toBe(true);
  });

  it('is told so at once when the process of the first was lost long ago', async () => {
    const { api, accountId } = await service.account();
    const key = randomUUID();
    const first = await api.send({ to }, withKey(key));
    await service.pool.query('UPDATE idempotency_keys SET status = NULL, answer = NULL WHERE account_id = $1', [
      accountId,
    ]);
    clock.advance(30_000);
    const repeat = await api.send({ to }, withKey(key));
    expect(repeat).toMatchObject({ status: 201, data: { id: first.data.id } });
    expect(isReplay(repeat)).toBe(true);
  });

  it('is a request of its own for another account', async () => {
    const headers = withKey();
    const [one, two] = [await service.account(), await service.account()];
    const first = await one.api.send({ to }, headers);
    const second = await two.api.send({ to }, headers);
    expect(second.data.id).not.toBe(first.data.id);
    expect(isReplay(second)).toBe(false);
  });

  it('is a request of its own after 24 hours, and not before', async () => {
    const { api } = await service.account();
    const headers = withKey();
    const first = await api.send({ to }, headers);
    clock.advance(24 * 3_600_000 - 60_000);
    expect(isReplay(await api.send({ to }, headers))).toBe(true);
    clock.advance(120_000);
    const later = await api.send({ to }, headers);
    expect(isReplay(later)).toBe(false);
    expect(later.data.id).not.toBe(first.data.id);
  });
});

describe('an Idempotency-Key that was used with other content', () => {
  it.each([
    ['recipient', { to: '+14155550124' }],
    ['body', { body: 'Good-bye' }],
    ['sender', { from: '+15005550006' }],
    ['provider', { provider: 'vonage' }],
    ['route', { route_id: 2 }],
    ['reference', { reference: 'another' }],
  ])('is a conflict: another %s', async (_what, change) => {
    const { api } = await service.account({
      senders: [
        { sender_id: 'HELIO', status: 'approved' },
        { sender_id: '+15005550006', status: 'approved' },
      ],
    });
    const headers = withKey();
    await api.sent({ to }, headers);
    const { status, error } = await api.send({ to, ...change }, headers);
    expect({ status, code: error.code }).toEqual({ status: 400, code: 'idempotency_conflict' });
    expect((await api.list()).pagination.total).toBe(1);
  });

  it('is a conflict also while the first request is running', async () => {
    await service.disturb('twilio', { latencyMs: 400 });
    const { api } = await service.account();
    const headers = withKey();
    const first = api.send({ to }, headers);
    await until('the first is stored', async () => (await api.list()).pagination.total === 1);
    const { status, error } = await api.send({ to, body: 'Good-bye' }, headers);
    await service.disturb('twilio', { latencyMs: 0 });
    expect({ status, code: error.code }).toEqual({ status: 400, code: 'idempotency_conflict' });
    expect((await first).status).toBe(201);
  });

  it('is a conflict: a bulk to the same recipient', async () => {
    const { api } = await service.account();
    const headers = withKey();
    await api.sent({ to }, headers);
    const { status, error } = await api.bulk({ recipients: [to] }, headers);
    expect({ status, code: error.code }).toEqual({ status: 400, code: 'idempotency_conflict' });
  });
});

describe('a request that was refused as a whole', () => {
  it('for its content leaves its key free', async () => {
    const { api } = await service.account();
    const headers = withKey();
    expect((await api.send({ to: 'nobody' }, headers)).status).toBe(400);
    expect((await api.send({ to, from: 'Stranger' }, headers)).status).toBe(400);
    const answer = await api.send({ to }, headers);
    expect(answer.status).toBe(201);
    expect(isReplay(answer)).toBe(false);
  });

  it('for lack of balance leaves its key free', async () => {
    const { api, accountId } = await service.account({ balance: 0 });
    const headers = withKey();
    expect((await api.send({ to }, headers)).status).toBe(402);
    expect((await api.send({ to }, headers)).status).toBe(402);
    await service.topUp(accountId, 1);
    const answer = await api.send({ to }, headers);
    expect(answer.status).toBe(201);
    expect(isReplay(answer)).toBe(false);
  });
});

describe('a repeat of a bulk', () => {
  it('gets the first answer again, and sends nothing', async () => {
    const { api } = await service.account();
    const headers = withKey();
    const recipients = ['+14155550011', 'malformed', '+999010022', '+14155550011'];
    const first = await api.bulk({ recipients }, headers);
    const second = await api.bulk({ recipients }, headers);
    expect(first.data).toMatchObject({ total: 4, sent: 2, failed: 2 });
    expect(told(second)).toEqual(told(first));
    expect(isReplay(second)).toBe(true);
    expect((await api.list()).pagination.total).toBe(4);
    expect(await service.asked('+14155550011')).toHaveLength(2);
  });

  it('with the recipients in another order is a conflict', async () => {
    const { api } = await service.account();
    const headers = withKey();
    await api.bulk({ recipients: [to, '+14155550012'] }, headers);
    const { status, error } = await api.bulk({ recipients: ['+14155550012', to] }, headers);
    expect({ status, code: error.code }).toEqual({ status: 400, code: 'idempotency_conflict' });
  });
});

describe('an Idempotency-Key', () => {
  it('of 255 characters is taken, one of 256 is refused', async () => {
    const { api } = await service.account();
    await api.sent({ to }, withKey('k'.repeat(255)));
    const { status, error } = await api.send({ to }, withKey('k'.repeat(256)));
    expect({ status, code: error.code, param: error.param }).toEqual({
      status: 400,
      code: 'invalid_request',
      param: 'idempotency-key',
    });
  });
});
