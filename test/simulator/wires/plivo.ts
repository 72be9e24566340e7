import { simulatorCredentials } from '../../../src/simulator/simulator.ts';
import { at, basic, httpWire, textAt } from './wire.ts';

const { authId, authToken } = simulatorCredentials.plivo;

export const plivo = httpWire({
  provider: 'plivo',
  request: ({ to, from, text, callbackUrl }) => ({
    path: `/v1/Account/${authId}/Message/`,
    headers: { ...basic(authId, authToken), 'Content-Type': 'application/json' },
    body: JSON.stringify({ src: from, dst: to.slice(1), text, url: callbackUrl }),
  }),
  read: (body) => ({
    code: at(body, 'error') ?? at(body, 'invalid_number', 0),
    messageId: textAt(body, 'message_uuid', 0),
  }),
  report({ body }) {
    const form = new URLSearchParams(body);
    return { messageId: form.get('MessageUUID') ?? '', status: form.get('Status') ?? '', code: form.get('ErrorCode') };
  },
  expected: {
    accepted: 202,
    invalidRecipient: { answered: [202, '99901002001'] },
    optedOut: { reported: ['failed', '200'] },
    noFunds: { answered: [402, 'Insufficient Credit'] },
    sent: 'sent',
    delivered: 'delivered',
    failed: ['undelivered', '70'],
    expired: ['failed', '420'],
  },
});
