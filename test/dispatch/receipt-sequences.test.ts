import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import type { MessageStatus } from '../../src/events/message-view.ts';
import { reportAsTwilio } from '../helpers/receipts.ts';
import { TestService } from '../helpers/service.ts';

const service = await TestService.start();
afterAll(() => service.stop());

const words = {
  sent: { MessageStatus: 'sent' },
  delivered: { MessageStatus: 'delivered' },
  failed: { MessageStatus: 'undelivered', ErrorCode: '30005' },
  undelivered: { MessageStatus: 'failed', ErrorCode: '30036' },
} as const;
type Word = keyof typeof words;

/** The states of a message that a provider has accepted, and the only ways between them. */
function follow(status: MessageStatus, word: Word): MessageStatus {
  if (status === 'sent' || (status === 'undelivered' && word === 'delivered')) return word;
  return status;
}

it('whatever is reported in whatever order, a message only moves forward, with one event for each move', async () => {
  const { api } = await service.account();
  let count = 0;
  const anyReports = fc.array(fc.constantFrom(...(Object.keys(words) as Word[])), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(anyReports, async (reports) => {
      const to = `+9990101066${(count += 1)}`;
      const { id, provider_message_id: sid } = await api.sent({ to, provider: 'twilio' });
      const [asked] = await service.asked(to);
      const states: MessageStatus[] = ['sent'];
      for (const word of reports) {
        const report = { MessageSid: sid ?? '', ...words[word] };
        expect(await reportAsTwilio(asked?.callbackUrl ?? '', report)).toEqual({ status: 200 });
        const now = follow(states.at(-1) ?? 'sent', word);
        if (now !== states.at(-1)) states.push(now);
      }
      const message = await api.get(id);
      expect(message.status).toBe(states.at(-1));
      const events = await api.eventsOf(id);
      expect(events.map(({ data }) => data.status)).toEqual(states);
      expect(events.at(-1)?.data).toEqual(message);
    }),
    { numRuns: 60 },
  );
});
