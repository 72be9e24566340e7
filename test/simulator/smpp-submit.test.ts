import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';
import { listMessages, postControl } from './control-client.ts';
import { connectSmpp, gsm, type PeerPdu, type SmppClient, ucs2 } from './smpp-client.ts';
import { twilio } from './wires/twilio.ts';

let simulator: Simulator;
let client: SmppClient;

beforeAll(async () => {
  simulator = await startSimulator({ port: 0, deliveryDelayMs: 60 });
});

beforeEach(async () => {
  await postControl(simulator.url, '/reset');
  client = await connectSmpp(simulator.smppPort);
  await client.bind();
});

afterEach(() => client.stop());

afterAll(async () => {
  await simulator.stop();
});

const journalled = async () => (await listMessages(simulator.url, {})).messages;
const journalledTexts = async () => (await journalled()).map(({ text }) => text);

type Fields = Record<string, unknown>;

/** A text in parts, each as `form` frames it. */
function inParts(chunks: Buffer[], form: (chunk: Buffer, sequence: number, total: number) => Fields): Fields[] {
  return chunks.map((chunk, index) => form(chunk, index + 1, chunks.length));
}

const udh = (header: number[]) => (chunk: Buffer) => ({
  esm_class: 0x40,
  short_message: Buffer.concat([Buffer.from([header.length, ...header]), chunk]),
});
const udh8 = (chunk: Buffer, sequence: number, total: number) => udh([0, 3, 77, total, sequence])(chunk);
const udh16 = (chunk: Buffer, sequence: number, total: number) => udh([8, 4, 1, 77, total, sequence])(chunk);
const sar = (chunk: Buffer, sequence: number, total: number) => ({
  short_message: chunk,
  sar_msg_ref_num: 333,
  sar_total_segments: total,
  sar_segment_seqnum: sequence,
});

function cut(octets: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < octets.length; at += size) chunks.push(octets.subarray(at, at + size));
  return chunks;
}

/** Sent without waiting for one another. */
const submitAll = (parts: Fields[], fields: Fields = {}) =>
  Promise.all(parts.map((part) => client.submit({ ...part, ...fields })));

const refusal = async (data_coding: number, short_message: Buffer) =>
  (await client.submit({ data_coding, short_message })).command_status;

const statuses = (responses: PeerPdu[]) => responses.map(({ command_status }) => command_status);

describe('a text', () => {
  it('of every GSM character arrives as it was written', async () => {
    const alphabet =
      '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡' +
      'ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà\f^{}\\[~]|€';
    expect(alphabet).toHaveLength(127 + 10);
    await client.submit({ short_message: gsm(alphabet) });
    expect(await journalledTexts()).toEqual([alphabet]);
  });

  it.each<[string, number, Buffer]>([
    ['hi 😀 – ж', 8, ucs2('hi 😀 – ж')],
    ['hi 😀 – ж', 0x18, ucs2('hi 😀 – ж')],
    ['naïve ©', 3, Buffer.from('naïve ©', 'latin1')],
    ['plain', 1, Buffer.from('plain')],
    ['flash €', 0x10, gsm('flash €')],
  ])('%s arrives under data_coding %d', async (text, data_coding, short_message) => {
    expect((await client.submit({ data_coding, short_message })).command_status).toBe(0);
    expect(await journalledTexts()).toEqual([text]);
  });

  it('is refused where its octets are not of its coding, or half a character', async () => {
    expect(await refusal(0, Buffer.from([0x80]))).toBe(0x104);
    expect(await refusal(1, Buffer.from([0x80]))).toBe(0x104);
    expect(await refusal(8, Buffer.from([0x00]))).toBe(0x104);
    expect(await refusal(8, ucs2('😀').subarray(0, 2))).toBe(0x104);
    expect(await refusal(4, Buffer.from([0x00]))).toBe(0x104);
  });

  it('shows an escape that was cut from its character', async () => {
    await client.submit({ short_message: gsm('a€').subarray(0, 2) });
    expect(await journalledTexts()).toEqual(['a ']);
  });
});

describe('a message', () => {
  it.each<[number, Fields]>([
    [0x0a, { source_addr: '' }],
    [0x0a, { source_addr: 'A name too long' }],
    [0x0a, { source_addr_ton: 1, source_addr: '+15005550006' }],
    [0x48, { source_addr_ton: 7 }],
    [0x49, { source_addr_npi: 9 }],
    [0x0b, { destination_addr: '' }],
    [0x0b, { destination_addr: '+447700900123' }],
    [0x0b, { destination_addr: '07700900123' }],
    [0x50, { dest_addr_ton: 2 }],
    [0x51, { dest_addr_npi: 9 }],
    [0x43, { esm_class: 0x04 }],
    [0x06, { priority_flag: 4 }],
    [0x61, { schedule_delivery_time: Buffer.from('tomorrow') }],
    [0x62, { validity_period: Buffer.from('1 day') }],
    [0x07, { registered_delivery: 3 }],
    [0x54, { replace_if_present_flag: 2 }],
    [0x01, { short_message: Buffer.alloc(0) }],
    [0x01, { short_message: gsm('x'.repeat(161)) }],
    [0x01, { data_coding: 8, short_message: ucs2('ж'.repeat(71)) }],
    [0x01, { message_payload: gsm('Hello') }],
    [0x43, { esm_class: 0x40, short_message: Buffer.from([9, 0, 3]) }],
    [0x43, { esm_class: 0x40, short_message: Buffer.from([5, 0, 3, 1, 2, 3, 0x61]) }],
    [0x43, { esm_class: 0x40, short_message: Buffer.from([5, 0, 2, 1, 2, 1, 0x61]) }],
    [0x01, udh8(gsm('x'.repeat(154)), 1, 2)],
    [0x01, sar(gsm('x'.repeat(154)), 1, 2)],
    [0xc3, { sar_msg_ref_num: 1 }],
    [0xc4, sar(gsm('x'), 3, 2)],
  ])('is refused with status 0x%x for %o, and journalled as invalid', async (status, fields) => {
    const refused = await client.submit(fields);
    expect([refused.command_status, refused.message_id]).toEqual([status, undefined]);
    expect(await journalled()).toMatchObject([{ provider: 'smpp', outcome: 'invalid', text: null }]);
  });

  it.each<[string, Fields]>([
    ['HELIO', {}],
    ['+15005550006', { source_addr_ton: 1, source_addr_npi: 1, source_addr: '15005550006' }],
    ['12345', { source_addr_ton: 3, source_addr: '12345' }],
  ])('is journalled with sender %s, recipient, reference and raw PDU', async (from, fields) => {
    const { message_id } = await client.submit({ user_message_reference: 4711, ...fields });
    const [message] = await journalled();
    expect(message).toMatchObject({
      to: '+447700900123',
      from,
      text: 'Hello',
      reference: '4711',
      outcome: 'accepted',
      providerMessageId: message_id,
      request: { pdus: [expect.stringMatching(/^[0-9a-f]{8}00000004/)] },
    });
  });

  it.each([
    ['a relative validity', { validity_period: Buffer.from('000001000000000R') }],
    ['an absolute validity', { validity_period: Buffer.from('261231235959000+') }],
  ])('may have %s', async (_name, fields) => {
    expect((await client.submit(fields)).command_status).toBe(0);
  });
});

describe('a long message', () => {
  const gsmText = `${'Long text, '.repeat(30)}€`;
  const ucs2Text = 'Длинный текст, '.repeat(12);

  it.each<[string, string, Fields[]]>([
    ['an 8-bit header', gsmText, inParts(cut(gsm(gsmText), 153), udh8)],
    ['a 16-bit header', gsmText, inParts(cut(gsm(gsmText), 152), udh16)],
    ['SAR parameters', gsmText, inParts(cut(gsm(gsmText), 153), sar)],
    ['an 8-bit header, in UCS-2', ucs2Text, inParts(cut(ucs2(ucs2Text), 134), udh8)],
    ['SAR parameters, in UCS-2', ucs2Text, inParts(cut(ucs2(ucs2Text), 134), sar)],
    ['a payload', gsmText, [{ short_message: Buffer.alloc(0), message_payload: gsm(gsmText) }]],
  ])('with %s is journalled once, whole; each part has an id and receipts', async (_name, text, parts) => {
    const data_coding = text === gsmText ? 0 : 8;
    const responses = await submitAll(parts, { data_coding });
    expect(statuses(responses)).toEqual(parts.map(() => 0));
    const ids = responses.map(({ message_id }) => message_id);
    expect(new Set(ids).size).toBe(parts.length);

    await expect.poll(() => client.deliveries.map((delivery) => delivery.receipted_message_id)).toEqual(ids);
    expect(client.deliveries.map((delivery) => delivery.message_state)).toEqual(parts.map(() => 2));
    await expect.poll(async () => (await journalled())[0]?.receipts).toHaveLength(parts.length);
    const messages = await journalled();
    expect(messages.map((message) => [message.text, message.outcome])).toEqual([[text, 'accepted']]);
    expect(messages[0]?.request).toMatchObject({ pdus: { length: parts.length } });
  });

  it('is whole also when its parts come out of order, over two sessions', async () => {
    const other = await connectSmpp(simulator.smppPort);
    try {
      await other.bind('transmitter');
      const [first = {}, second = {}, third = {}] = inParts(cut(gsm(gsmText), 153), udh8);
      await client.submit(third);
      await other.submit(first);
      await client.submit(second);
      expect(await journalledTexts()).toEqual([gsmText]);
    } finally {
      other.stop();
    }
  });

  it('is another one where recipient, sender or reference differ, or where a part comes again', async () => {
    const [first = {}, second = {}] = inParts([gsm('One '), gsm('two')], udh8);
    for (const fields of [{}, { destination_addr: '447700900124' }, { source_addr: 'OTHER' }]) {
      await client.submit({ ...first, ...fields });
    }
    await client.submit({ ...udh16(gsm('Same number, '), 1, 2) });
    await client.submit(first);
    await client.submit(second);
    expect(await journalledTexts()).toEqual(['One ', 'One ', 'One ', 'Same number, ', 'One two']);
  });

  it('has forgotten its first parts after a reset', async () => {
    const [first = {}, second = {}] = inParts([gsm('One '), gsm('two')], udh8);
    await client.submit(first);
    await postControl(simulator.url, '/reset');
    await client.submit(second);
    expect(await journalledTexts()).toEqual(['two']);
  });

  it.each<[string, string, number]>([
    ['006', 'unavailable', 0x08],
    ['002', 'invalid_recipient', 0x0b],
  ])('to %s has all its parts turned away, and is journalled once as %s', async (digits, outcome, status) => {
    const responses = await submitAll(inParts(cut(gsm(gsmText), 153), udh8), { destination_addr: `99901${digits}001` });
    expect(statuses(responses)).toEqual(responses.map(() => status));
    expect((await journalled()).map((message) => [message.text, message.outcome])).toEqual([[gsmText, outcome]]);
  });

  it.each([
    ['005', 0x08],
    ['013', 0x58],
  ])(
    'to %s is turned away by the first provider and accepted by the next, whichever is SMPP',
    async (digits, status) => {
      const to = `+99901${digits}002`;
      const fields = { destination_addr: to.slice(1) };
      const parts = inParts(cut(ucs2(ucs2Text), 132), udh16);
      expect(statuses(await submitAll(parts, { ...fields, data_coding: 8 }))).toEqual(parts.map(() => status));
      expect((await twilio.send(simulator.url, { to, text: ucs2Text })).status).toBe(201);

      const turnedAway = digits === '005' ? 503 : 429;
      expect((await twilio.send(simulator.url, { to, text: ucs2Text })).status).toBe(turnedAway);
      expect(statuses(await submitAll(parts, { ...fields, data_coding: 8 }))).toEqual(parts.map(() => 0));
    },
  );

  it('to 007 has none of its parts answered', async () => {
    const parts = inParts(cut(gsm(gsmText), 153), udh8);
    let answered = 0;
    for (const part of parts) {
      client.submit({ ...part, destination_addr: '99901007002' }).then(
        () => (answered += 1),
        () => undefined,
      );
    }
    // What is answered is answered in order.
    expect((await client.submit({})).command_status).toBe(0);
    expect(answered).toBe(0);
    expect((await journalled()).map(({ outcome, text }) => [outcome, text])).toEqual([
      ['silent', gsmText],
      ['accepted', 'Hello'],
    ]);
  });

  it('to 011 has the receipt of each part before its answer', async () => {
    const order: string[] = [];
    await client.request('unbind');
    const early = await connectSmpp(simulator.smppPort, async () => void order.push('receipt'));
    try {
      await early.bind();
      for (const part of inParts([gsm('One '), gsm('two')], udh8)) {
        await early.submit({ ...part, destination_addr: '99901011002' });
        order.push('answer');
      }
      expect(order).toEqual(['receipt', 'answer', 'receipt', 'answer']);
    } finally {
      early.stop();
    }
  });
});
