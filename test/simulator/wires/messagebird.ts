import { simulatorCredentials } from '../../../src/simulator/simulator.ts';
import { at, httpWire, textAt } from './wire.ts';

const { accessKey } = simulatorCredentials.messagebird;

export const messagebird = httpWire({
  provider: 'messagebird',
  request: ({ to, from, text, callbackUrl }) => ({
    path: '/messages',
    headers: { Authorization: `AccessKey ${accessKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      originator: from,
      recipients: [to.slice(1)],
      body: text,
      datacoding: 'auto',
      reference: 'reference-1',
      reportUrl: callbackUrl,
    }),
  }),
  read: (body) => ({ code: at(body, 'errors', 0, 'code'), messageId: textAt(body, 'id') }),
  report({ path }) {
    const query = new URLSearchParams(path.split('?')[1]);
    return {
      messageId: query.get('id') ?? '',
      status: query.get('status') ?? '',
      code: query.get('statusErrorCode'),
    };
  },
  expected: {
    accepted: 201,
    invalidRecipient: { answered: [422, 9] },
    optedOut: { reported: ['delivery_failed', '103'] },
    noFunds: { answered: [422, 25] },
    sent: 'sent',
    delivered: 'delivered',
    failed: ['delivery_failed', '1'],
    expired: ['expired', '27'],
  },
});
