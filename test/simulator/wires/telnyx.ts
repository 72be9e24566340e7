import { simulatorCredentials } from '../../../src/simulator/simulator.ts';
import { at, httpWire, textAt } from './wire.ts';

const { apiKey, messagingProfileId } = simulatorCredentials.telnyx;

export const telnyx = httpWire({
  provider: 'telnyx',
  request: ({ to, from, text, callbackUrl }) => ({
    path: '/v2/messages',
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ to, from, text, messaging_profile_id: messagingProfileId, webhook_url: callbackUrl }),
  }),
  read: (body) => ({ code: at(body, 'errors', 0, 'code'), messageId: textAt(body, 'data', 'id') }),
  report({ body }) {
    const { id, to, errors } = JSON.parse(body).data.payload;
    return { messageId: id, status: to[0].status, code: errors[0]?.code };
  },
  expected: {
    accepted: 200,
    invalidRecipient: { answered: [400, '40310'] },
    optedOut: { answered: [403, '40300'] },
    noFunds: { answered: [403, '20100'] },
    sent: 'sent',
    delivered: 'delivered',
    failed: ['delivery_failed', '40008'],
    expired: ['delivery_failed', '40005'],
  },
});
