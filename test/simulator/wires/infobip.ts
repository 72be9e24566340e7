import { simulatorCredentials } from '../../../src/simulator/simulator.ts';
import { at, httpWire, textAt } from './wire.ts';

export const infobip = httpWire({
  provider: 'infobip',
  request: ({ to, from, text, callbackUrl }) => ({
    path: '/sms/3/messages',
    headers: { Authorization: `App ${simulatorCredentials.infobip.apiKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      messages: [
        {
          sender: from,
          destinations: [{ to: to.slice(1) }],
          content: { text },
          webhooks: {
            delivery: { url: callbackUrl, intermediateReport: true, notify: true },
            contentType: 'application/json',
          },
        },
      ],
    }),
  }),
  read: (body) => ({
    code: at(body, 'messages', 0, 'status', 'id'),
    messageId: textAt(body, 'messages', 0, 'messageId'),
  }),
  report({ body }) {
    const [{ messageId, status, error }] = JSON.parse(body).results;
    return { messageId, status: status.name, code: error.id };
  },
  expected: {
    accepted: 200,
    invalidRecipient: { answered: [200, 52] },
    optedOut: { answered: [200, 14] },
    noFunds: { answered: [200, 12] },
    sent: 'PENDING_ENROUTE',
    delivered: 'DELIVERED_TO_HANDSET',
    failed: ['UNDELIVERABLE_NOT_DELIVERED', 1],
    expired: ['EXPIRED_EXPIRED', 27],
  },
});
