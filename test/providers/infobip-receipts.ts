import type { Receipt } from '../../src/providers/provider.ts';
import type { AdapterCases } from './cases.ts';
import { errorOf, messageId, noError, ref, reportOf, results, statusOf, type Group } from './infobip-wire.ts';

function progress(groupName: Group, id: number, state: Receipt['state']): AdapterCases['receipts'][number] {
  return {
    title: `${groupName} ${id} as ${state}`,
    content: results(reportOf(statusOf(groupName, id))),
    expected: [{ providerMessageId: messageId, state, ref }],
  };
}

function failure(
  groupName: Group,
  id: number,
  state: Receipt['state'],
  { errorId = 0, optOut }: { errorId?: number; optOut?: true } = {},
): AdapterCases['receipts'][number] {
  const status = statusOf(groupName, id);
  const problemOf = errorId === 0 ? status : errorOf(errorId);
  return {
    title: `${groupName} ${id} with error ${errorId} as ${state}${optOut ? ' and opt-out' : ''}`,
    content: results(reportOf(status, errorId === 0 ? noError : errorOf(errorId))),
    expected: [
      {
        providerMessageId: messageId,
        state,
        code: problemOf.name,
        message: problemOf.description,
        ...(optOut ? { optOut } : {}),
        ref,
      },
    ],
  };
}

export const infobipLookUps: AdapterCases['lookUps'] = {
  providerMessageId: messageId,
  wire: {
    method: 'GET',
    path: '/sms/3/logs?messageId=fk4-yGe0DoY0ZR327QorEQ',
    headers: { accept: 'application/json', authorization: 'App a-key-of-the-api' },
    body: '',
  },
  found: [
    {
      title: 'a message on its way, among others',
      answer: {
        status: 200,
        body: results(
          reportOf(statusOf('DELIVERED', 5), noError, { messageId: 'another' }),
          reportOf(statusOf('PENDING', 7)),
        ),
      },
      expected: { providerMessageId: messageId, state: 'sent' },
    },
    {
      title: 'a delivered message',
      answer: { status: 200, body: results(reportOf(statusOf('DELIVERED', 5))) },
      expected: { providerMessageId: messageId, state: 'delivered' },
    },
    {
      title: 'a message to someone who opted out',
      answer: { status: 200, body: results(reportOf(statusOf('UNDELIVERABLE', 9), errorOf(603))) },
      expected: { providerMessageId: messageId, state: 'failed', code: 'EC_603', message: 'why EC_603', optOut: true },
    },
  ],
  notFound: [
    { title: 'an empty log', answer: { status: 200, body: results() } },
    {
      title: 'a log of other messages',
      answer: { status: 200, body: results({ ...reportOf(statusOf('DELIVERED', 5)), messageId: 'another' }) },
    },
  ],
  unclear: [{ title: 'a log without a status', answer: { status: 200, body: results({ messageId }) } }],
};

export const infobipReceipts: AdapterCases['receipts'] = [
  progress('ACCEPTED', 0, 'sent'),
  progress('PENDING', 3, 'sent'),
  progress('PENDING', 7, 'sent'),
  progress('PENDING', 26, 'sent'),
  progress('DELIVERED', 5, 'delivered'),
  progress('DELIVERED', 2, 'delivered'),
  failure('EXPIRED', 15, 'undelivered'),
  failure('EXPIRED', 29, 'undelivered', { errorId: 27 }),
  failure('EXPIRED', 87, 'failed'),
  failure('REJECTED', 87, 'failed'),
  failure('UNDELIVERABLE', 4, 'failed', { errorId: 1 }),
  failure('UNDELIVERABLE', 9, 'failed', { errorId: 5 }),
  failure('UNDELIVERABLE', 31, 'failed'),
  failure('REJECTED', 12, 'failed'),
  failure('REJECTED', 14, 'failed', { optOut: true }),
  failure('REJECTED', 10, 'failed', { optOut: true }),
  failure('UNDELIVERABLE', 9, 'failed', { errorId: 2050, optOut: true }),
  failure('UNDELIVERABLE', 9, 'failed', { errorId: 573, optOut: true }),
  failure('UNDELIVERABLE', 9, 'failed', { errorId: 603, optOut: true }),
  failure('UNDELIVERABLE', 9, 'failed', { errorId: 2052, optOut: true }),
  {
    title: 'reports of several messages, each by its own reference, in spite of one that cannot be read',
    content: results(
      reportOf(statusOf('DELIVERED', 5), noError, { messageId: 'one', callbackData: 'ref-of-one' }),
      null,
      { messageId: 'two' },
      reportOf(statusOf('REJECTED', 6), undefined, { messageId: 'three', callbackData: undefined }),
    ),
    expected: [
      { providerMessageId: 'one', state: 'delivered', ref: 'ref-of-one' },
      {
        providerMessageId: 'three',
        state: 'failed',
        code: 'REJECTED_6',
        message: 'what Infobip says about REJECTED_6',
        ref: 'three',
      },
    ],
  },
  {
    title: 'a failure without names or texts',
    content: results({ messageId, status: { groupName: 'REJECTED', id: 999 } }),
    expected: [
      { providerMessageId: messageId, state: 'failed', code: '999', message: 'Infobip reports the message as 999' },
    ],
  },
  { title: 'a call without reports', content: results(), expected: [] },
];

export const infobipMalformedReceipts: AdapterCases['malformedReceipts'] = [
  { title: 'an empty body', content: '' },
  { title: 'JSON cut short', content: results(reportOf(statusOf('DELIVERED', 5))).slice(0, -1) },
  { title: 'a list', content: '[]' },
  { title: 'results that are no list', content: '{"results":{}}' },
  { title: 'a report without messageId', content: results({ status: statusOf('DELIVERED', 5) }) },
  { title: 'a report without status', content: results({ messageId }) },
  { title: 'a group that is not known', content: results({ messageId, status: { groupName: 'PONDERING' } }) },
  { title: 'a group that every object has', content: results({ messageId, status: { groupName: '__proto__' } }) },
];
