import { simulatorCredentials } from '../../../src/simulator/simulator.ts';
import { at, httpWire, textAt } from './wire.ts';

const { servicePlanId, apiToken } = simulatorCredentials.sinch;

export const sinch = httpWire({
  provider: 'sinch',
  request: ({ to, from, text, callbackUrl }) => ({
    path: `/xms/v1/${servicePlanId}/batches`,
    headers: { Authorization: `Bearer ${apiToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      to: [to.slice(1)],
      from,
      body: text,
      ...(callbackUrl && { delivery_report: 'per_recipient', callback_url: callbackUrl }),
    }),
  }),
  read: (body) => ({ code: at(body, 'code'), messageId: textAt(body, 'id') }),
  report({ body }) {
    const { batch_id: messageId, status, code } = JSON.parse(body);
    return { messageId, status, code };
  },
  expected: {
    accepted: 201,
    invalidRecipient: { answered: [400, 'syntax_invalid_parameter_format'] },
    optedOut: { reported: ['Deleted', 300] },
    noFunds: { reported: ['Aborted', 413] },
    sent: 'Dispatched',
    delivered: 'Delivered',
    failed: ['Failed', 1],
    expired: ['Expired', 406],
  },
});
