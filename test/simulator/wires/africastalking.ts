import { simulatorCredentials } from '../../../src/simulator/simulator.ts';
import { at, httpWire, textAt } from './wire.ts';

const { username, apiKey } = simulatorCredentials.africastalking;

export const africastalking = httpWire({
  provider: 'africastalking',
  request: ({ to, from, text }) => ({
    path: '/version1/messaging',
    headers: { apiKey, Accept: 'application/json' },
    body: new URLSearchParams({ username, to, message: text, from, bulkSMSMode: '1', enqueue: '1' }),
  }),
  read: (body) => ({
    code: at(body, 'SMSMessageData', 'Recipients', 0, 'statusCode'),
    messageId: textAt(body, 'SMSMessageData', 'Recipients', 0, 'messageId'),
  }),
  report({ body }) {
    const form = new URLSearchParams(body);
    return { messageId: form.get('id') ?? '', status: form.get('status') ?? '', code: form.get('failureReason') };
  },
  hasAccountCallback: true,
  expected: {
    accepted: 201,
    invalidRecipient: { answered: [201, 403] },
    optedOut: { answered: [201, 406] },
    noFunds: { answered: [201, 405] },
    sent: 'Sent',
    delivered: 'Success',
    failed: ['Failed', 'UserIsInactive'],
    expired: ['Expired', null],
  },
});
