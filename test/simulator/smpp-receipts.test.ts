import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';
import { listMessages, postControl } from './control-client.ts';
import { connectSmpp, gsm, type SmppClient, ucs2 } from './smpp-client.ts';

let simulator: Simulator;
let clients: SmppClient[] = [];

beforeAll(async () => {
  simulator = await startSimulator({ port: 0, deliveryDelayMs: 60 });
});

beforeEach(async () => {
  await postControl(simulator.url, '/reset');
});

afterEach(() => {
  for (const client of clients) client.stop();
  clients = [];
});

afterAll(async () => {
  await simulator.stop();
});

async function bound(
  how: 'transceiver' | 'transmitter' | 'receiver' = 'transceiver',
  beforeAnswer?: Parameters<typeof connectSmpp>[1],
): Promise<SmppClient> {
  const client = await connectSmpp(simulator.smppPort, beforeAnswer);
  clients.push(client);
  await client.bind(how);
  return client;
}

const lastReceipts = async () => (await listMessages(simulator.url, {})).messages.at(-1)?.receipts;

it('says the same in text and parameters, with the addresses swapped', async () => {
  const client = await bound();
  const sender = { source_addr_ton: 1, source_addr_npi: 1, source_addr: '15005550006' };
  const short_message = gsm('A text of more than twenty characters');
  const { message_id } = await client.submit({ ...sender, short_message, user_message_reference: 4711 });
  await expect.poll(() => client.deliveries).toHaveLength(1);
  const [receipt] = client.deliveries;
  expect(receipt).toMatchObject({
    esm_class: 0x04,
    source_addr: '447700900123',
    destination_addr: '15005550006',
    dest_addr_ton: 1,
    dest_addr_npi: 1,
    receipted_message_id: message_id,
    message_state: 2,
    user_message_reference: 4711,
  });
  expect(receipt?.network_error_code).toBeUndefined();
  expect(receipt?.short_message.message).toMatch(
    new RegExp(
      `^id:${message_id} sub:001 dlvrd:001 submit date:\\d{10} done date:\\d{10} stat:DELIVRD err:000 text:A text of more than $`,
    ),
  );
});

it.each([
  ['99901008101', 5, 'UNDELIV', '001', 1],
  ['99901009101', 3, 'EXPIRED', '027', 27],
])('of %s has state %d and the network error', async (destination_addr, message_state, stat, error, code) => {
  const client = await bound();
  await client.submit({ destination_addr });
  await expect.poll(() => client.deliveries).toHaveLength(1);
  const [receipt] = client.deliveries;
  expect(receipt?.message_state).toBe(message_state);
  expect(receipt?.short_message.message).toMatch(new RegExp(`dlvrd:000 .* stat:${stat} err:${error} text:Hello$`));
  expect([...(receipt?.network_error_code ?? [])]).toEqual([3, 0, code]);
});

it('leaves out a text that is not in the default alphabet', async () => {
  const client = await bound();
  await client.submit({ data_coding: 8, short_message: ucs2('Привет') });
  await expect.poll(() => client.deliveries).toHaveLength(1);
  expect(client.deliveries[0]?.short_message.message).toMatch(/ text:$/);
});

it.each([
  [0x00, []],
  [0x01, ['DELIVRD', 'UNDELIV']],
  [0x02, ['UNDELIV']],
  [0x11, ['ENROUTE', 'DELIVRD', 'ENROUTE', 'UNDELIV']],
])('comes where registered_delivery %d asks for it: %o', async (registered_delivery, stats) => {
  const client = await bound();
  await client.submit({ registered_delivery, destination_addr: '99901001101' });
  await expect
    .poll(() => client.deliveries.length)
    .toBe(stats.filter((stat) => stat !== 'UNDELIV').length ? stats.length / 2 : 0);
  await client.submit({ registered_delivery, destination_addr: '99901008102' });
  await expect.poll(() => client.deliveries.length).toBe(stats.length);
  // By the time a later message has run its course, whatever else there was to say would have come.
  const { message_id } = await client.submit({ destination_addr: '99901001102' });
  await expect.poll(() => client.deliveries.at(-1)?.receipted_message_id).toBe(message_id);
  const all = client.deliveries.slice(0, -1);
  expect(all.map(({ short_message }) => /stat:(\w+)/.exec(short_message.message)?.[1])).toEqual(stats);
  expect(all.map(({ esm_class }) => esm_class)).toEqual(stats.map((stat) => (stat === 'ENROUTE' ? 0x20 : 0x04)));
});

it('goes to a receiver, never to a transmitter, and to several by turns', async () => {
  const transmitter = await bound('transmitter');
  const receivers = [await bound('receiver'), await bound('receiver')];
  for (let index = 0; index < 6; index += 1) await transmitter.submit({});
  await expect.poll(() => receivers.map(({ deliveries }) => deliveries.length)).toEqual([3, 3]);
  expect(transmitter.deliveries).toEqual([]);
});

it('is sent again where it is answered with an error, and until somebody is bound to take it', async () => {
  let refused = 0;
  const client = await bound('transceiver', async () => {
    refused += 1;
    return refused === 1 ? 0x64 : 0;
  });
  await client.submit({});
  await expect.poll(() => client.deliveries).toHaveLength(2);
  expect(await lastReceipts()).toMatchObject([
    { status: 'delivered', attempt: 1, result: 0x64 },
    { status: 'delivered', attempt: 2, result: 0 },
  ]);

  await client.submit({});
  client.stop();
  await expect.poll(lastReceipts).toMatchObject([{ attempt: 1, result: 'unreachable' }]);
  const later = await bound('receiver');
  await expect.poll(() => later.deliveries).toHaveLength(1);
  await expect.poll(lastReceipts).toMatchObject([{ result: 'unreachable' }, { attempt: 2, result: 0 }]);
});

it('that is on its way when the connection ends counts as unreachable', async () => {
  const never = new Promise<number>(() => undefined);
  const client = await bound('transceiver', () => never);
  await client.submit({});
  await expect.poll(() => client.deliveries).toHaveLength(1);
  client.stop();
  await expect.poll(lastReceipts).toMatchObject([{ status: 'delivered', attempt: 1, result: 'unreachable' }]);
});
