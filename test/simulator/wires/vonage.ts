import { simulatorCredentials } from '../../../src/simulator/simulator.ts';
import { basic, httpWire, textAt } from './wire.ts';

const { apiKey, apiSecret } = simulatorCredentials.vonage;

export const vonage = httpWire({
  provider: 'vonage',
  request: ({ to, from, text, callbackUrl }) => ({
    path: '/v1/messages',
    headers: { ...basic(apiKey, apiSecret), 'Content-Type': 'application/json' },
    body: JSON.stringify({
      channel: 'sms',
      message_type: 'text',
      to: to.slice(1),
      from,
      text,
      webhook_url: callbackUrl,
      webhook_version: 'v1',
    }),
  }),
  read: (body) => ({ code: fragment(textAt(body, 'type')), messageId: textAt(body, 'message_uuid') }),
  report({ body }) {
    const { message_uuid: messageId, status, error } = JSON.parse(body);
    return { messageId, status, code: fragment(error?.type) };
  },
  expected: {
    accepted: 202,
    invalidRecipient: { answered: [422, '1170'] },
    optedOut: { answered: [422, '1240'] },
    noFunds: { answered: [402, 'low-balance'] },
    sent: 'submitted',
    delivered: 'delivered',
    failed: ['rejected', '1190'],
    expired: ['rejected', '1360'],
  },
});

function fragment(type: string | undefined): string | undefined {
  return type?.split('#')[1];
}
