import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../helpers/until.ts';
import { messageWith } from '../cases.ts';
import { holdDeadlines, passDeadlines, releaseDeadlines } from '../../helpers/deadlines.ts';
import { createBoundProvider, type createProvider, type TestProvider } from './create-provider.ts';
import { Smsc, textOf } from './smsc.ts';

const long = messageWith({ body: 'a'.repeat(307), segments: 3, ref: 'long' });

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

/** Answers one submit after another; those after the last are accepted. */
function answering(...answers: Array<'accept' | 'hang_up' | number>): void {
  smsc.onSubmit = (session, pdu) => {
    const answer = answers.shift() ?? 'accept';
    if (answer === 'accept') smsc.accept(session, pdu);
    else if (answer === 'hang_up') session.destroy();
    else smsc.refuse(session, pdu, answer);
  };
}

describe('a long message', () => {
  it('is accepted with the ids of all its parts', async () => {
    expect(await (await createBound()).send(long)).toEqual({
      outcome: 'accepted',
      providerMessageId: '1',
      partIds: ['1', '2', '3'],
    });
    const headers = smsc.submits.map((pdu) => (pdu['short_message'] as { udh: Buffer[] }).udh[0]?.toString('hex'));
    // The counter starts at random, here at half of all 16-bit numbers, and one of its octets is sent.
    expect(headers).toEqual(['0003010301', '0003010302', '0003010303']);
    expect(smsc.submits.map(textOf).join('')).toBe(long.body);
  });

  it('costs one part where the recipient is refused', async () => {
    answering(0x0b);
    expect(await (await createBound()).send(long)).toMatchObject({ outcome: 'rejected', class: 'invalid_recipient' });
    expect(smsc.submits).toHaveLength(1);
  });

  it('may go to the next provider while no part was accepted', async () => {
    answering(0x64);
    expect(await (await createBound()).send(long)).toMatchObject({ outcome: 'retryable', reason: 'unavailable' });
    expect(smsc.submits).toHaveLength(1);
  });

  it('fails where a part is refused after others were accepted, and says so', async () => {
    answering('accept', 0x65);
    expect(await (await createBound()).send(long)).toEqual({
      outcome: 'rejected',
      class: 'blocked',
      code: '0x65',
      message: '1 of 3 parts were accepted, then: ESME_RX_P_APPN: permanent error',
    });
    expect(smsc.submits).toHaveLength(2);
  });

  it('goes on where a part is throttled after others were accepted', async () => {
    answering('accept', 0x58, 0x14, 'accept', 0x64, 'accept');
    // The pauses and the waits between two tries end by themselves.
    releaseDeadlines();
    const sent = (await createBound({}, { pauseFirstMs: 2, pauseLongestMs: 2 })).send(long);
    expect(await sent).toMatchObject({ outcome: 'accepted', partIds: ['1', '2', '3'] });
    expect(smsc.submits).toHaveLength(6);
  });

  it('is unknown where the rest cannot be had before the deadline', async () => {
    answering('accept', ...Array<number>(1_000).fill(0x64));
    const sent = (await createBound({ timeoutMs: 60_000 })).send(long);
    await until('the second part was tried', () => smsc.submits.length >= 2);
    await passDeadlines(60_000);
    expect(await sent).toMatchObject({
      outcome: 'unknown',
      message: expect.stringContaining('1 of 3 parts were accepted'),
    });
  });

  it('is unknown where the link is lost after a part was written, and that part is not written again', async () => {
    answering('accept', 'hang_up');
    expect(await (await createBound()).send(long)).toMatchObject({ outcome: 'unknown', code: 'link_closed' });
    expect(smsc.submits).toHaveLength(2);
  });

  it('goes on over the next session where the carrier forgot this one between parts', async () => {
    answering('accept', 0x04);
    expect(await (await createBound()).send(long)).toMatchObject({ outcome: 'accepted', partIds: ['1', '2', '3'] });
    expect(smsc.sessions).toHaveLength(2);
  });

  it('has no other reference for two messages to one recipient', async () => {
    const bound = await createBound();
    await Promise.all([bound.send(long), bound.send(long)]);
    const references = smsc.submits.map((pdu) => (pdu['short_message'] as { udh: Buffer[] }).udh[0]?.[2]);
    expect(new Set(references).size).toBe(2);
  });
});
