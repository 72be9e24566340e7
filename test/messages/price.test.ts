import { afterAll, describe, expect, it } from 'vitest';
import { TestService } from '../helpers/service.ts';

const anyMessage = { prefixes: [], senderTypes: [] };
const service = await TestService.start({
  rateCard: {
    defaultMicros: 10_000,
    byPrefix: new Map([
      ['+1', 7_900],
      ['+44', 40_000],
      ['+447', 50_000],
      ['+447700', 60_000],
      ['+9990', 0],
    ]),
  },
  routes: [
    { id: 1, name: 'everywhere', match: anyMessage, providers: ['twilio', 'vonage'], rates: new Map() },
    {
      id: 2,
      name: 'at rates of its own',
      match: anyMessage,
      providers: ['vonage'],
      rates: new Map([
        ['+44', 30_000],
        ['+447', 35_000],
      ]),
    },
    {
      id: 3,
      name: 'Sweden',
      match: { prefixes: ['+46'], senderTypes: [] },
      providers: ['vonage'],
      rates: new Map([['+46', 21_000]]),
    },
  ],
});
afterAll(() => service.stop());

describe('the price of a segment is', () => {
  it.each([
    ['the default where no prefix matches', '+33612345678', undefined, 0.01],
    ['that of the prefix', '+14155550123', undefined, 0.0079],
    ['that of the longer of two prefixes', '+447912345678', undefined, 0.05],
    ['that of the longest prefix', '+447700900123', undefined, 0.06],
    ['that of the shorter prefix where the longer does not match', '+442079460000', undefined, 0.04],
    ['zero where the rate card says so', '+99901001', undefined, 0],
    ["that of the matching route's own rates", '+46701234567', undefined, 0.021],
    ["that of the forced route's own rates, by longest prefix", '+447700900123', 2, 0.035],
    ['that of the rate card where the route has no rate for the prefix', '+14155550123', 2, 0.0079],
    ['that of the forced route and not of the one that matches', '+46701234567', 1, 0.01],
  ])('%s', async (_rule, to, route_id, cost) => {
    const { api } = await service.account({ balance: 1 });
    const message = await api.sent({ to, route_id });
    expect(message).toMatchObject({ cost, currency: 'USD' });
    expect(await api.balance()).toBe(1 - cost);
    expect((await api.get(message.id)).cost).toBe(cost);
  });
});

describe('each segment is billed:', () => {
  it.each([
    ['160 GSM-7 characters as one', 'a'.repeat(160), 1],
    ['161 GSM-7 characters as two', 'a'.repeat(161), 2],
    ['459 GSM-7 characters as three', 'a'.repeat(459), 3],
    ['an extension character as two of them', `${'a'.repeat(159)}€`, 2],
    ['70 characters outside GSM-7 as one', 'ж'.repeat(70), 1],
    ['71 characters outside GSM-7 as two', 'ж'.repeat(71), 2],
    ['161 characters with one outside GSM-7 as three', `${'a'.repeat(160)}ж`, 3],
    ['a pair that would be split moves to the next', `${'ж'.repeat(66)}😀${'ж'.repeat(66)}`, 3],
  ])('%s', async (_rule, body, segments) => {
    const { api } = await service.account({ balance: 1 });
    const { cost } = await api.sent({ to: '+33612345678', body });
    expect(cost).toBe(segments / 100);
    expect(await api.balance()).toBe((100 - segments) / 100);
  });
});

it('a bulk costs what its messages cost, each by its own prefix', async () => {
  const { api } = await service.account({ balance: 1 });
  const recipients = ['+14155550123', '+447700900123', '+33612345678', '+14155550123'];
  const { data } = await api.bulk({ recipients, body: 'a'.repeat(161) });
  expect(data.messages.map(({ cost }) => cost)).toEqual([0.0158, 0.12, 0.02, 0.0158]);
  expect(await api.balance()).toBe(0.8284);
});
