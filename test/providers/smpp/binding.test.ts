import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../helpers/until.ts';
import { messageWith } from '../cases.ts';
import { holdDeadlines, passDeadlines, releaseDeadlines } from '../../helpers/deadlines.ts';
import { createProvider, type TestProvider } from './create-provider.ts';
import { RawSmsc } from './raw-smsc.ts';
import { Smsc } from './smsc.ts';

describe('a bind', () => {
  holdDeadlines();

  let smsc: Smsc;
  let provider: TestProvider | undefined;

  beforeEach(async () => {
    smsc = await Smsc.start();
  });

  afterEach(async () => {
    releaseDeadlines();
    await provider?.close();
    await smsc.close();
  });

  function create(...options: Parameters<typeof createProvider>): TestProvider {
    provider = createProvider(...options);
    return provider;
  }

  it('presents the account as a transceiver of SMPP 3.4', async () => {
    await create({ port: smsc.port, systemType: 'OTA' }).send(messageWith());
    expect(smsc.binds).toHaveLength(1);
    expect(smsc.binds[0]).toMatchObject({
      command: 'bind_transceiver',
      system_id: 'helio',
      password: 'secret',
      system_type: 'OTA',
      interface_version: 0x34,
      addr_ton: 0,
      addr_npi: 0,
      address_range: '',
    });
  });

  it('opens nothing before there is a message, or somebody to store receipts', async () => {
    const idle = create({ port: smsc.port });
    await idle.close();
    expect(smsc.sessions).toEqual([]);
    const listening = create({ port: smsc.port });
    listening.reports.onReceipt(() => Promise.resolve());
    await smsc.bound();
  });

  it('may be a transmitter and a receiver, each for its direction', async () => {
    const receipts: string[] = [];
    const both = create({ port: smsc.port, mode: 'tx+rx' });
    both.reports.onReceipt(async (receipt) => void receipts.push(receipt.providerMessageId));
    await smsc.bound(2);
    expect(smsc.binds.map((pdu) => pdu.command).toSorted()).toEqual(['bind_receiver', 'bind_transmitter']);
    const transmitting: unknown[] = [];
    smsc.onSubmit = (session, pdu) => {
      transmitting.push(session);
      smsc.accept(session, pdu);
    };
    for (let count = 0; count < 5; count += 1) await both.send(messageWith());
    const transmitter = smsc.sessions[smsc.binds.findIndex((pdu) => pdu.command === 'bind_transmitter')];
    expect(transmitting).toEqual(Array(5).fill(transmitter));
    const receiver = smsc.sessions[smsc.binds.findIndex((pdu) => pdu.command === 'bind_receiver')];
    receiver?.deliver_sm({ esm_class: 4, short_message: Buffer.from('id:77 stat:DELIVRD') });
    await until('the receipt is told', () => receipts.length === 1);
    expect(receipts).toEqual(['77']);
  });

  it('takes no message while only the receiver is bound', async () => {
    smsc.onBind = (session, pdu) => {
      if (pdu.command === 'bind_receiver') session.send(pdu.response());
      else smsc.refuse(session, pdu, 0x0e);
    };
    const both = create({ port: smsc.port, mode: 'tx+rx' });
    expect(await both.send(messageWith())).toMatchObject({ reason: 'credentials', code: '0x0E' });
  });

  it('may have several sessions, opened one after the other, which share the messages', async () => {
    const answers: Array<() => void> = [];
    smsc.onBind = (session, pdu) => void answers.push(() => void session.send(pdu.response()));
    const submitting = new Set<unknown>();
    const waiting: Array<() => void> = [];
    smsc.onSubmit = (session, pdu) => {
      submitting.add(session);
      waiting.push(() => smsc.accept(session, pdu));
    };
    const three = create({ port: smsc.port, sessions: 3, window: 2 });
    const sent = Array.from({ length: 6 }, () => three.send(messageWith()));
    for (const opened of [1, 2, 3]) {
      await until('the next session binds', () => answers.length === opened);
      expect(smsc.sessions).toHaveLength(opened);
      answers[opened - 1]?.();
    }
    await until('all messages are submitted', () => waiting.length === 6);
    expect(submitting.size).toBe(3);
    for (const accept of waiting) accept();
    for (const result of await Promise.all(sent)) expect(result.outcome).toBe('accepted');
  });

  it('waits long after refused credentials, says so, and fails messages at once', async () => {
    smsc.onBind = (session, pdu) => smsc.refuse(session, pdu, 0x0f);
    const refused = create({ port: smsc.port });
    expect(await refused.send(messageWith())).toMatchObject({ outcome: 'retryable', reason: 'credentials' });
    expect(refused.notices).toEqual([
      {
        role: 'transceiver',
        state: 'down',
        code: '0x0F',
        message: 'ESME_RINVSYSID: unknown system_id',
        // A minute and a tenth: the random number is 0.5.
        retryAfterMs: 66_000,
      },
    ]);
    expect(await refused.send(messageWith())).toMatchObject({ outcome: 'retryable', reason: 'credentials' });
    expect(smsc.binds).toHaveLength(1);
  });

  it('waits for the old session to time out where one is bound already', async () => {
    smsc.onBind = (session, pdu) => smsc.refuse(session, pdu, 0x05);
    const refused = create({ port: smsc.port });
    expect(await refused.send(messageWith())).toMatchObject({
      outcome: 'retryable',
      reason: 'unavailable',
      code: '0x05',
    });
    // Half a minute, and half of another: the random number is 0.5.
    expect(refused.notices[0]).toHaveProperty('retryAfterMs', 45_000);
  });

  it('is tried again, with ever longer waits, until it stands', async () => {
    smsc.onBind = (session, pdu) => {
      if (smsc.binds.length < 4) smsc.refuse(session, pdu, 0x08);
      else session.send(pdu.response());
    };
    const persistent = create({ port: smsc.port }, { reconnectFirstMs: 4, reconnectLongestMs: 8 });
    expect(await persistent.send(messageWith())).toMatchObject({ outcome: 'accepted' });
    expect(persistent.notices.map((notice) => (notice.state === 'down' ? notice.retryAfterMs : 'bound'))).toEqual([
      4,
      8,
      8,
      'bound',
    ]);
  });

  it('is refused by a generic_nack too', async () => {
    const raw = await RawSmsc.start();
    raw.onFrame = (socket, { sequence }) => {
      const nack = Buffer.alloc(16);
      nack.writeUInt32BE(16, 0);
      nack.writeUInt32BE(0x8000_0000, 4);
      nack.writeUInt32BE(0x03, 8);
      nack.writeUInt32BE(sequence, 12);
      socket.write(nack);
    };
    const refused = create({ port: raw.port }, { reconnectFirstMs: 60_000, reconnectLongestMs: 60_000 });
    expect(await refused.send(messageWith())).toMatchObject({
      outcome: 'retryable',
      reason: 'unavailable',
      code: '0x03',
    });
    await raw.close();
  });

  it('comes back when the carrier unbinds us, or closes, and takes messages again', async () => {
    const returning = create({ port: smsc.port });
    await returning.send(messageWith());
    let answered = false;
    smsc.sessions[0]?.unbind({}, () => {
      answered = true;
    });
    await smsc.bound(2);
    expect(answered).toBe(true);
    expect(await returning.send(messageWith())).toMatchObject({ outcome: 'accepted' });
    smsc.sessions[1]?.destroy();
    await smsc.bound(3);
    expect(await returning.send(messageWith())).toMatchObject({ outcome: 'accepted' });
    const codes = returning.notices.flatMap((notice) => (notice.state === 'down' ? [notice.code] : []));
    expect(codes).toEqual(['unbound', 'link_closed']);
  });

  it('carries a message that was waiting for it to come back', async () => {
    const returning = create({ port: smsc.port });
    await returning.send(messageWith());
    smsc.sessions[0]?.destroy();
    await until('the loss is noticed', () => returning.notices.length === 2);
    expect(await returning.send(messageWith())).toMatchObject({ outcome: 'accepted' });
  });

  it('counts as new after it was healthy: the next wait is a first one', async () => {
    const healthy = create({ port: smsc.port }, { reconnectFirstMs: 4, reconnectLongestMs: 1_000, healthyAfterMs: 0 });
    for (const count of [1, 2, 3, 4, 5]) {
      await healthy.send(messageWith());
      smsc.sessions.at(-1)?.destroy();
      await smsc.bound(count + 1);
    }
    const waits = healthy.notices.flatMap((notice) => (notice.state === 'down' ? [notice.retryAfterMs] : []));
    expect(waits).toHaveLength(5);
    for (const waitMs of waits) expect(waitMs).toBe(4);
  });
});

describe('a silent link', () => {
  holdDeadlines();

  const enquireLinkMs = 30_000;
  const enquireTimeoutMs = 10_000;
  let smsc: Smsc;
  let provider: TestProvider;

  beforeEach(async () => {
    smsc = await Smsc.start();
    provider = createProvider(
      { port: smsc.port, enquireLinkMs, timeoutMs: 60_000, responseTimeoutMs: 60_000 },
      { enquireTimeoutMs },
    );
    await provider.send(messageWith());
  });

  afterEach(async () => {
    releaseDeadlines();
    await provider.close();
    await smsc.close();
  });

  /** Whatever the carrier wrote has been read: what it writes now, its own enquiry, is answered. */
  async function allIsRead(): Promise<void> {
    const session = smsc.sessions[0];
    await new Promise((resolve) => void session?.enquire_link({}, resolve));
  }

  async function asked(times: number): Promise<void> {
    await until(`the carrier is asked ${times} times`, () => smsc.enquiries === times);
  }

  it('is asked again and again, and kept while the carrier answers', async () => {
    for (let times = 1; times <= 5; times += 1) {
      await passDeadlines(enquireLinkMs);
      await asked(times);
      await allIsRead();
    }
    expect(smsc.sessions).toHaveLength(1);
  });

  it('is kept after one missed answer', async () => {
    smsc.onEnquire = (session, pdu) => {
      if (smsc.enquiries > 1) session.send(pdu.response());
    };
    await passDeadlines(enquireLinkMs);
    await asked(1);
    await passDeadlines(enquireTimeoutMs);
    await asked(2);
    await allIsRead();
    await passDeadlines(enquireLinkMs);
    await asked(3);
    await allIsRead();
    expect(smsc.sessions).toHaveLength(1);
  });

  it('is dropped after two, and what was written on it is unknown', async () => {
    smsc.onSubmit = () => undefined;
    smsc.onEnquire = () => undefined;
    const sent = provider.send(messageWith());
    await until('the message is submitted', () => smsc.submits.length === 2);
    await passDeadlines(enquireLinkMs);
    await asked(1);
    await passDeadlines(enquireTimeoutMs);
    await asked(2);
    await passDeadlines(enquireTimeoutMs);
    expect(await sent).toMatchObject({ outcome: 'unknown', code: 'enquire_link_timeout' });
    await smsc.bound(2);
    expect(provider.notices).toContainEqual(expect.objectContaining({ state: 'down', code: 'enquire_link_timeout' }));
  });
});
