import { describe, expect, it } from 'vitest';
import { createInfobipProvider } from '../../src/providers/infobip.ts';
import { infobipStatuses } from '../../src/providers/infobip-errors.ts';
import { messageWith, nowMs } from './cases.ts';
import { describeReceipts } from './contract-receipts.ts';
import { describeAdapter } from './contract.ts';
import { infobipCases, infobipStatusesByClass } from './infobip-cases.ts';
import { infobipBodySignature, infobipTimestampSignature } from './infobip-signature.ts';
import { infobipSettings, messageId, reportOf, results, statusOf } from './infobip-wire.ts';
import { answer, ScriptedServer } from './scripted-server.ts';

describeAdapter(infobipCases);

describe('infobip: reports of a subscription that signs their body', () => {
  describeReceipts({ ...infobipCases, ...infobipBodySignature });
});

describe('infobip: reports of a subscription that signs their time and body', () => {
  describeReceipts({ ...infobipCases, ...infobipTimestampSignature });
});

describe('infobip: a report that the operator has the message', () => {
  const report = results(reportOf(statusOf('DELIVERED', 2)));
  const { callbackUrl: url } = messageWith();

  it('is not the last word where handset receipts follow', async () => {
    const settings = { ...infobipSettings, deliveredToOperatorIsDelivered: false };
    const provider = createInfobipProvider(settings, { clock: { now: () => nowMs } });
    const read = (content: string) =>
      provider.readReceipts({ method: 'POST', url, headers: {}, rawBody: Buffer.from(content) });
    expect(read(report)).toMatchObject({ ok: true, receipts: [{ providerMessageId: messageId, state: 'sent' }] });
    expect(read(results(reportOf(statusOf('DELIVERED', 5))))).toMatchObject({ receipts: [{ state: 'delivered' }] });
    await provider.close();
  });
});

describe('infobip: sending', () => {
  it('gives an id that does not tell the reference, on which the URL of receipts rests', async () => {
    const server = await ScriptedServer.start(answer(infobipCases.accepted.answer));
    const provider = infobipCases.create({ baseUrl: server.baseUrl, timeoutMs: 5_000, clock: { now: () => nowMs } });
    for (const ref of ['one', 'one', 'two']) await provider.send(messageWith({ ref }));
    const ids = server.requests.map(({ body }) => String(/"messageId":"([^"]+)"/.exec(body)?.[1]));
    expect(ids[0]).toMatch(/^[\w-]{22}$/);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
    await provider.close();
    await server.close();
  });

  it('the table of statuses has no id besides those that are tried above', () => {
    expect([...infobipStatuses.keys()].sort()).toEqual(Object.values(infobipStatusesByClass).flat().map(String).sort());
  });

  it('a repeated request is accepted, because Infobip has the message', async () => {
    const status = statusOf('REJECTED', 23);
    const server = await ScriptedServer.start(
      answer({ status: 200, body: JSON.stringify({ messages: [{ messageId, status }] }) }),
    );
    const provider = infobipCases.create({
      baseUrl: server.baseUrl,
      timeoutMs: 5_000,
      clock: { now: () => nowMs },
    });
    expect(await provider.send(messageWith())).toEqual({ outcome: 'accepted', providerMessageId: messageId });
    await provider.close();
    await server.close();
  });

  it('can be asked about an attempt by our reference alone', async () => {
    const server = await ScriptedServer.start(
      answer({ status: 200, body: results(reportOf(statusOf('PENDING', 26))) }),
    );
    const provider = infobipCases.create({ baseUrl: server.baseUrl, timeoutMs: 5_000, clock: { now: () => nowMs } });
    expect(await provider.lookUpRef?.(messageWith().ref)).toEqual({
      outcome: 'found',
      receipt: { providerMessageId: messageId, state: 'sent' },
    });
    expect(server.requests).toMatchObject([{ method: 'GET', path: `/sms/3/logs?messageId=${messageId}` }]);
    await provider.close();
    await server.close();
  });

  it('gives no URL with a message whose reports come from a subscription', async () => {
    const server = await ScriptedServer.start(answer(infobipCases.accepted.answer));
    const provider = infobipBodySignature.create({
      baseUrl: server.baseUrl,
      timeoutMs: 5_000,
      clock: { now: () => nowMs },
    });
    expect(provider.receiptsByMessageId).toBe(true);
    await provider.send(messageWith());
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({
      messages: [
        { webhooks: { delivery: { intermediateReport: false, notify: true }, callbackData: messageWith().ref } },
      ],
    });
    expect(server.requests[0]?.body).not.toContain('url');
    await provider.close();
    await server.close();
  });
});
