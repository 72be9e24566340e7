import fc from 'fast-check';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../helpers/until.ts';
import { messageWith } from '../cases.ts';
import { createProvider, type TestProvider } from './create-provider.ts';
import { answerTo, command, pdu, RawSmsc, type Frame } from './raw-smsc.ts';

const receiptBody = Buffer.concat([
  Buffer.from('\0\u0001\u0001447700900123\0\u0005\0HELIO\0\u0004\0\0\0\0\0\0\0\0'),
  Buffer.of(18),
  Buffer.from('id:77 stat:DELIVRD'),
]);

/** What a carrier may write, octet by octet, and what must come of it. */
describe('the octets of a carrier', () => {
  let smsc: RawSmsc;
  let provider: TestProvider;
  let receipts: string[];

  beforeEach(async () => {
    receipts = [];
    smsc = await RawSmsc.start();
    provider = createProvider(
      { port: smsc.port },
      { drainTimeoutMs: 50, unbindTimeoutMs: 50, reconnectFirstMs: 2, reconnectLongestMs: 2 },
    );
  });

  afterEach(async () => {
    await provider.close();
    await smsc.close();
  });

  async function bound(): Promise<Socket> {
    provider.reports.onReceipt(async (receipt) => void receipts.push(receipt.providerMessageId));
    await until('the state of the bind is told', () => provider.notices.length === 1);
    return smsc.sockets[0] as Socket;
  }

  const answersTo = (sequence: number): Frame[] =>
    smsc.frames.filter((frame) => frame.sequence === sequence && frame.command > 0x8000_0000);

  it('may come one at a time', async () => {
    smsc.onFrame = (socket, frame) => {
      socket.setNoDelay(true);
      for (const octet of answerTo(frame, frame.command === command.submit ? 'id-1\0' : 'SMSC\0'))
        socket.write(Buffer.of(octet));
    };
    expect(await provider.send(messageWith())).toEqual({ outcome: 'accepted', providerMessageId: 'id-1' });
  });

  it('may be several PDUs at once, the answer to the bind among them', async () => {
    smsc.onFrame = (socket, frame) => {
      if (frame.command !== command.bindTransceiver) return;
      socket.write(
        Buffer.concat([
          answerTo(frame),
          pdu(command.enquireLink, 1_001),
          pdu(command.deliver, 1_002, receiptBody),
          pdu(command.enquireLink, 1_003).subarray(0, 7),
        ]),
      );
      socket.write(pdu(command.enquireLink, 1_003).subarray(7));
    };
    await bound();
    await until(
      'all three are answered',
      () => answersTo(1_001).length + answersTo(1_002).length + answersTo(1_003).length === 3,
    );
    expect(receipts).toEqual(['77']);
    expect(answersTo(1_002)).toMatchObject([{ command: 0x8000_0005, status: 0 }]);
  });

  it('may name an id without its NUL, and parameters nobody knows', async () => {
    smsc.onFrame = (socket, frame) => {
      const body =
        frame.command === command.submit
          ? 'id-1'
          : Buffer.concat([Buffer.from('SMSC\0'), Buffer.from('1401000201020210000134', 'hex')]);
      socket.write(answerTo(frame, body));
    };
    expect(await provider.send(messageWith())).toEqual({ outcome: 'accepted', providerMessageId: 'id-1' });
  });

  it.each([
    ['a command nobody knows', pdu(0x0000_0111, 2_001, 'whatever'), 0x03],
    ['a command that is not for us', pdu(command.submit, 2_001, receiptBody), 0x03],
    ['a deliver_sm that ends inside a field', pdu(command.deliver, 2_001, receiptBody.subarray(0, 9)), 0x02],
    ['a deliver_sm that is shorter than its message', pdu(command.deliver, 2_001, receiptBody.subarray(0, -1)), 0x02],
  ])('are refused by a generic_nack where they are %s, and the bind stands', async (_title, octets, status) => {
    const socket = await bound();
    socket.write(Buffer.concat([octets, pdu(command.enquireLink, 2_002)]));
    await until('the enquiry is answered', () => answersTo(2_002).length === 1);
    expect(smsc.received(command.genericNack)).toMatchObject([{ sequence: 2_001, status }]);
    expect(smsc.sockets).toHaveLength(1);
  });

  it.each([
    ['an answer to nothing', pdu(0x8000_0004, 12_345, 'id\0')],
    ['an answer nobody knows', pdu(0x8000_0111, 1)],
    ['a generic_nack for nothing', pdu(command.genericNack, 0, '', 0x02)],
    ['an alert_notification', pdu(0x8000_0102, 5)],
  ])('are let pass where they are %s', async (_title, octets) => {
    const socket = await bound();
    socket.write(Buffer.concat([octets, pdu(command.enquireLink, 2_002)]));
    await until('the enquiry is answered', () => answersTo(2_002).length === 1);
    expect(smsc.received(command.genericNack)).toEqual([]);
    expect(smsc.sockets).toHaveLength(1);
  });

  it('do not answer a message by the answer to something else', async () => {
    smsc.onFrame = (socket, frame) => {
      if (frame.command !== command.submit) return void socket.write(answerTo(frame));
      return void socket.write(Buffer.concat([pdu(0x8000_0015, frame.sequence), answerTo(frame, 'id-1\0')]));
    };
    expect(await provider.send(messageWith())).toEqual({ outcome: 'accepted', providerMessageId: 'id-1' });
  });

  it('refuse a message by a generic_nack with its number', async () => {
    smsc.onFrame = (socket, frame) => {
      if (frame.command === command.submit) socket.write(pdu(command.genericNack, frame.sequence, '', 0x01));
      else socket.write(answerTo(frame));
    };
    expect(await provider.send(messageWith())).toMatchObject({
      outcome: 'rejected',
      class: 'invalid_content',
      code: '0x01',
    });
  });

  it.each([0, 15, 65_537, 0xffff_ffff])('end the link where a PDU claims %d of them', async (length) => {
    const socket = await bound();
    const bad = Buffer.alloc(16);
    bad.writeUInt32BE(length);
    socket.write(bad);
    await until('it binds again', () => smsc.received(command.bindTransceiver).length === 2);
    expect(smsc.received(command.genericNack)).toMatchObject([{ sequence: 0, status: 0x02 }]);
    expect(provider.notices).toContainEqual(expect.objectContaining({ state: 'down', code: 'bad_length' }));
  });

  it('end the link where ours are never read', async () => {
    const socket = await bound();
    socket.pause();
    const many = Buffer.concat(Array.from({ length: 4_096 }, (_, index) => pdu(command.enquireLink, index + 1)));
    const flood = (): void => {
      while (!socket.destroyed && socket.write(many));
    };
    socket.on('drain', flood);
    flood();
    await until(
      'the link is dropped',
      () => provider.notices.some((notice) => notice.state === 'down' && notice.code === 'peer_not_reading'),
      15_000,
    );
  });

  it('never bring anything down, whatever they are', async () => {
    await bound();
    const lengths = fc.constantFrom(0, 15, 16, 17, 40, 200, 65_537);
    const ids = fc.constantFrom(
      0x04,
      0x05,
      0x06,
      0x09,
      0x15,
      0x103,
      0x8000_0000,
      0x8000_0004,
      0x8000_0009,
      0x8000_0015,
      0xdead_beef,
    );
    const body = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
    const honest = fc.tuple(ids, fc.nat(5), body).map(([id, sequence, content]) => pdu(id, sequence, content));
    const lying = fc.tuple(lengths, honest).map(([length, octets]) => {
      octets.writeUInt32BE(length);
      return octets;
    });
    const anyOctets = fc.array(fc.oneof({ weight: 4, arbitrary: honest }, body, lying), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(anyOctets, async (chunks) => {
        await until('the link is open', () => smsc.sockets.at(-1)?.readyState === 'open');
        const socket = smsc.sockets.at(-1);
        for (const chunk of chunks) socket?.write(chunk);
        socket?.end();
        const before = smsc.received(command.bindTransceiver).length;
        await until('it binds again', () => smsc.received(command.bindTransceiver).length > before);
      }),
      { numRuns: 60 },
    );
    smsc.onFrame = (socket, frame) =>
      void socket.write(answerTo(frame, frame.command === command.submit ? 'id-1\0' : 'SMSC\0'));
    await until('a message is accepted', async () => (await provider.send(messageWith())).outcome === 'accepted');
  });
});
