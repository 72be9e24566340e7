import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SendResult } from '../../../src/providers/provider.ts';
import { until } from '../../helpers/until.ts';
import { messageWith } from '../cases.ts';
import { holdDeadlines, passDeadlines, releaseDeadlines } from '../../helpers/deadlines.ts';
import { createProvider, type TestProvider } from './create-provider.ts';
import { RawSmsc } from './raw-smsc.ts';
import { Smsc, textOf } from './smsc.ts';

/** Every status a carrier answers a submit with, and what it must mean: written out by hand, not taken from the code. */
const statuses: Array<[status: number, name: string, meaning: string]> = [
  [0x58, 'ESME_RTHROTTLED', 'throttled'],
  [0x14, 'ESME_RMSGQFUL', 'throttled'],
  [0x08, 'ESME_RSYSERR', 'unavailable'],
  [0x64, 'ESME_RX_T_APPN', 'unavailable'],
  [0x04, 'ESME_RINVBNDSTS', 'unavailable'],
  [0x45, 'ESME_RSUBMITFAIL', 'unavailable'],
  [0xfe, 'ESME_RDELIVERYFAILURE', 'unavailable'],
  [0xff, 'ESME_RUNKNOWNERR', 'unavailable'],
  [0x102, 'ESME_RSERTYPUNAVAIL', 'unavailable'],
  [0x0b, 'ESME_RINVDSTADR', 'invalid_recipient'],
  [0x50, 'ESME_RINVDSTTON', 'invalid_recipient'],
  [0x51, 'ESME_RINVDSTNPI', 'invalid_recipient'],
  [0x33, 'ESME_RINVNUMDESTS', 'invalid_recipient'],
  [0x34, 'ESME_RINVDLNAME', 'invalid_recipient'],
  [0x40, 'ESME_RINVDESTFLAG', 'invalid_recipient'],
  [0x0a, 'ESME_RINVSRCADR', 'invalid_sender'],
  [0x48, 'ESME_RINVSRCTON', 'invalid_sender'],
  [0x49, 'ESME_RINVSRCNPI', 'invalid_sender'],
  [0x01, 'ESME_RINVMSGLEN', 'invalid_content'],
  [0x02, 'ESME_RINVCMDLEN', 'invalid_content'],
  [0x03, 'ESME_RINVCMDID', 'invalid_content'],
  [0x43, 'ESME_RINVESMCLASS', 'invalid_content'],
  [0x61, 'ESME_RINVSCHED', 'invalid_content'],
  [0x62, 'ESME_RINVEXPIRY', 'invalid_content'],
  [0x06, 'ESME_RINVPRTFLG', 'invalid_content'],
  [0x07, 'ESME_RINVREGDLVFLG', 'invalid_content'],
  [0x104, 'ESME_RINVDCS', 'invalid_content'],
  [0xc0, 'ESME_RINVOPTPARSTREAM', 'invalid_content'],
  [0xc1, 'ESME_ROPTPARNOTALLWD', 'invalid_content'],
  [0xc2, 'ESME_RINVPARLEN', 'invalid_content'],
  [0xc3, 'ESME_RMISSINGOPTPARAM', 'invalid_content'],
  [0xc4, 'ESME_RINVOPTPARAMVAL', 'invalid_content'],
  [0x65, 'ESME_RX_P_APPN', 'blocked'],
  [0x66, 'ESME_RX_R_APPN', 'blocked'],
  [0x101, 'ESME_RPROHIBITED', 'blocked'],
  [0x103, 'ESME_RSERTYPDENIED', 'blocked'],
  [0x0d, 'ESME_RBINDFAIL', 'credentials'],
  [0x0e, 'ESME_RINVPASWD', 'credentials'],
  [0x0f, 'ESME_RINVSYSID', 'credentials'],
  [0x05, 'ESME_RALYBND', 'credentials'],
  [0x53, 'ESME_RINVSYSTYP', 'credentials'],
  [0x15, 'ESME_RINVSERTYP', 'credentials'],
  [0x100, 'ESME_RSERTYPUNAUTH', 'credentials'],
  [0x400, "the carrier's own status 0x400", 'unsupported'],
  [0x4ff, "the carrier's own status 0x4FF", 'unsupported'],
  [0xffff_ffff, "the carrier's own status 0xFFFFFFFF", 'unsupported'],
];

const reasons: ReadonlySet<string> = new Set(['throttled', 'unavailable', 'credentials', 'unsupported']);

function resultOf(meaning: string): object {
  return reasons.has(meaning) ? { outcome: 'retryable', reason: meaning } : { outcome: 'rejected', class: meaning };
}

describe('smpp: sending', () => {
  let smsc: Smsc;
  let provider: TestProvider;

  beforeEach(async () => {
    smsc = await Smsc.start();
    provider = createProvider({ port: smsc.port }, { pauseFirstMs: 1 });
  });

  afterEach(async () => {
    await provider.close();
    await smsc.close();
  });

  it('has the name it is configured under', () => {
    expect(provider.name).toBe('smpp');
  });

  it('hands the carrier the message, and us its id', async () => {
    expect(await provider.send(messageWith({ body: 'Grüße für 5 €' }))).toEqual({
      outcome: 'accepted',
      providerMessageId: '1',
    });
    expect(smsc.submits).toHaveLength(1);
    const [submit] = smsc.submits;
    expect(submit).toMatchObject({
      service_type: '',
      source_addr_ton: 5,
      source_addr_npi: 0,
      source_addr: 'HELIO',
      dest_addr_ton: 1,
      dest_addr_npi: 1,
      destination_addr: '447700900123',
      esm_class: 0,
      protocol_id: 0,
      priority_flag: 0,
      schedule_delivery_time: '',
      validity_period: '',
      registered_delivery: 1,
      replace_if_present_flag: 0,
      data_coding: 0,
      sm_default_msg_id: 0,
    });
    expect(submit && textOf(submit)).toBe('Grüße für 5 €');
  });

  it.each(statuses)('reads the status %i, %s, as %s', async (status, name, meaning) => {
    smsc.onSubmit = (session, pdu) => smsc.refuse(session, pdu, status);
    const result = (await provider.send(messageWith())) as Extract<SendResult, { code: string }>;
    expect(result).toMatchObject(resultOf(meaning));
    expect(result.code).toBe(`0x${status.toString(16).toUpperCase().padStart(2, '0')}`);
    expect(result.message).toContain(name);
    expect(smsc.submits).toHaveLength(1);
  });

  it("reads the carrier's own statuses, and SMPP's, as the bind says", async () => {
    const statusClasses = {
      '0x40B': 'billing',
      '1036': 'opt_out',
      '0x45': 'invalid_recipient',
      '0x40d': 'throttled',
    } as const;
    const bound = createProvider({ port: smsc.port, statusClasses }, { pauseFirstMs: 1 });
    const meanings: Array<[number, object]> = [
      [0x40b, { outcome: 'rejected', class: 'billing', code: '0x40B' }],
      [1036, { outcome: 'rejected', class: 'blocked', optOut: true, code: '0x40C' }],
      [0x45, { outcome: 'rejected', class: 'invalid_recipient', code: '0x45' }],
      [0x40d, { outcome: 'retryable', reason: 'throttled', code: '0x40D' }],
    ];
    for (const [status, expected] of meanings) {
      smsc.onSubmit = (session, pdu) => smsc.refuse(session, pdu, status);
      expect(await bound.send(messageWith())).toMatchObject(expected);
    }
    await bound.close();
  });

  it('accepts without an id where the carrier names none', async () => {
    smsc.onSubmit = (session, pdu) => smsc.accept(session, pdu, '');
    // An id made of the reference, which it does not tell.
    expect(await provider.send(messageWith({ ref: 'our-ref' }))).toEqual({
      outcome: 'accepted',
      providerMessageId: 'sQ-JFeiVWX6krTMiAIkfdQ',
    });
  });

  it('sends many messages over one bind', async () => {
    const sent = await Promise.all(Array.from({ length: 50 }, () => provider.send(messageWith())));
    expect(new Set(sent.map((result) => result.outcome))).toEqual(new Set(['accepted']));
    expect(smsc.sessions).toHaveLength(1);
  });

  it('takes nothing by HTTP for a receipt', () => {
    expect(
      provider.readReceipts({ method: 'POST', url: 'https://x.example/', headers: {}, rawBody: Buffer.from('id:1') }),
    ).toMatchObject({ ok: false, problem: 'forged' });
  });
});

/** Whatever the bind was refused for, it is not tried again while the message waits. */
const noSecondTry = { reconnectFirstMs: 60_000, reconnectLongestMs: 60_000 };

type SendOnceOptions = {
  timing?: Parameters<typeof createProvider>[1];
  passMs?: number;
  isReached?: () => boolean;
};

/** Sends one message; `passMs` go by once `isReached` says so. */
async function sendOnce(
  settings: Parameters<typeof createProvider>[0],
  { timing = {}, passMs = 0, isReached = () => true }: SendOnceOptions = {},
): Promise<SendResult> {
  const provider = createProvider(settings, { ...noSecondTry, ...timing });
  const sent = provider.send(messageWith());
  await until('the send has come so far', isReached);
  if (passMs > 0) await passDeadlines(passMs);
  const result = await sent;
  releaseDeadlines();
  await provider.close();
  return result;
}

describe('smpp: faults', () => {
  holdDeadlines();

  const unavailable = { outcome: 'retryable', reason: 'unavailable' };

  it('is retryable when the connection is refused', async () => {
    const smsc = await Smsc.start();
    const { port } = smsc;
    await smsc.close();
    expect(await sendOnce({ port })).toMatchObject({ ...unavailable, code: 'ECONNREFUSED' });
  });

  it('is retryable when the host does not exist', async () => {
    // Some machines look for it until the time is up.
    expect(await sendOnce({ host: 'upstream.invalid', port: 2775 }, { passMs: 10_000 })).toMatchObject(unavailable);
  });

  it('is retryable when TLS never gets past its greeting', async () => {
    const smsc = await RawSmsc.start();
    const timing = { connectTimeoutMs: 5_000 };
    const isReached = () => smsc.sockets.length > 0;
    expect(await sendOnce({ port: smsc.port, tls: {} }, { timing, passMs: 5_000, isReached })).toMatchObject({
      ...unavailable,
      code: 'connect_timeout',
    });
    await smsc.close();
  });

  it('is retryable when the bind is not answered', async () => {
    const smsc = await Smsc.start();
    smsc.onBind = () => undefined;
    const timing = { bindTimeoutMs: 5_000 };
    const isReached = () => smsc.binds.length > 0;
    expect(await sendOnce({ port: smsc.port }, { timing, passMs: 5_000, isReached })).toMatchObject({
      ...unavailable,
      code: 'bind_timeout',
    });
    expect(smsc.submits).toEqual([]);
    await smsc.close();
  });

  it('is retryable when the deadline passes before the bind stands', async () => {
    const smsc = await Smsc.start();
    smsc.onBind = () => undefined;
    const isReached = () => smsc.binds.length > 0;
    expect(await sendOnce({ port: smsc.port, timeoutMs: 5_000 }, { passMs: 5_000, isReached })).toMatchObject({
      ...unavailable,
      code: 'not_bound',
    });
    await smsc.close();
  });

  it.each([
    [0x0e, 'credentials', '0x0E'],
    [0x0f, 'credentials', '0x0F'],
    [0x0d, 'credentials', '0x0D'],
    [0x05, 'unavailable', '0x05'],
    [0x08, 'unavailable', '0x08'],
    [0x58, 'unavailable', '0x58'],
  ])('is retryable when the bind is refused with the status %i: %s', async (status, reason, code) => {
    const smsc = await Smsc.start();
    smsc.onBind = (session, pdu) => smsc.refuse(session, pdu, status);
    expect(await sendOnce({ port: smsc.port })).toMatchObject({ outcome: 'retryable', reason, code });
    await smsc.close();
  });

  it('is unknown when the message was taken and no answer comes before the deadline', async () => {
    const smsc = await Smsc.start();
    smsc.onSubmit = () => undefined;
    const timing = { drainTimeoutMs: 10 };
    const isReached = () => smsc.submits.length > 0;
    expect(await sendOnce({ port: smsc.port, timeoutMs: 5_000 }, { timing, passMs: 5_000, isReached })).toMatchObject({
      outcome: 'unknown',
      code: 'deadline',
    });
    expect(smsc.submits).toHaveLength(1);
    await smsc.close();
  });

  it('is unknown when the message was taken and the link is lost', async () => {
    const smsc = await Smsc.start();
    smsc.onSubmit = (session) => session.destroy();
    expect(await sendOnce({ port: smsc.port })).toMatchObject({ outcome: 'unknown', code: 'link_closed' });
    expect(smsc.submits).toHaveLength(1);
    await smsc.close();
  });
});
