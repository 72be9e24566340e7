import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';
import { listMessages, postControl } from './control-client.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { wires } from './wires/registry.ts';
import { twilio } from './wires/twilio.ts';
import { vonage } from './wires/vonage.ts';
import type { HttpWire } from './wires/wire.ts';

let simulator: Simulator;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  simulator = await startSimulator({ port: 0, deliveryDelayMs: 60 });
});

beforeEach(async () => {
  await postControl(simulator.url, '/reset');
});

afterAll(async () => {
  await simulator.stop();
  await receiver.stop();
});

const statusOf = async (text: string, wire: HttpWire = twilio) =>
  (await wire.send(simulator.url, { to: '+447700900123', text })).status;

it('lists what was asked for, in order, with the raw request, its outcome and the receipts sent', async () => {
  const to = '+99901005101';
  const callbackUrl = `${receiver.url}/listed`;
  const before = Date.now();
  await twilio.send(simulator.url, { to, text: 'Once & again', callbackUrl });
  const answer = await vonage.send(simulator.url, { to, text: 'Once & again', callbackUrl });
  await expect.poll(() => receiver.at('/listed')).toHaveLength(2);
  await expect.poll(async () => (await listMessages(simulator.url, { to })).messages[1]?.receipts).toHaveLength(2);

  const { messages, total } = await listMessages(simulator.url, { to });
  expect(total).toBe(2);
  expect(messages).toMatchObject([
    { sequence: 1, provider: 'twilio', to, from: 'HELIO', text: 'Once & again', outcome: 'unavailable' },
    { sequence: 2, provider: 'vonage', to, from: 'HELIO', text: 'Once & again', outcome: 'accepted' },
  ]);
  expect(messages[0]).toMatchObject({ providerMessageId: null, receipts: [] });
  expect(messages[0]?.request).toMatchObject({
    method: 'POST',
    path: expect.stringMatching(/^\/2010-04-01\/Accounts\//),
  });
  expect(new URLSearchParams(messages[0]?.request?.body).get('Body')).toBe('Once & again');
  expect(messages[1]).toMatchObject({
    callbackUrl,
    providerMessageId: answer.messageId,
    receipts: [
      { status: 'sent', attempt: 1, result: 204 },
      { status: 'delivered', attempt: 1, result: 204 },
    ],
  });
  expect(messages[1]?.request?.headers['authorization']).toMatch(/^Basic /);
  expect(Date.parse(String(messages[1]?.receivedAt))).toBeGreaterThanOrEqual(before);
  expect(Date.parse(String(messages[1]?.receivedAt))).toBeLessThanOrEqual(Date.now());
});

it('filters by recipient, also with a bare plus in the query, and returns the newest up to the limit', async () => {
  for (const to of ['+447700900001', '+447700900002', '+447700900001', '+447700900001']) {
    await twilio.send(simulator.url, { to, text: 'Hello' });
  }
  const { messages, total } = await listMessages(simulator.url, { to: '+447700900001', limit: 2 });
  expect([total, messages.map(({ sequence }) => sequence)]).toEqual([3, [3, 4]]);

  const bare = await fetch(`${simulator.url}/control/messages?to=+447700900002`);
  expect(await bare.json()).toMatchObject({ total: 1 });
});

it.each(['0', '-1', '1.5', 'many', '100001'])('refuses limit=%s', async (limit) => {
  expect((await fetch(`${simulator.url}/control/messages?limit=${limit}`)).status).toBe(400);
});

it('journals requests that the upstream finds invalid or unauthorised', async () => {
  await twilio.send(simulator.url, { to: '+447700900003', text: '' });
  await fetch(`${simulator.url}/vonage/v1/messages`, { method: 'POST', body: '{"to":"447700900004"}' });
  await fetch(`${simulator.url}/vonage/v1/messages`, { method: 'POST', body: 'nonsense' });
  const { messages } = await listMessages(simulator.url, {});
  expect(messages.map(({ provider, to, outcome }) => [provider, to, outcome])).toEqual([
    ['twilio', '+447700900003', 'invalid'],
    ['vonage', '+447700900004', 'invalid'],
    ['vonage', null, 'invalid'],
  ]);
});

it('an outage answers 503 to every request of that provider alone, until it ends', async () => {
  const on = await postControl(simulator.url, '/providers/twilio', { outage: true });
  expect(on).toEqual({ status: 200, body: { id: 'twilio', outage: true, latencyMs: 0, errorRate: 0 } });
  expect([await statusOf('During'), await statusOf('During'), await statusOf('During', vonage)]).toEqual([
    503, 503, 202,
  ]);

  await postControl(simulator.url, '/providers/twilio', { outage: false });
  expect(await statusOf('After')).toBe(201);
});

it('an outage is nobody’s first try of a message', async () => {
  const sms = { to: '+99901005102', text: 'Hello' };
  await postControl(simulator.url, '/providers/twilio', { outage: true });
  await twilio.send(simulator.url, sms);
  expect((await vonage.send(simulator.url, sms)).status).toBe(503);
});

it('latency is added before the answer', async () => {
  await postControl(simulator.url, '/providers/twilio', { latencyMs: 300 });
  const startedAt = performance.now();
  expect(await statusOf('Slow')).toBe(201);
  expect(performance.now() - startedAt).toBeGreaterThan(290);
});

it.each([
  [0.1, 10, 1],
  [0.25, 8, 2],
  [1, 3, 3],
])('an error rate of %d fails exactly its share', async (errorRate, requests, failures) => {
  await postControl(simulator.url, '/providers/vonage', { errorRate });
  const statuses: number[] = [];
  for (let index = 0; index < requests; index += 1) statuses.push(await statusOf(`Text ${index}`, vonage));
  expect(statuses.filter((status) => status === 503)).toHaveLength(failures);
  expect(statuses.filter((status) => status === 202)).toHaveLength(requests - failures);
});

it('a change leaves the other settings as they are, and the list shows them all', async () => {
  await postControl(simulator.url, '/providers/twilio', { latencyMs: 5 });
  await postControl(simulator.url, '/providers/twilio', { errorRate: 0.5 });
  const response = await fetch(`${simulator.url}/control/providers`);
  const { providers } = (await response.json()) as { providers: { id: string }[] };
  expect(providers.map(({ id }) => id)).toEqual(wires.map(({ provider }) => provider));
  expect(providers.slice(0, 2)).toEqual([
    { id: 'twilio', outage: false, latencyMs: 5, errorRate: 0.5 },
    { id: 'vonage', outage: false, latencyMs: 0, errorRate: 0 },
  ]);
});

it.each([
  ['/providers/twilio', { outage: 'yes' }, 400],
  ['/providers/twilio', { latencyMs: -1 }, 400],
  ['/providers/twilio', { latencyMs: 0.5 }, 400],
  ['/providers/twilio', { latencyMs: 60_001 }, 400],
  ['/providers/twilio', { errorRate: 1.1 }, 400],
  ['/providers/twilio', { errorRate: '0.5' }, 400],
  ['/providers/twilio', { speed: 1 }, 400],
  ['/providers/twilio', { outage: true, speed: 1 }, 400],
  ['/providers/twilio', [], 400],
  ['/providers/twilio', '{', 400],
  ['/providers/nobody', { outage: true }, 404],
  ['/nothing', {}, 404],
])('POST /control%s with %o is refused, says why, and changes nothing', async (path, body, status) => {
  const refused = await postControl(simulator.url, path, body);
  expect(refused).toEqual({ status, body: { error: expect.stringMatching(/\w+ .*\.$/) } });
  expect(await statusOf('Still fine')).toBe(201);
});

it('reset clears the journal, the faults, open threads and receipts to come', async () => {
  const unhurried = await startSimulator({ port: 0, deliveryDelayMs: 1_000 });
  try {
    const first = { to: '+99901005103', text: 'Hello' };
    await twilio.send(unhurried.url, first);
    await vonage.send(unhurried.url, { to: '+99901001101', text: 'Hello', callbackUrl: `${receiver.url}/reset` });
    await postControl(unhurried.url, '/providers/vonage', { outage: true });

    expect(await postControl(unhurried.url, '/reset')).toEqual({ status: 200, body: { reset: true } });

    expect(await listMessages(unhurried.url, {})).toEqual({ messages: [], total: 0 });
    // First again, for the thread that twilio had opened is gone; and no longer out, for an ordinary number.
    expect((await vonage.send(unhurried.url, first)).status).toBe(503);
    const later = { to: '+99901001102', text: 'Hello', callbackUrl: `${receiver.url}/after-reset` };
    expect((await vonage.send(unhurried.url, later)).status).toBe(202);
    // By the time a later message has run its course, the cleared receipts would have come.
    await expect.poll(() => receiver.at('/after-reset')).toHaveLength(2);
    expect(receiver.at('/reset')).toEqual([]);
  } finally {
    await unhurried.stop();
  }
});

it('an unknown path is a 404, and a body over 64 KiB a 413', async () => {
  expect((await fetch(`${simulator.url}/nobody/v1/messages`, { method: 'POST' })).status).toBe(404);
  expect(await statusOf('x'.repeat(65_536))).toBe(413);
});
