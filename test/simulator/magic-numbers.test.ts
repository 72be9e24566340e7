import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';
import { listMessages, postControl } from './control-client.ts';
import { wireAfter, wires } from './wires/registry.ts';
import type { Report, Sender, Wire } from './wires/wire.ts';

let simulator: Simulator;
let senders: Sender[] = [];

beforeAll(async () => {
  simulator = await startSimulator({ port: 0, deliveryDelayMs: 60 });
});

afterEach(async () => {
  await Promise.all(senders.map((sender) => sender.stop()));
  senders = [];
  // A message centre has receipts that nobody took for whoever binds next.
  await postControl(simulator.url, '/reset');
});

afterAll(async () => {
  await simulator.stop();
});

async function connect(wire: Wire, beforeAnswer?: () => Promise<void>): Promise<Sender> {
  const sender = await wire.connect(simulator, beforeAnswer);
  senders.push(sender);
  return sender;
}

/** A text that no other test has. */
const freshText = () => `Text ${randomUUID()}`;

const told = (sender: Sender, messageId: string | undefined) =>
  sender.reports.filter((report) => report.messageId === messageId);

const statuses = (reports: Report[]) => reports.map(({ status }) => status);

describe.each(wires)('$provider', (wire) => {
  const { expected } = wire;

  async function sendAndCollect(sender: Sender, to: string, count: number): Promise<Report[]> {
    const { status, messageId } = await sender.send({ to, text: freshText() });
    expect(status).toBe(expected.accepted);
    await expect.poll(() => told(sender, messageId)).toHaveLength(count);
    return told(sender, messageId);
  }

  it.each(['+447700900123', '+99901001001', '+99901999001'])('%s is accepted, sent, then delivered', async (to) => {
    const reports = await sendAndCollect(await connect(wire), to, 2);
    expect(statuses(reports)).toEqual([expected.sent, expected.delivered]);
  });

  it.each([
    ['002', expected.invalidRecipient],
    ['003', expected.optedOut],
    ['004', expected.noFunds],
  ])('%s is refused with the code the upstream has for it, where it has it', async (digits, refusal) => {
    const sender = await connect(wire);
    const to = `+99901${digits}001`;
    const { status, code, messageId } = await sender.send({ to, text: freshText() });
    const journalled = async () => (await listMessages(simulator.url, { to })).messages.at(-1);
    if ('answered' in refusal) {
      expect([status, code]).toEqual(refusal.answered);
      expect(await journalled()).toMatchObject({ provider: wire.provider, providerMessageId: null, receipts: [] });
    } else {
      expect(status).toBe(expected.accepted);
      await expect.poll(() => told(sender, messageId)).toHaveLength(1);
      expect(told(sender, messageId).map((report) => [report.status, report.code])).toEqual([refusal.reported]);
      expect(await journalled()).toMatchObject({ provider: wire.provider, outcome: 'accepted' });
    }
  });

  it('005 is turned away as unavailable by the first provider tried and accepted by the next', async () => {
    const sms = { to: '+99901005001', text: freshText() };
    expect((await (await connect(wire)).send(sms)).status).toBe(expected.unavailable);
    const next = wireAfter(wire);
    expect((await (await connect(next)).send(sms)).status).toBe(next.expected.accepted);
  });

  it('005 fails first again for the same text once the message before it was accepted', async () => {
    const sms = { to: '+99901005002', text: freshText() };
    const next = wireAfter(wire);
    const [first, second] = [await connect(wire), await connect(next)];
    for (const _round of [1, 2]) {
      expect((await first.send(sms)).status).toBe(expected.unavailable);
      expect((await second.send(sms)).status).toBe(next.expected.accepted);
    }
  });

  it('006 is turned away as unavailable by every provider', async () => {
    const sms = { to: '+99901006001', text: freshText() };
    for (const each of [wire, wireAfter(wire), wire]) {
      expect((await (await connect(each)).send(sms)).status).toBe(each.expected.unavailable);
    }
  });

  it('007 is taken without an answer by the first provider and accepted by the next', async () => {
    const sms = { to: '+99901007001', text: freshText() };
    const outcomes = async () => {
      const { messages } = await listMessages(simulator.url, { to: sms.to });
      return messages.filter(({ text }) => text === sms.text).map(({ outcome }) => outcome);
    };
    const patience = new AbortController();
    const gaveUp = expect((await connect(wire)).send(sms, patience.signal)).rejects.toMatchObject({
      name: 'AbortError',
    });
    await expect.poll(outcomes).toEqual(['silent']);
    const next = wireAfter(wire);
    expect((await (await connect(next)).send(sms)).status).toBe(next.expected.accepted);
    // The first one would have answered by now.
    patience.abort();
    await gaveUp;
    expect(await outcomes()).toEqual(['silent', 'accepted']);
  });

  it.each([
    ['008', expected.failed],
    ['009', expected.expired],
  ])('%s is accepted, sent, then reported with a final status and its error code', async (digits, final) => {
    const [first, last] = await sendAndCollect(await connect(wire), `+99901${digits}001`, 2);
    expect(first?.status).toBe(expected.sent);
    expect([last?.status, last?.code]).toEqual(final);
  });

  it('010 is accepted and never reported on', async () => {
    const sender = await connect(wire);
    const { status, messageId } = await sender.send({ to: '+99901010001', text: freshText() });
    expect(status).toBe(expected.accepted);
    // A message sent later has run its whole course: whatever the first had to say would have come before.
    await sendAndCollect(sender, '+99901001002', 2);
    expect(told(sender, messageId)).toEqual([]);
  });

  it('011 is reported delivered, and that is answered, before the send is', async () => {
    const order: string[] = [];
    const sender = await connect(wire, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      order.push('report answered');
    });
    const { messageId } = await sender.send({ to: '+99901011001', text: freshText() });
    order.push('send answered');
    expect(order).toEqual(['report answered', 'send answered']);
    expect(statuses(told(sender, messageId))).toEqual([expected.delivered]);
  });

  it('012 is reported delivered, sent and delivered again, in that order', async () => {
    const reports = await sendAndCollect(await connect(wire), '+99901012001', 3);
    expect(statuses(reports)).toEqual([expected.delivered, expected.sent, expected.delivered]);
  });

  it('013 is throttled by the first provider, which says when to come back if it can, and accepted by the next', async () => {
    const sms = { to: '+99901013001', text: freshText() };
    const { status, retryAfter } = await (await connect(wire)).send(sms);
    expect([status, retryAfter]).toEqual(expected.throttled);
    const next = wireAfter(wire);
    expect((await (await connect(next)).send(sms)).status).toBe(next.expected.accepted);
  });

  it('keeps the order of the receipts also where the receiver answers the first one late', async () => {
    const released = Promise.withResolvers<void>();
    let answered = 0;
    const slow = await connect(wire, async () => {
      answered += 1;
      if (answered === 1) await released.promise;
    });
    try {
      const { messageId } = await slow.send({ to: '+99901001003', text: freshText() });
      await expect.poll(() => slow.reports).toHaveLength(1);
      const later = wireAfter(wire);
      const other = await connect(later);
      const sent = await other.send({ to: '+99901001004', text: freshText() });
      await expect.poll(() => told(other, sent.messageId)).toHaveLength(2);
      expect(slow.reports).toHaveLength(1);
      released.resolve();
      await expect.poll(() => statuses(told(slow, messageId))).toEqual([expected.sent, expected.delivered]);
    } finally {
      released.resolve();
    }
  });
});

it('014 is accepted after five seconds, and reported on only then', async () => {
  await Promise.all(
    wires.map(async (wire) => {
      const sender = await connect(wire);
      const sms = { to: '+99901014001', text: freshText() };
      const startedAt = performance.now();
      const { status, messageId } = await sender.send(sms);
      expect(status).toBe(wire.expected.accepted);
      expect(performance.now() - startedAt).toBeGreaterThan(4_900);

      await expect.poll(() => told(sender, messageId)).toHaveLength(2);
      const { messages } = await listMessages(simulator.url, { to: sms.to });
      const message = messages.find(({ text }) => text === sms.text);
      const firstReceiptAt = Date.parse(String(message?.receipts[0]?.at));
      // Half the delivery delay after the answer.
      expect(firstReceiptAt - Date.parse(String(message?.receivedAt))).toBeGreaterThan(5_020);
    }),
  );
});
