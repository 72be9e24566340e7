import { afterAll, describe, expect, it } from 'vitest';
import type { Message } from '../../src/events/message-view.ts';
import { TestService, type TestAccount } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';

// Long enough for an answer on a busy machine, short enough to wait for one that never comes.
const service = await TestService.start({ providerTimeoutMs: 4_000 });
afterAll(() => service.stop());

type Expectation = {
  digits: string;
  what: string;
  /** Of the send: the message, or the error it fails with. */
  answer: 'sent' | { status: number; type: string; code: string; param?: string };
  /** Which provider the message ends with: the preferred one or the one after it. */
  by: 'first' | 'second';
  attempts: number;
  final: Message['status'];
  error?: string;
  events: string[];
};

const sent = ['message.sent'];
const delivered = ['message.sent', 'message.delivered'];
const failed = ['message.failed'];
const sentThenFailed = ['message.sent', 'message.failed'];

const scenarios: Expectation[] = [
  {
    digits: '001',
    what: 'delivered',
    answer: 'sent',
    by: 'first',
    attempts: 1,
    final: 'delivered',
    events: delivered,
  },
  {
    digits: '002',
    what: 'refused: the recipient is not valid',
    answer: { status: 400, type: 'provider_error', code: 'invalid_recipient', param: 'to' },
    by: 'first',
    attempts: 1,
    final: 'failed',
    error: 'invalid_recipient',
    events: failed,
  },
  {
    digits: '003',
    what: 'refused: the recipient opted out',
    answer: { status: 400, type: 'provider_error', code: 'recipient_blocked', param: 'to' },
    by: 'first',
    attempts: 1,
    final: 'failed',
    error: 'recipient_blocked',
    events: failed,
  },
  {
    digits: '004',
    what: 'refused: the upstream account is out of funds',
    answer: { status: 500, type: 'provider_error', code: 'provider_billing' },
    by: 'first',
    attempts: 1,
    final: 'failed',
    error: 'provider_billing',
    events: failed,
  },
  {
    digits: '005',
    what: '503 from the first',
    answer: 'sent',
    by: 'second',
    attempts: 2,
    final: 'delivered',
    events: delivered,
  },
  {
    digits: '006',
    what: '503 from every one',
    answer: { status: 500, type: 'provider_error', code: 'provider_unavailable' },
    by: 'second',
    attempts: 2,
    final: 'failed',
    error: 'provider_unavailable',
    events: failed,
  },
  {
    digits: '007',
    what: 'no answer from the first',
    answer: 'sent',
    by: 'second',
    attempts: 2,
    final: 'delivered',
    events: delivered,
  },
  {
    digits: '008',
    what: 'accepted, then reported failed',
    answer: 'sent',
    by: 'first',
    attempts: 1,
    final: 'failed',
    error: 'delivery_failed',
    events: sentThenFailed,
  },
  {
    digits: '009',
    what: 'accepted, then reported expired',
    answer: 'sent',
    by: 'first',
    attempts: 1,
    final: 'undelivered',
    error: 'delivery_expired',
    events: sentThenFailed,
  },
  {
    digits: '010',
    what: 'accepted, then nothing ever',
    answer: 'sent',
    by: 'first',
    attempts: 1,
    final: 'sent',
    events: sent,
  },
  {
    digits: '011',
    what: 'reported before the send is answered',
    answer: 'sent',
    by: 'first',
    attempts: 1,
    final: 'delivered',
    events: delivered,
  },
  {
    digits: '012',
    what: 'reported three times and out of order',
    answer: 'sent',
    by: 'first',
    attempts: 1,
    final: 'delivered',
    events: delivered,
  },
  {
    digits: '013',
    what: 'throttled by the first',
    answer: 'sent',
    by: 'second',
    attempts: 2,
    final: 'delivered',
    events: delivered,
  },
];

/** Sends, and gives back the message as it is when every receipt has been posted. */
async function sendAndSettle(
  { api }: TestAccount,
  to: string,
  provider: string,
): Promise<{ status: number; error: unknown; message: Message }> {
  const { status, data, error } = await api.send({ to, provider, reference: 'order 7' });
  const id = status === 201 ? data.id : String(error.details?.['message_id']);
  const receipts: Record<string, number> = { '010': 0, '011': 1, '012': 3 };
  const wanted = status === 201 ? (receipts[to.slice(6, 9)] ?? 2) : 0;
  await until('every receipt is posted', async () => {
    const posted = (await service.asked(to)).flatMap((asked) => asked.receipts);
    return posted.length >= wanted && posted.every(({ result }) => result === 200);
  });
  return { status, error, message: await api.get(id) };
}

describe.each([
  ['twilio', 'vonage'],
  ['vonage', 'twilio'],
])('with %s first and %s after it, a message', (first, second) => {
  it.each(scenarios)(
    'to …$digits is $what: $final',
    async ({ digits, answer, by, attempts, final, error: code, events }) => {
      const account = await service.account({ balance: 1 });
      const to = `+99901${digits}${first === 'twilio' ? '11' : '22'}`;
      const told = await sendAndSettle(account, to, first);
      const { message } = told;

      if (answer === 'sent') expect(told).toMatchObject({ status: 201, error: undefined });
      else {
        const { status, ...error } = answer;
        expect(told.status).toBe(status);
        expect(told.error).toEqual({ ...error, message: expect.any(String), details: { message_id: message.id } });
      }
      expect(message).toMatchObject({
        to,
        status: final,
        attempts,
        provider: by === 'first' ? first : second,
        reference: 'order 7',
        cost: final === 'failed' && events === failed ? 0 : 0.01,
      });
      expect(message.error?.code).toBe(code);
      expect(message.sent_at === null).toBe(events === failed);
      expect(message.delivered_at === null).toBe(final !== 'delivered');
      expect(message.failed_at === null).toBe(code === undefined);
      expect(await account.api.balance()).toBe(1 - message.cost);

      const asked = await service.asked(to);
      expect(asked.map(({ provider }) => provider)).toEqual(attempts === 1 ? [first] : [first, second]);
      expect(message.provider_message_id).toBe(answer === 'sent' ? asked.at(-1)?.providerMessageId : null);
      expect((await account.api.eventsOf(message.id)).map(({ type }) => type)).toEqual(events);
    },
  );
});

it('the events of a message show it as it was when each happened', async () => {
  const account = await service.account();
  const { message } = await sendAndSettle(account, '+9990100977', 'twilio');
  const [first, second] = await account.api.eventsOf(message.id);
  expect(second?.data).toEqual(message);
  expect(first?.data).toEqual({ ...message, status: 'sent', error: null, failed_at: null });
  expect(Date.parse(first?.created_at ?? '')).toBeGreaterThanOrEqual(Date.parse(message.sent_at ?? ''));
});
