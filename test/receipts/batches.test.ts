import { afterAll, beforeAll, expect, it } from 'vitest';
import { readProvidersSettings } from '../../src/config.ts';
import { simulatorCredentials } from '../../src/simulator/simulator.ts';
import { TestService } from '../helpers/service.ts';
import { Operator } from '../operator/operator.ts';
import { reportOf, results, statusOf } from '../providers/infobip-wire.ts';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start({
    providers: (settings) =>
      readProvidersSettings({
        ...settings,
        infobip: {
          baseUrl: String(settings.twilio?.baseUrl).replace('twilio', 'infobip'),
          ...simulatorCredentials.infobip,
        },
      }),
  });
});
afterAll(() => service.stop());

it('receipts that come together each settle their own message, and none is kept with another one', async () => {
  const accounts = await Promise.all([service.account(), service.account()]);
  const numbers = ['+9990101050', '+9990101051'];
  const messages = await Promise.all(
    accounts.map(({ api }, index) => api.sent({ to: numbers[index], provider: 'infobip' })),
  );
  const urls = await Promise.all(numbers.map(async (to) => String((await service.asked(to))[0]?.callbackUrl)));
  const refs = urls.map((url) => String(url.split('/').at(-1)));
  const reports = refs.map((ref, index) =>
    reportOf(statusOf('DELIVERED', 5), undefined, {
      messageId: ref,
      callbackData: ref,
      to: numbers[index]?.slice(1),
    }),
  );
  const answer = await fetch(String(urls[0]), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: results(...reports),
  });
  expect(answer.status).toBe(200);
  for (const [index, { api }] of accounts.entries()) {
    const id = String(messages[index]?.id);
    expect((await api.get(id)).status).toBe('delivered');
    const { receipts } = await new Operator(service).story(id);
    expect(receipts).toHaveLength(1);
    expect(receipts[0]?.raw).toContain(refs[index]);
    for (const number of numbers) expect(receipts[0]?.raw).not.toContain(number.slice(1));
  }
});
