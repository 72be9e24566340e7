import type { PDU, Session } from 'smpp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LateAcceptance, SendResult } from '../../../src/providers/provider.ts';
import { until } from '../../helpers/until.ts';
import { messageWith } from '../cases.ts';
import { holdDeadlines, passDeadlines, releaseDeadlines } from '../../helpers/deadlines.ts';
import { createBoundProvider, type createProvider, type TestProvider } from './create-provider.ts';
import { Smsc, textOf } from './smsc.ts';

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

async function createBound(
  changes: Partial<Parameters<typeof createProvider>[0]> = {},
  timing: Parameters<typeof createProvider>[1] = {},
): Promise<TestProvider> {
  provider = await createBoundProvider({ port: smsc.port, ...changes }, { drainTimeoutMs: 100, ...timing });
  return provider;
}

/** Submits that the carrier has taken and not answered, oldest first. */
function holdSubmits(): Array<{ session: Session; pdu: PDU }> {
  const held: Array<{ session: Session; pdu: PDU }> = [];
  smsc.onSubmit = (session, pdu) => void held.push({ session, pdu });
  return held;
}

function releaseAll(held: Array<{ session: Session; pdu: PDU }>): void {
  for (const { session, pdu } of held.splice(0)) smsc.accept(session, pdu);
  smsc.onSubmit = (session, pdu) => smsc.accept(session, pdu);
}

/** The answers to enquiries of the carrier's: what either side wrote before them has been read. */
function enquire(): Promise<PDU[]> {
  return Promise.all(
    smsc.sessions.map((session) => new Promise<PDU>((resolve) => void session.enquire_link({}, resolve))),
  );
}

describe('the window', () => {
  it('is never exceeded, and is kept full', async () => {
    let unanswered = 0;
    let most = 0;
    smsc.onSubmit = (session, pdu) => {
      unanswered += 1;
      most = Math.max(most, unanswered);
      setImmediate(() => {
        unanswered -= 1;
        smsc.accept(session, pdu);
      });
    };
    const narrow = await createBound({ window: 3 });
    const sent = await Promise.all(Array.from({ length: 60 }, () => narrow.send(messageWith())));
    expect(sent.every((result) => result.outcome === 'accepted')).toBe(true);
    expect(most).toBe(3);
  });

  it('of one keeps the order of the messages', async () => {
    const ordered = await createBound({ window: 1 });
    const bodies = Array.from({ length: 20 }, (_, index) => `message ${index}`);
    await Promise.all(bodies.map((body) => ordered.send(messageWith({ body }))));
    expect(smsc.submits.map(textOf)).toEqual(bodies);
  });

  it('lets a message wait for its turn, but not for ever: it goes to the next provider', async () => {
    const held = holdSubmits();
    const narrow = await createBound({ window: 1, waitTimeoutMs: 2_000 });
    const first = narrow.send(messageWith());
    await until('a message is submitted', () => held.length === 1);
    const second = narrow.send(messageWith());
    await passDeadlines(2_000);
    expect(await second).toMatchObject({
      outcome: 'retryable',
      reason: 'throttled',
      code: 'no_turn',
    });
    const third = narrow.send(messageWith());
    releaseAll(held);
    expect(await first).toMatchObject({ outcome: 'accepted' });
    expect(await third).toMatchObject({ outcome: 'accepted' });
    expect(smsc.submits).toHaveLength(2);
  });

  it('has a bounded queue before it', async () => {
    const held = holdSubmits();
    const narrow = await createBound({ window: 1, waitingMax: 2 });
    const sent = [narrow.send(messageWith())];
    await until('a message is submitted', () => held.length === 1);
    sent.push(narrow.send(messageWith()), narrow.send(messageWith()));
    expect(await narrow.send(messageWith())).toMatchObject({
      outcome: 'retryable',
      reason: 'throttled',
      code: 'queue_full',
    });
    releaseAll(held);
    for (const result of await Promise.all(sent)) expect(result.outcome).toBe('accepted');
  });

  it('gets its room back when the carrier never answers', async () => {
    holdSubmits();
    const narrow = await createBound({ window: 1, timeoutMs: 1_000, responseTimeoutMs: 3_000, waitTimeoutMs: 5_000 });
    const first = narrow.send(messageWith());
    await passDeadlines(1_000);
    expect(await first).toMatchObject({ outcome: 'unknown', code: 'deadline' });
    // The place is still taken: the carrier may be working on it.
    const second = narrow.send(messageWith());
    await passDeadlines(1_000);
    expect(await second).toMatchObject({ outcome: 'retryable', reason: 'throttled' });
    smsc.onSubmit = (session, pdu) => smsc.accept(session, pdu);
    await passDeadlines(1_000);
    expect(await narrow.send(messageWith())).toMatchObject({ outcome: 'accepted' });
  });
});

describe('a lost link', () => {
  it('leaves everything that was written unknown, at once, and nothing else', async () => {
    const held = holdSubmits();
    const bound = await createBound({ window: 4, responseTimeoutMs: 60_000 });
    const sent = Array.from({ length: 10 }, () => bound.send(messageWith()));
    await until('the window is full', () => held.length === 4);
    smsc.onSubmit = (session, pdu) => smsc.accept(session, pdu);
    held[0]?.session.destroy();
    const results = await Promise.all(sent);
    expect(results.slice(0, 4).map((result) => result.outcome)).toEqual(Array(4).fill('unknown'));
    // What was still waiting goes out on the next session.
    expect(results.slice(4).map((result) => result.outcome)).toEqual(Array(6).fill('accepted'));
    expect(smsc.submits).toHaveLength(10);
  });

  it('hands what was waiting to the next provider where it does not come back soon', async () => {
    const held = holdSubmits();
    const bound = await createBound({ window: 1 }, { reconnectFirstMs: 60_000, reconnectLongestMs: 60_000 });
    const sent = [bound.send(messageWith()), bound.send(messageWith())];
    await until('a message is submitted', () => held.length === 1);
    held[0]?.session.destroy();
    expect(await Promise.all(sent)).toMatchObject([
      { outcome: 'unknown', code: 'link_closed' },
      { outcome: 'retryable', reason: 'unavailable', code: 'link_closed' },
    ]);
  });
});

describe('a message accepted after its deadline', () => {
  it('is told of by its ref, with the ids its receipts will name', async () => {
    const late: LateAcceptance[] = [];
    const held = holdSubmits();
    const slow = await createBound({ timeoutMs: 1_000 });
    slow.reports.onLateAcceptance((acceptance) => void late.push(acceptance));
    const sent = slow.send(messageWith({ ref: 'ref-1' }));
    await until('the message is submitted', () => held.length === 1);
    await passDeadlines(1_000);
    expect(await sent).toMatchObject({ outcome: 'unknown', code: 'deadline' });
    expect(late).toEqual([]);
    releaseAll(held);
    await until('the late acceptance is told', () => late.length === 1);
    expect(late).toEqual([{ ref: 'ref-1', providerMessageId: '1' }]);
  });

  it('is not told of where it was refused in the end, or only some of its parts are out', async () => {
    const late: LateAcceptance[] = [];
    const held = holdSubmits();
    const slow = await createBound({ timeoutMs: 1_000 });
    slow.reports.onLateAcceptance((acceptance) => void late.push(acceptance));
    const sent = [
      slow.send(messageWith({ ref: 'refused' })),
      slow.send(messageWith({ ref: 'partly', body: 'a'.repeat(161) })),
      slow.send(messageWith({ ref: 'whole' })),
    ];
    await until('all three are submitted', () => held.length === 3);
    await passDeadlines(1_000);
    for (const result of await Promise.all(sent)) expect(result.outcome).toBe('unknown');
    const [refused, partly, whole] = held;
    if (refused) smsc.refuse(refused.session, refused.pdu, 0x0b);
    if (partly) smsc.accept(partly.session, partly.pdu);
    if (whole) smsc.accept(whole.session, whole.pdu);
    await until('a late acceptance is told', () => late.length > 0);
    expect(late.map(({ ref }) => ref)).toEqual(['whole']);
  });
});

describe('a throttled bind', () => {
  it('says so, pauses, and is tried again after the pause', async () => {
    let throttles = true;
    smsc.onSubmit = (session, pdu) => (throttles ? smsc.refuse(session, pdu, 0x58) : smsc.accept(session, pdu));
    const paused = await createBound({}, { pauseFirstMs: 1_000 });
    expect(await paused.send(messageWith())).toMatchObject({ outcome: 'retryable', reason: 'throttled', code: '0x58' });
    throttles = false;
    const sent = paused.send(messageWith());
    await passDeadlines(999);
    await enquire();
    expect(smsc.submits).toHaveLength(1);
    await passDeadlines(1);
    expect(await sent).toMatchObject({ outcome: 'accepted' });
  });

  it('takes nothing where the pause is longer than a message may wait, and says how long', async () => {
    smsc.onSubmit = (session, pdu) => smsc.refuse(session, pdu, 0x14);
    const paused = await createBound({ waitTimeoutMs: 2_000 }, { pauseFirstMs: 5_000 });
    await paused.send(messageWith());
    expect(await paused.send(messageWith())).toMatchObject({
      outcome: 'retryable',
      reason: 'throttled',
      code: 'paused',
      retryAfterMs: 5_000,
    });
    expect(smsc.submits).toHaveLength(1);
  });

  it('hands on what was waiting when a long pause begins', async () => {
    const held = holdSubmits();
    const paused = await createBound(
      { window: 1, waitTimeoutMs: 2_000 },
      { pauseFirstMs: 60_000, pauseLongestMs: 60_000 },
    );
    const sent = [paused.send(messageWith()), paused.send(messageWith())];
    await until('a message is submitted', () => held.length === 1);
    for (const { session, pdu } of held) smsc.refuse(session, pdu, 0x58);
    const results: SendResult[] = await Promise.all(sent);
    expect(results.map((result) => 'code' in result && result.code)).toEqual(['0x58', 'paused']);
  });

  it('still answers the carrier', async () => {
    smsc.onSubmit = (session, pdu) => smsc.refuse(session, pdu, 0x58);
    const paused = await createBound({}, { pauseFirstMs: 60_000, pauseLongestMs: 60_000 });
    await paused.send(messageWith());
    expect(await enquire()).toMatchObject([{ command: 'enquire_link_resp', command_status: 0 }]);
  });
});

describe('the rate of the contract', () => {
  it('is kept over all sessions', async () => {
    const paced = await createBound({ ratePerSecond: 100, sessions: 2 });
    await smsc.bound(2);
    const sent = Array.from({ length: 40 }, () => paced.send(messageWith()));
    // Ten at once from a full bucket, then one every ten milliseconds.
    for (let submitted = 10; submitted <= 40; submitted += 1) {
      await until('the next one is submitted', () => smsc.submits.length >= submitted);
      await enquire();
      expect(smsc.submits).toHaveLength(submitted);
      await passDeadlines(10);
    }
    for (const result of await Promise.all(sent)) expect(result.outcome).toBe('accepted');
  });

  it('hands on what it cannot carry in time', async () => {
    const paced = await createBound({ ratePerSecond: 1, waitTimeoutMs: 500 });
    const sent = [paced.send(messageWith()), paced.send(messageWith())];
    await passDeadlines(500);
    expect(await Promise.all(sent)).toMatchObject([
      { outcome: 'accepted' },
      { outcome: 'retryable', reason: 'throttled', code: 'no_turn' },
    ]);
  });
});
