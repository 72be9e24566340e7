import type { Receipt } from '../../src/providers/provider.ts';
import type { AdapterCases } from './cases.ts';

const messageUuid = 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab';

/** A record of the Reports API, as far as it matters: it holds prices, networks and dates besides. */
function record(status: string, extras: object = {}): Record<string, unknown> {
  return {
    account_id: 'a1b2c3d',
    message_id: messageUuid,
    direction: 'outbound',
    to: '447700900123',
    provider: 'sms',
    date_received: '2026-11-20T08:00:00+00:00',
    date_finalized: '2026-11-20T08:00:01+00:00',
    status,
    error_code: '0',
    ...extras,
  };
}

function recorded(records: object[], receipt: Partial<Receipt> = {}) {
  const content = { request_status: 'SUCCESS', product: 'MESSAGES', items_count: records.length, records };
  return {
    answer: { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(content) },
    expected: { providerMessageId: messageUuid, state: 'sent' as const, ...receipt },
  };
}

function notFound(content: object) {
  return { status: 200, body: JSON.stringify({ request_status: 'SUCCESS', items_count: 0, ...content }) };
}

/** How the Reports API is asked about a message, and what is made of its records. */
export const vonageLookUps: NonNullable<AdapterCases['lookUps']> = {
  providerMessageId: messageUuid,
  wire: {
    method: 'GET',
    path: `/v2/reports/records?account_id=a1b2c3d&product=MESSAGES&direction=outbound&id=${messageUuid}`,
    headers: { accept: 'application/json', authorization: 'Basic YTFiMmMzZDphLXNlY3JldC1vZi10aGUtYXBp' },
    body: '',
  },
  found: [
    { title: 'a message on its way', ...recorded([record('submitted')]) },
    { title: 'a delivered message', ...recorded([record('delivered')], { state: 'delivered' }) },
    { title: 'a message that was read', ...recorded([record('read')], { state: 'delivered' }) },
    {
      title: 'a rejected message with its code',
      ...recorded([record('rejected', { error_code: '1190' })], {
        state: 'failed',
        code: '1190',
        message: 'the recipient no longer exists',
      }),
    },
    {
      title: 'a rejected message with a code that is a number and not in the table',
      ...recorded([record('rejected', { error_code: 1474 })], {
        state: 'failed',
        code: '1474',
        message: 'Vonage reports the message as rejected',
      }),
    },
    {
      title: 'a rejected message with a code that proves no refusal',
      ...recorded([record('rejected', { error_code: '1360' })], {
        state: 'undelivered',
        code: '1360',
        message: 'the time to live ran out',
      }),
    },
    {
      title: 'a message to someone who opted out',
      ...recorded([record('rejected', { error_code: '1240' })], {
        state: 'failed',
        code: '1240',
        message: 'the recipient opted out',
        optOut: true,
      }),
    },
    {
      title: 'an undeliverable message without a code',
      ...recorded([record('undeliverable', { error_code: null })], {
        state: 'undelivered',
        code: 'undeliverable',
        message: 'Vonage reports the message as undeliverable',
      }),
    },
    {
      title: 'the final one of several records, even where it is older',
      ...recorded(
        [
          record('delivered'),
          record('submitted', { date_finalized: '2026-11-20T08:00:02+00:00' }),
          record('submitted', { date_finalized: null }),
        ],
        { state: 'delivered' },
      ),
    },
    {
      title: 'the latest of several final records, in whichever order and time zone they come',
      ...recorded(
        [
          record('rejected', { error_code: '1180' }),
          record('delivered', { date_finalized: '2026-11-20T10:00:02+0200' }),
          record('undeliverable', { date_finalized: 'yesterday' }),
        ],
        { state: 'delivered' },
      ),
    },
    {
      title: 'its own record among others',
      ...recorded([record('rejected', { message_id: 'another' }), record('delivered')], { state: 'delivered' }),
    },
  ],
  notFound: [
    { title: 'a list of ids without a record', answer: notFound({ ids_not_found: messageUuid, records: [] }) },
    { title: 'a list of ids alone', answer: notFound({ ids_not_found: `another,${messageUuid}` }) },
    { title: 'a report without records', answer: notFound({ records: [] }) },
  ],
  unclear: [
    { title: "another message's record", answer: recorded([record('delivered', { message_id: 'another' })]).answer },
    { title: 'a record whose status is not known', answer: recorded([record('pondering')]).answer },
    { title: 'a list of other ids', answer: notFound({ ids_not_found: 'another' }) },
  ],
};
