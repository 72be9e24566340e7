import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';
import { listMessages } from './control-client.ts';
import { type Received, type Receiver, startReceiver } from './receiver.ts';
import { wireAfter, wires } from './wires.ts';

let simulator: Simulator;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  simulator = await startSimulator({ port: 0, deliveryDelayMs: 60 });
});

afterAll(async () => {
  await simulator.stop();
  await receiver.stop();
});

/** A text and a callback path that no other test has. */
function fresh() {
  const text = `Text ${randomUUID()}`;
  const path = `/callbacks/${randomUUID()}`;
  return { text, path, callbackUrl: receiver.url + path };
}

describe.each(wires)('$provider', (wire) => {
  const { expected } = wire;

  async function sendAndCollect(to: string, count: number): Promise<Received[]> {
    const { text, path, callbackUrl } = fresh();
    const answer = await wire.send(simulator.url, { to, text, callbackUrl });
    expect(answer.status).toBe(expected.acceptedStatus);
    await expect.poll(() => receiver.at(path), { timeout: 5_000 }).toHaveLength(count);
    return receiver.at(path);
  }

  it.each(['+447700900123', '+99901001001', '+99901999001'])('%s is accepted, sent, then delivered', async (to) => {
    const callbacks = await sendAndCollect(to, 2);
    expect(callbacks.map(wire.status)).toEqual([expected.sent, 'delivered']);
  });

  it('002, 003 and 004 are refused with the code the upstream has for it, and never reported on', async () => {
    const refusals = [
      ['+99901002001', expected.invalidRecipient],
      ['+99901003001', expected.optedOut],
      ['+99901004001', expected.noFunds],
    ] as const;
    for (const [to, [status, code]] of refusals) {
      const { text, callbackUrl } = fresh();
      const answer = await wire.send(simulator.url, { to, text, callbackUrl });
      expect([answer.status, wire.errorCode(answer)]).toEqual([status, code]);
      const { messages } = await listMessages(simulator.url, { to });
      expect(messages.at(-1)).toMatchObject({ providerMessageId: null, receipts: [] });
    }
  });

  it('005 gets a 503 from the first provider tried and is accepted by the next', async () => {
    const { text } = fresh();
    const to = '+99901005001';
    expect((await wire.send(simulator.url, { to, text })).status).toBe(503);
    const next = wireAfter(wire);
    expect((await next.send(simulator.url, { to, text })).status).toBe(next.expected.acceptedStatus);
  });

  it('005 fails first again for the same text once the message before it was accepted', async () => {
    const { text } = fresh();
    const to = '+99901005002';
    const next = wireAfter(wire);
    for (const _round of [1, 2]) {
      expect((await wire.send(simulator.url, { to, text })).status).toBe(503);
      expect((await next.send(simulator.url, { to, text })).status).toBe(next.expected.acceptedStatus);
    }
  });

  it('006 gets a 503 from every provider', async () => {
    const { text } = fresh();
    for (const each of [wire, wireAfter(wire), wire]) {
      expect((await each.send(simulator.url, { to: '+99901006001', text })).status).toBe(503);
    }
  });

  it('007 is taken without an answer by the first provider and accepted by the next', async () => {
    const { text } = fresh();
    const to = '+99901007001';
    const gaveUp = wire.send(simulator.url, { to, text }, AbortSignal.timeout(300));
    await expect(gaveUp).rejects.toMatchObject({ name: 'TimeoutError' });
    const next = wireAfter(wire);
    expect((await next.send(simulator.url, { to, text })).status).toBe(next.expected.acceptedStatus);
    const { messages } = await listMessages(simulator.url, { to });
    expect(messages.filter((message) => message.text === text).map((message) => message.outcome)).toEqual([
      'silent',
      'accepted',
    ]);
  });

  it.each([
    ['008', expected.failed],
    ['009', expected.expired],
  ])('%s is accepted, sent, then reported with a final status and its error code', async (digits, [status, code]) => {
    const [sent, final] = await sendAndCollect(`+99901${digits}001`, 2);
    expect(sent && wire.status(sent)).toBe(expected.sent);
    expect(final && [wire.status(final), wire.callbackErrorCode(final)]).toEqual([status, code]);
  });

  it('010 is accepted and never reported on', async () => {
    const silent = fresh();
    const answer = await wire.send(simulator.url, { to: '+99901010001', ...silent });
    expect(answer.status).toBe(expected.acceptedStatus);
    // A message sent later has run its whole course: whatever the first had to say would have come before.
    await sendAndCollect('+99901001002', 2);
    expect(receiver.at(silent.path)).toEqual([]);
  });

  it('011 is reported delivered, and that is answered, before the send is', async () => {
    const order: string[] = [];
    const slow = await startReceiver(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      order.push('callback answered');
      return 204;
    });
    try {
      const callbackUrl = `${slow.url}/early`;
      const answer = await wire.send(simulator.url, { to: '+99901011001', text: fresh().text, callbackUrl });
      order.push('send answered');
      expect(order).toEqual(['callback answered', 'send answered']);
      expect(slow.at('/early').map(wire.status)).toEqual(['delivered']);
      expect(slow.at('/early')[0]?.body).toContain(wire.messageId(answer));
    } finally {
      await slow.stop();
    }
  });

  it('012 is reported delivered, sent and delivered again, in that order', async () => {
    const callbacks = await sendAndCollect('+99901012001', 3);
    expect(callbacks.map(wire.status)).toEqual(['delivered', expected.sent, 'delivered']);
  });

  it('013 is throttled by the first provider, which says when to come back, and accepted by the next', async () => {
    const { text } = fresh();
    const to = '+99901013001';
    const throttled = await wire.send(simulator.url, { to, text });
    expect([throttled.status, throttled.headers.get('retry-after')]).toEqual([429, '1']);
    const next = wireAfter(wire);
    expect((await next.send(simulator.url, { to, text })).status).toBe(next.expected.acceptedStatus);
  });

  it('keeps the order of the receipts also where the receiver answers the first one late', async () => {
    const released = Promise.withResolvers<void>();
    const slow = await startReceiver(async () => {
      if (slow.at('/slow').length === 1) await released.promise;
      return 204;
    });
    try {
      const held = { to: '+99901001003', text: fresh().text, callbackUrl: `${slow.url}/slow` };
      await wire.send(simulator.url, held);
      await expect.poll(() => slow.at('/slow')).toHaveLength(1);
      await sendAndCollect('+99901001004', 2);
      expect(slow.at('/slow')).toHaveLength(1);
      released.resolve();
      await expect.poll(() => slow.at('/slow').map(wire.status)).toEqual([expected.sent, 'delivered']);
    } finally {
      released.resolve();
      await slow.stop();
    }
  });
});

it('014 is accepted after five seconds, and reported on only then', async () => {
  await Promise.all(
    wires.map(async (wire) => {
      const { text, path, callbackUrl } = fresh();
      const to = '+99901014001';
      const startedAt = performance.now();
      const answer = await wire.send(simulator.url, { to, text, callbackUrl });
      expect(answer.status).toBe(wire.expected.acceptedStatus);
      expect(performance.now() - startedAt).toBeGreaterThan(4_900);

      await expect.poll(() => receiver.at(path)).toHaveLength(2);
      const { messages } = await listMessages(simulator.url, { to });
      const message = messages.find((each) => each.text === text);
      const firstReceiptAt = Date.parse(String(message?.receipts[0]?.at));
      // Half the delivery delay after the answer.
      expect(firstReceiptAt - Date.parse(String(message?.receivedAt))).toBeGreaterThan(5_020);
    }),
  );
});
