import { describe, expect, it } from 'vitest';
import { infobipStatuses } from '../../src/providers/infobip-errors.ts';
import { messageWith, nowMs } from './cases.ts';
import { describeReceipts } from './contract-receipts.ts';
import { describeAdapter } from './contract.ts';
import { infobipCases, infobipStatusesByClass } from './infobip-cases.ts';
import { infobipBodySignature, infobipTimestampSignature } from './infobip-signature.ts';
import { ref, statusOf } from './infobip-wire.ts';
import { answer, ScriptedServer } from './scripted-server.ts';

describeAdapter(infobipCases);

describe('infobip: reports of a subscription that signs their body', () => {
  describeReceipts({ ...infobipCases, ...infobipBodySignature });
});

describe('infobip: reports of a subscription that signs their time and body', () => {
  describeReceipts({ ...infobipCases, ...infobipTimestampSignature });
});

describe('infobip: sending', () => {
  it('the table of statuses has no id besides those that are tried above', () => {
    expect([...infobipStatuses.keys()].sort()).toEqual(Object.values(infobipStatusesByClass).flat().map(String).sort());
  });

  it('a repeated request is accepted, because Infobip has the message', async () => {
    const status = statusOf('REJECTED', 23);
    const server = await ScriptedServer.start(
      answer({ status: 200, body: JSON.stringify({ messages: [{ messageId: ref, status }] }) }),
    );
    const provider = infobipCases.create({
      baseUrl: server.baseUrl,
      timeoutMs: 5_000,
      clock: { now: () => nowMs },
    });
    expect(await provider.send(messageWith())).toEqual({ outcome: 'accepted', providerMessageId: ref });
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
