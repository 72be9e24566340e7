import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readProvidersSettings } from '../../src/config.ts';
import type { Message } from '../../src/events/message-view.ts';
import { simulatorCredentials } from '../../src/simulator/simulator.ts';
import { TestService, type TestAccount } from '../helpers/service.ts';
import { reportOf, results, statusOf } from '../providers/infobip-wire.ts';

// Upstreams that sign nothing, in their usual configuration: that nobody can guess the URL is what proves a receipt.

const names = ['infobip', 'sinch', 'africastalking'] as const;
type Name = (typeof names)[number];

let service: TestService;
beforeAll(async () => {
  service = await TestService.start({
    providers: (settings) => {
      const at = (name: Name) => ({
        baseUrl: String(settings.twilio?.baseUrl).replace('twilio', name),
        ratePerSecond: 100_000,
      });
      const { infobip, sinch, africastalking } = simulatorCredentials;
      const { webhookSecret: _unused, ...sinchUnsigned } = sinch;
      return readProvidersSettings({
        ...settings,
        infobip: { ...at('infobip'), ...infobip },
        sinch: { ...at('sinch'), ...sinchUnsigned },
        africastalking: { ...at('africastalking'), ...africastalking },
      });
    },
  });
});
afterAll(() => service.stop());

/** Says that the message was delivered; `ref` is what upstreams are given that echo a reference. */
const reports: Record<Name, (id: string, ref: string) => { type: string; body: string }> = {
  infobip: (id, ref) => ({
    type: 'application/json',
    body: results(reportOf(statusOf('DELIVERED', 5), undefined, { messageId: id, callbackData: ref })),
  }),
  sinch: (id, ref) => ({
    type: 'application/json',
    body: JSON.stringify({
      type: 'recipient_delivery_report_sms',
      batch_id: id,
      client_reference: ref,
      status: 'Delivered',
      code: 0,
    }),
  }),
  africastalking: (id) => ({
    type: 'application/x-www-form-urlencoded',
    body: new URLSearchParams({ id, status: 'Success' }).toString(),
  }),
};

let lastRecipient = 0;

/** A message that the upstream has and says nothing of, and where its receipts are awaited. */
async function accepted(provider: Name): Promise<{ account: TestAccount; message: Message; url: string; ref: string }> {
  const account = await service.account();
  lastRecipient += 1;
  const to = `+99901010${String(lastRecipient).padStart(4, '0')}`;
  const message = await account.api.sent({ to, provider });
  const [asked] = await service.asked(to);
  const url = asked?.callbackUrl ?? service.app.accountReceiptsUrlOf(provider);
  return { account, message, url, ref: url.split('/').at(-1) ?? '' };
}

async function report(url: string, { type, body }: { type: string; body: string }): Promise<number> {
  return (await fetch(url, { method: 'POST', headers: { 'content-type': type }, body })).status;
}

describe.each(names)('a receipt of %s', (provider) => {
  it('is believed at the URL that it was given, and at no other', async () => {
    const { account, message, url, ref } = await accepted(provider);
    const told = reports[provider](message.provider_message_id ?? '', ref);
    const guesses = [
      url.slice(0, -1),
      `${url.slice(0, -1)}${url.endsWith('A') ? 'B' : 'A'}`,
      url.replace(/[^/]+$/, message.id),
      url.replace(/[^/]+$/, message.provider_message_id ?? ''),
      url.replace(/[^/]+$/, 'A'.repeat(58)),
      url.replace(`/${provider}/`, '/twilio/'),
    ];
    for (const guess of guesses) expect([403, 404]).toContain(await report(guess, told));
    expect((await account.api.get(message.id)).status).toBe('sent');

    expect(await report(url, told)).toBe(200);
    expect((await account.api.get(message.id)).status).toBe('delivered');
  });

  it('at the URL of one message settles no other one', async () => {
    const { account, message } = await accepted(provider);
    const other = await accepted(provider);
    const stranger = 'not-an-id-that-was-given';
    expect(await report(other.url, reports[provider](stranger, `${other.ref.slice(0, -1)}_`))).toBe(200);
    expect((await account.api.get(message.id)).status).toBe('sent');
    expect((await other.account.api.get(other.message.id)).status).toBe('sent');
  });

  it('is not believed at the URL that another provider was given, which may sign its receipts', async () => {
    const account = await service.account();
    const to = `+9990101070${names.indexOf(provider)}`;
    const message = await account.api.sent({ to, provider: 'twilio' });
    const [asked] = await service.asked(to);
    const url = String(asked?.callbackUrl).replace('/twilio/', `/${provider}/`);
    const told = reports[provider](message.provider_message_id ?? '', url.split('/').at(-1) ?? '');
    expect(await report(url, told)).toBe(404);
    expect((await account.api.get(message.id)).status).toBe('sent');
  });
});
