import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../helpers/until.ts';
import { messageWith } from '../cases.ts';
import { createBoundProvider, createProvider } from './create-provider.ts';
import { RawSmsc } from './raw-smsc.ts';
import { Smsc } from './smsc.ts';

describe('closing', () => {
  let smsc: Smsc;

  beforeEach(async () => {
    smsc = await Smsc.start();
  });

  afterEach(() => smsc.close());

  it('lets running messages end, all their parts included, then unbinds every session', async () => {
    const answers: Array<() => void> = [];
    smsc.onSubmit = (session, pdu) => void answers.push(() => smsc.accept(session, pdu));
    const provider = createProvider({ port: smsc.port, sessions: 2 });
    const short = provider.send(messageWith());
    const long = provider.send(messageWith({ body: 'a'.repeat(307) }));
    await until('both messages are submitted', () => answers.length === 2);
    await smsc.bound(2);
    const closed = provider.close();
    expect(smsc.unbinds).toBe(0);
    for (let part = 0; part < 4; part += 1) {
      await until('the next part is submitted', () => answers.length > 0);
      answers.shift()?.();
    }
    expect(await short).toMatchObject({ outcome: 'accepted' });
    expect(await long).toMatchObject({ outcome: 'accepted' });
    await closed;
    expect(smsc.unbinds).toBe(2);
    expect(smsc.submits).toHaveLength(4);
  });

  it('takes nothing more', async () => {
    const provider = createProvider({ port: smsc.port });
    await provider.send(messageWith());
    const closed = provider.close();
    const refused = { outcome: 'retryable', reason: 'unavailable', code: 'closed' };
    expect(await provider.send(messageWith())).toMatchObject(refused);
    await closed;
    expect(await provider.send(messageWith())).toMatchObject(refused);
    expect(smsc.submits).toHaveLength(1);
    expect(smsc.binds).toHaveLength(1);
  });

  it('waits for what is being stored, and acknowledges it', async () => {
    const stored = Promise.withResolvers<void>();
    const provider = createProvider({ port: smsc.port });
    provider.reports.onReceipt(() => stored.promise);
    const session = await smsc.bound();
    const answer = smsc.deliver({ esm_class: 4, short_message: Buffer.from('id:1 stat:DELIVRD') });
    await new Promise((resolve) => void session.enquire_link({}, resolve));
    const closed = provider.close();
    await new Promise((resolve) => void session.enquire_link({}, resolve));
    expect(smsc.unbinds).toBe(0);
    stored.resolve();
    expect(await answer).toBe(0);
    await closed;
    expect(smsc.unbinds).toBe(1);
  });

  it('waits for answers that are overdue, and tells of them', async () => {
    const late: string[] = [];
    const answers: Array<() => void> = [];
    smsc.onSubmit = (session, pdu) => void answers.push(() => smsc.accept(session, pdu));
    const provider = await createBoundProvider({ port: smsc.port, timeoutMs: 50 });
    provider.reports.onLateAcceptance(({ ref }) => void late.push(ref));
    expect(await provider.send(messageWith({ ref: 'overdue' }))).toMatchObject({ outcome: 'unknown' });
    const closed = provider.close();
    await new Promise((resolve) => void smsc.sessions[0]?.enquire_link({}, resolve));
    expect(smsc.unbinds).toBe(0);
    answers[0]?.();
    await closed;
    expect(late).toEqual(['overdue']);
    expect(smsc.unbinds).toBe(1);
  });

  it('does not wait for ever: what stays unanswered is unknown', async () => {
    smsc.onSubmit = () => undefined;
    const provider = createProvider({ port: smsc.port }, { drainTimeoutMs: 50 });
    const sent = provider.send(messageWith());
    await until('the message is submitted', () => smsc.submits.length === 1);
    await provider.close();
    expect(await sent).toMatchObject({ outcome: 'unknown' });
  });

  it('does not wait for a carrier that leaves the unbind unanswered', async () => {
    smsc.onUnbind = () => undefined;
    const provider = createProvider({ port: smsc.port }, { unbindTimeoutMs: 30 });
    await provider.send(messageWith());
    await provider.close();
    expect(smsc.unbinds).toBe(1);
  });

  it('is clean where the carrier answers the unbind by closing', async () => {
    smsc.onUnbind = (session) => session.destroy();
    const provider = createProvider({ port: smsc.port });
    await provider.send(messageWith());
    await provider.close();
  });

  it.each(['connecting', 'binding', 'waiting to bind again'])('ends a bind that is %s', async (stage) => {
    const raw = await RawSmsc.start();
    raw.onFrame = (socket) => {
      if (stage !== 'binding') socket.destroy();
    };
    const provider = createProvider(
      { port: raw.port, ...(stage === 'connecting' ? { tls: {} } : {}) },
      { reconnectFirstMs: 60_000, reconnectLongestMs: 60_000, drainTimeoutMs: 50 },
    );
    const sent = provider.send(messageWith());
    if (stage === 'connecting') await until('the connection is made', () => raw.sockets.length === 1);
    else await until('the bind is asked for', () => raw.frames.length === 1);
    if (stage === 'waiting to bind again')
      await until('the state of the bind is told', () => provider.notices.length === 1);
    await provider.close();
    expect(await sent).toMatchObject({ outcome: 'retryable', reason: 'unavailable' });
    await raw.close();
  });

  it('twice is once', async () => {
    const provider = createProvider({ port: smsc.port });
    await provider.send(messageWith());
    await Promise.all([provider.close(), provider.close()]);
    expect(smsc.unbinds).toBe(1);
  });
});
