import { simulatorCredentials } from '../../../src/simulator/simulator.ts';
import { at, basic, httpWire, textAt } from './wire.ts';

const { accountSid, authToken } = simulatorCredentials.twilio;

export const twilio = httpWire({
  provider: 'twilio',
  request: ({ to, from, text, callbackUrl }) => ({
    path: `/2010-04-01/Accounts/${accountSid}/Messages.json`,
    headers: basic(accountSid, authToken),
    body: new URLSearchParams({ To: to, From: from, Body: text, ...(callbackUrl && { StatusCallback: callbackUrl }) }),
  }),
  read: (body) => ({ code: at(body, 'code'), messageId: textAt(body, 'sid') }),
  report({ body }) {
    const form = new URLSearchParams(body);
    return {
      messageId: form.get('MessageSid') ?? '',
      status: form.get('MessageStatus') ?? '',
      code: form.get('ErrorCode'),
    };
  },
  expected: {
    accepted: 201,
    invalidRecipient: { answered: [400, 21211] },
    optedOut: { answered: [400, 21610] },
    noFunds: { answered: [403, 20005] },
    sent: 'sent',
    delivered: 'delivered',
    failed: ['undelivered', '30005'],
    expired: ['failed', '30036'],
  },
});
