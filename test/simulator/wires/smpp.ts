import { connectSmpp, gsm } from '../smpp-client.ts';
import type { Report, Wire } from './wire.ts';

export const smpp: Wire = {
  provider: 'smpp',

  async connect(simulator, beforeAnswer) {
    const reports: Report[] = [];
    const client = await connectSmpp(simulator.smppPort, async ({ short_message: { message } }) => {
      const [, messageId = '', status = '', code = ''] = /id:(\S+) .*stat:(\S+) err:(\S+)/.exec(message) ?? [];
      reports.push({ messageId, status, code });
      await beforeAnswer?.();
    });
    await client.bind();
    return {
      reports,

      async send({ to, text }, signal) {
        const givenUp = new Promise<never>((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason as Error));
        });
        const submitted = client.submit({
          destination_addr: to.slice(1),
          // Final receipts, and intermediate ones.
          registered_delivery: 0x11,
          short_message: gsm(text),
        });
        const { command_status: status, message_id: messageId } = await Promise.race([submitted, givenUp]);
        return { status, code: status, messageId, retryAfter: null };
      },

      stop: () => Promise.resolve(client.stop()),
    };
  },

  expected: {
    accepted: 0,
    unavailable: 0x08,
    throttled: [0x58, null],
    invalidRecipient: { answered: [0x0b, 0x0b] },
    optedOut: { answered: [0x65, 0x65] },
    noFunds: { answered: [0x40b, 0x40b] },
    sent: 'ENROUTE',
    delivered: 'DELIVRD',
    failed: ['UNDELIV', '001'],
    expired: ['EXPIRED', '027'],
  },
};
