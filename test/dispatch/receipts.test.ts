import { afterAll, describe, expect, it } from 'vitest';
import type { Message } from '../../src/events/message-view.ts';
import { fromPublicId } from '../../src/lib/ids.ts';
import { reportAsTwilio, reportAsVonage } from '../helpers/receipts.ts';
import { TestService, type TestAccount } from '../helpers/service.ts';

const service = await TestService.start();
afterAll(() => service.stop());

let lastRecipient = 0;

/** A message that a provider has, and nothing is reported of it unless the test does; and where to report. */
async function accepted(provider: 'twilio' | 'vonage', digits = '010') {
  const account = await service.account();
  lastRecipient += 1;
  const to = `+99901${digits}${lastRecipient}`;
  const message = await account.api.sent({ to, provider });
  const [asked] = await service.asked(to);
  const url = asked?.callbackUrl ?? '';
  const report = (status: string, extra: object = {}) =>
    provider === 'twilio'
      ? reportAsTwilio(url, { MessageSid: message.provider_message_id ?? '', MessageStatus: status, ...extra })
      : reportAsVonage(url, { message_uuid: message.provider_message_id ?? '', status, ...extra });
  return { account, message, url, report };
}

/** The message, and the types of its events. */
async function state({ api }: TestAccount, { id }: Message): Promise<[Message, string[]]> {
  return [await api.get(id), (await api.eventsOf(id)).map(({ type }) => type)];
}

function problem(code: string): object {
  return { error: { type: `https://developer.vonage.com/api-errors/messages#${code}`, title: code, detail: 'No' } };
}

describe('a receipt is refused, and changes nothing,', () => {
  it.each(['twilio', 'vonage'] as const)('with 404 when its reference was not made here: %s', async (provider) => {
    const { account, message, url } = await accepted(provider);
    const forgeries = [
      `${url.slice(0, -1)}${url.endsWith('A') ? 'B' : 'A'}`,
      url.slice(0, -4),
      `${url}AAAA`,
      url.replace(/[^/]+$/, 'x'),
      url.replace(/[^/]+$/, message.id),
      url.replace(/[^/]+$/, 'A'.repeat(58)),
      url.replace(/[^/]+$/, 'A'.repeat(5_000)),
    ];
    for (const forged of forgeries) {
      const answer =
        provider === 'twilio'
          ? await reportAsTwilio(forged, { MessageStatus: 'delivered' })
          : await reportAsVonage(forged, { status: 'delivered' });
      expect(answer).toMatchObject({ status: 404, error: { code: 'not_found' } });
    }
    expect(await state(account, message)).toMatchObject([{ status: 'sent' }, ['message.sent']]);
  });

  it.each(['twilio', 'vonage'] as const)('with 403 when its signature is wrong: %s', async (provider) => {
    const { account, message, url } = await accepted(provider);
    const answer =
      provider === 'twilio'
        ? await reportAsTwilio(url, { MessageStatus: 'delivered' }, 'another token')
        : await reportAsVonage(url, { status: 'delivered' }, 'another secret');
    expect(answer).toMatchObject({ status: 403, error: { code: 'forbidden' } });
    const unsigned = await fetch(url, { method: 'POST', body: 'MessageSid=SM1&MessageStatus=delivered' });
    expect(unsigned.status).toBe(403);
    expect(await state(account, message)).toMatchObject([{ status: 'sent' }, ['message.sent']]);
  });

  it('with 404 at a provider that there is not', async () => {
    const { url } = await accepted('twilio');
    for (const name of ['smpp', 'nobody', '__proto__', 'constructor']) {
      const answer = await reportAsTwilio(url.replace('/twilio/', `/${name}/`), { MessageStatus: 'delivered' });
      expect(answer).toMatchObject({ status: 404, error: { code: 'not_found' } });
    }
  });

  it('with 400 when it is signed and makes no sense', async () => {
    const { url } = await accepted('twilio');
    const answer = await reportAsTwilio(url, { MessageStatus: 'lost' });
    expect(answer).toMatchObject({ status: 400, error: { code: 'invalid_request' } });
  });

  it('with 400 when it is larger than any receipt', async () => {
    const { url } = await accepted('twilio');
    const answer = await reportAsTwilio(url, { MessageStatus: 'delivered', From: 'x'.repeat(300_000) });
    expect(answer).toMatchObject({ status: 400, error: { code: 'invalid_request' } });
  });
});

type Report = [status: string, extra: object];

const dialects: Array<['twilio' | 'vonage', string, Report, Report]> = [
  ['twilio', 'sent', ['undelivered', { ErrorCode: '30005' }], ['failed', { ErrorCode: '30036' }]],
  ['vonage', 'submitted', ['rejected', problem('1190')], ['rejected', problem('1360')]],
];

describe.each(dialects)('a receipt of %s', (provider, sentWord, failed, expired) => {
  it('has taken effect when it is answered', async () => {
    const { account, message, report } = await accepted(provider);
    expect(await report('delivered')).toEqual({ status: 200 });
    const [now, events] = await state(account, message);
    expect(now).toMatchObject({ status: 'delivered', error: null, failed_at: null });
    expect(Date.parse(now.delivered_at ?? '')).toBeGreaterThanOrEqual(Date.parse(now.sent_at ?? ''));
    expect(events).toEqual(['message.sent', 'message.delivered']);
  });

  it('of an intermediate state changes nothing', async () => {
    const { account, message, report } = await accepted(provider);
    expect(await report(sentWord)).toEqual({ status: 200 });
    expect(await state(account, message)).toEqual([message, ['message.sent']]);
  });

  it('that is repeated changes nothing the second time', async () => {
    const { account, message, report } = await accepted(provider);
    await report('delivered');
    const first = await state(account, message);
    expect(await Promise.all([report('delivered'), report(sentWord), report('delivered')])).toEqual([
      { status: 200 },
      { status: 200 },
      { status: 200 },
    ]);
    expect(await state(account, message)).toEqual(first);
  });

  it('of a delivery ends a message that was reported expired before', async () => {
    const { account, message, report } = await accepted(provider);
    await report(...expired);
    const [before] = await state(account, message);
    expect(before).toMatchObject({
      status: 'undelivered',
      delivered_at: null,
      error: { code: 'delivery_expired' },
      failed_at: expect.any(String),
    });
    await report('delivered');
    const [after, events] = await state(account, message);
    expect(after).toMatchObject({ status: 'delivered', error: null, failed_at: null, cost: message.cost });
    expect(events).toEqual(['message.sent', 'message.failed', 'message.delivered']);
    const shown = (await account.api.eventsOf(message.id)).map(({ data }) => data);
    expect(shown).toEqual([message, before, after]);
  });

  it('of a delivery does not bring back a message that failed', async () => {
    const { account, message, report } = await accepted(provider);
    await report(...failed);
    const before = await state(account, message);
    expect(before).toMatchObject([
      { status: 'failed', error: { code: 'delivery_failed' } },
      ['message.sent', 'message.failed'],
    ]);
    expect(await report('delivered')).toEqual({ status: 200 });
    expect(await state(account, message)).toEqual(before);
  });

  it('of a failure does not take back a delivery', async () => {
    const { account, message, report } = await accepted(provider);
    await report('delivered');
    const before = await state(account, message);
    await report(...failed);
    await report(...expired);
    expect(await state(account, message)).toEqual(before);
  });

  it('of a failure after an expiry changes nothing: the first bad news stands', async () => {
    const { account, message, report } = await accepted(provider);
    await report(...expired);
    const before = await state(account, message);
    await report(...failed);
    expect(await state(account, message)).toEqual(before);
  });

  it('is kept as it came', async () => {
    const { message, report } = await accepted(provider);
    await report('delivered');
    const { rows } = await service.pool.query<{ state: string; raw: string; provider_message_id: string }>(
      'SELECT state, raw, provider_message_id FROM receipts WHERE message_id = $1',
      [fromPublicId('msg', message.id)],
    );
    expect(rows).toEqual([
      {
        state: 'delivered',
        provider_message_id: message.provider_message_id,
        raw: expect.stringContaining('delivered'),
      },
    ]);
  });
});

it('a verified receipt of a message that is gone is put aside for the operator', async () => {
  const { report, message, account } = await accepted('twilio');
  for (const table of ['events', 'events_hourly', 'usage_hourly', 'messages', 'ledger_entries']) {
    await service.pool.query(`DELETE FROM ${table} WHERE account_id = $1`, [account.accountId]);
  }
  await service.pool.query('UPDATE accounts SET balance_micros = 0 WHERE account_id = $1', [account.accountId]);
  expect(await report('delivered')).toEqual({ status: 200 });
  const { rows } = await service.pool.query(
    'SELECT provider, reason FROM unmatched_receipts WHERE provider_message_id = $1',
    [message.provider_message_id],
  );
  expect(rows).toEqual([{ provider: 'twilio', reason: 'its message is not known' }]);
});

it('many receipts at once, in any order, leave each message with what was reported of it', async () => {
  const account = await service.account();
  const { data } = await account.api.bulk({
    recipients: Array.from({ length: 120 }, (_, index) => `+9990101077${index}`),
  });
  const reports = await Promise.all(
    data.messages.map(async ({ to, provider_message_id: sid }, index) => {
      const [asked] = await service.asked(to);
      const url = asked?.callbackUrl ?? '';
      const words = [['delivered'], ['undelivered'], ['sent', 'delivered', 'sent'], ['delivered', 'undelivered']][
        index % 4
      ];
      return Promise.all(
        (words ?? []).map((word) =>
          reportAsTwilio(url, { MessageSid: sid ?? '', MessageStatus: word, ErrorCode: '30005' }),
        ),
      );
    }),
  );
  expect(new Set(reports.flat().map(({ status }) => status))).toEqual(new Set([200]));
  const statuses = (await Promise.all(data.messages.map(({ id }) => account.api.get(id)))).map(({ status }) => status);
  for (const [index, status] of statuses.entries()) {
    // The last kind had both reported at once: whichever came first stands.
    const possible = [['delivered'], ['failed'], ['delivered'], ['delivered', 'failed']][index % 4];
    expect(possible).toContain(status);
  }
});

describe('an opt-out', () => {
  it('told by a refusal blocks the recipient from then on, without asking any provider', async () => {
    const account = await service.account({ balance: 1 });
    const to = '+9990100301';
    expect((await account.api.send({ to })).error).toMatchObject({ type: 'provider_error', code: 'recipient_blocked' });
    const { status, error } = await account.api.send({ to });
    expect({ status, type: error.type, code: error.code, param: error.param }).toEqual({
      status: 400,
      type: 'invalid_request_error',
      code: 'recipient_blocked',
      param: 'to',
    });
    const stored = await account.api.get(String(error.details?.['message_id']));
    expect(stored).toMatchObject({ status: 'failed', attempts: 0, provider: null, cost: 0 });
    expect((await account.api.eventsOf(stored.id)).map(({ type }) => type)).toEqual(['message.failed']);
    expect(await service.asked(to)).toHaveLength(1);
    expect(await account.api.balance()).toBe(1);
  });

  it('holds for every provider, for bulks, and only for this account', async () => {
    const account = await service.account();
    const other = await service.account();
    const to = '+9990100302';
    await account.api.send({ to, provider: 'vonage' });
    const { data } = await account.api.bulk({ recipients: [to, '+999010019'], provider: 'twilio' });
    expect(data.messages.map(({ error }) => error?.code)).toEqual(['recipient_blocked', undefined]);
    expect(await service.asked(to)).toHaveLength(1);
    await other.api.send({ to });
    expect(await service.asked(to)).toHaveLength(2);
  });

  it('told by a receipt blocks the recipient too', async () => {
    const { account, message, report } = await accepted('twilio');
    await report('undelivered', { ErrorCode: '21610' });
    expect((await account.api.get(message.id)).status).toBe('failed');
    const { error } = await account.api.send({ to: message.to });
    expect(error).toMatchObject({ type: 'invalid_request_error', code: 'recipient_blocked' });
  });
});

it('what signs for one provider does not sign for another', async () => {
  const { url, account, message } = await accepted('twilio');
  const answer = await reportAsVonage(url, { status: 'delivered' });
  expect(answer).toMatchObject({ status: 403 });
  expect((await account.api.get(message.id)).status).toBe('sent');
});
