import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AsyncOptOut, AsyncReceipt } from '../../../src/providers/provider.ts';
import { until } from '../../helpers/until.ts';
import { messageWith } from '../cases.ts';
import { holdDeadlines, passDeadlines, releaseDeadlines } from '../../helpers/deadlines.ts';
import { createProvider, type TestProvider } from './create-provider.ts';
import { Smsc } from './smsc.ts';

const receipt = {
  esm_class: 4,
  source_addr_ton: 1,
  source_addr: '447700900123',
  destination_addr: 'HELIO',
  short_message: Buffer.from(
    'id:0123456789 sub:001 dlvrd:001 submit date:2601011200 done date:2601011201 stat:DELIVRD err:000 text:hello',
  ),
};

const stop = {
  esm_class: 0,
  source_addr: '447700900123',
  destination_addr: '40404',
  short_message: Buffer.from('Stop'),
};

const storeTimeoutMs = 10_000;

describe('reports over the bind', () => {
  holdDeadlines();

  let smsc: Smsc;
  let provider: TestProvider;

  beforeEach(async () => {
    smsc = await Smsc.start();
    provider = createProvider({ port: smsc.port }, { storeTimeoutMs });
  });

  afterEach(async () => {
    releaseDeadlines();
    await provider.close();
    await smsc.close();
  });

  it('tell of a receipt, and are acknowledged only once it is stored', async () => {
    const told: AsyncReceipt[] = [];
    const stored = Promise.withResolvers<void>();
    provider.reports.onReceipt((each) => {
      told.push(each);
      return stored.promise;
    });
    const session = await smsc.bound();
    const acknowledged = smsc.deliver(receipt);
    // The answer to this enquiry comes after whatever the receipt has caused.
    const answered = new Promise((resolve) => void session.enquire_link({}, () => resolve('the enquiry')));
    expect(await Promise.race([acknowledged, answered])).toBe('the enquiry');
    stored.resolve();
    expect(await acknowledged).toBe(0);
    expect(told).toMatchObject([{ providerMessageId: '0123456789', state: 'delivered', recipient: '+447700900123' }]);
  });

  it('are asked for again where storing fails', async () => {
    let failures = 2;
    provider.reports.onReceipt(() => (failures-- > 0 ? Promise.reject(new Error('database away')) : Promise.resolve()));
    expect(await smsc.deliver(receipt)).toBe(0x08);
    expect(await smsc.deliver(receipt)).toBe(0x08);
    expect(await smsc.deliver(receipt)).toBe(0);
  });

  it('are asked for again where storing takes too long, or throws', async () => {
    let isTold = false;
    provider.reports.onReceipt(() => {
      isTold = true;
      return new Promise(() => undefined);
    });
    const answer = smsc.deliver(receipt);
    await until('the receipt is told', () => isTold);
    await passDeadlines(storeTimeoutMs);
    expect(await answer).toBe(0x08);
    provider.reports.onReceipt(() => {
      throw new Error('a bug');
    });
    expect(await smsc.deliver(receipt)).toBe(0x08);
  });

  it('are asked for again while nobody stores them', async () => {
    await provider.send(messageWith());
    expect(await smsc.deliver(receipt)).toBe(0x08);
  });

  it('may come as data_sm', async () => {
    const told: string[] = [];
    provider.reports.onReceipt(async (each) => void told.push(each.providerMessageId));
    const session = await smsc.bound();
    const status = await new Promise((resolve) => {
      session.data_sm({ esm_class: 4, data_coding: 0, receipted_message_id: '99', message_state: 2 }, (answer) =>
        resolve(answer.command_status),
      );
    });
    expect(status).toBe(0);
    expect(told).toEqual(['99']);
  });

  it('tell of an opt-out, and are acknowledged only once it is stored', async () => {
    const told: AsyncOptOut[] = [];
    let isStored = false;
    provider.reports.onReceipt(() => Promise.resolve());
    provider.reports.onOptOut(async (each) => {
      told.push(each);
      if (!isStored) throw new Error('database away');
    });
    expect(await smsc.deliver(stop)).toBe(0x08);
    isStored = true;
    expect(await smsc.deliver(stop)).toBe(0);
    expect(told.at(-1)).toEqual({ recipient: '+447700900123', sender: '40404', keyword: 'STOP' });
  });

  it('acknowledge what subscribers write, and keep none of it', async () => {
    const told: unknown[] = [];
    provider.reports.onReceipt(async (each) => void told.push(each));
    provider.reports.onOptOut(async (each) => void told.push(each));
    expect(await smsc.deliver({ ...stop, short_message: Buffer.from('Hello there') })).toBe(0);
    expect(await smsc.deliver({ ...receipt, esm_class: 0 })).toBe(0);
    expect(told).toEqual([]);
  });

  it('acknowledge an opt-out where nobody keeps a list', async () => {
    provider.reports.onReceipt(() => Promise.resolve());
    expect(await smsc.deliver(stop)).toBe(0);
  });

  it('are bounded in number: more at a time are asked for again later', async () => {
    const stores: Array<() => void> = [];
    const patient = createProvider({ port: smsc.port }, { storeTimeoutMs });
    patient.reports.onReceipt(() => new Promise((resolve) => void stores.push(resolve)));
    await smsc.bound();
    const answers = Array.from({ length: 510 }, () => smsc.deliver(receipt));
    // The ten beyond the limit are answered first.
    expect(await Promise.race(answers.map((answer) => answer))).toBe(0x14);
    for (const store of stores) store();
    const statuses = await Promise.all(answers);
    expect(statuses.filter((status) => status === 0x14)).toHaveLength(10);
    expect(statuses.filter((status) => status === 0)).toHaveLength(500);
    await patient.close();
  });
});
