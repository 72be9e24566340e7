import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { providerNames, type ProviderName } from '../../src/providers/provider.ts';
import { cleanUp, makeFolder } from '../helpers/embedded.ts';
import { endProcesses, ServiceProcess } from '../helpers/process.ts';
import { until } from '../helpers/until.ts';

/** Long enough for several parts on every wire; not GSM, so each part holds 67 units. */
const longText = `${'Привет! '.repeat(20)}😀`;

describe('quickstart over nine wire protocols', { timeout: 120_000, concurrent: true }, () => {
  let service: ServiceProcess;

  beforeAll(async () => {
    service = await ServiceProcess.start(path.join(await makeFolder(undefined), 'data'));
  });

  afterAll(async () => {
    await service.stop();
    await endProcesses();
    await cleanUp();
  });

  async function delivered(provider: ProviderName, body: string): Promise<void> {
    const message = await service.api.sent({ to: '+14155550123', body, provider });
    expect(message).toMatchObject({ status: 'sent', provider, attempts: 1 });
    await until(`${provider} reports`, async () => (await service.api.get(message.id)).status === 'delivered', 20_000);
  }

  it.each(providerNames)('a message by %s is sent and delivered', async (provider) => {
    await delivered(provider, `Hello through ${provider}`);
  });

  it.each(providerNames)('a long Unicode message by %s is delivered as one', async (provider) => {
    await delivered(provider, longText);
  });

  it.each(providerNames)('a message whose receipt overtakes the answer of %s is delivered', async (provider) => {
    const message = await service.api.sent({ to: '+999010110001', body: `early ${provider}`, provider });
    await until('delivered', async () => (await service.api.get(message.id)).status === 'delivered', 20_000);
  });

  it.each(providerNames)('a message that %s reports as failed is failed, and stays paid for', async (provider) => {
    const message = await service.api.sent({ to: '+999010080001', body: `failed ${provider}`, provider });
    await until('failed', async () => (await service.api.get(message.id)).status === 'failed', 20_000);
    expect(await service.api.get(message.id)).toMatchObject({ error: { code: 'delivery_failed' }, cost: message.cost });
  });

  it.each(providerNames)('when %s fails first, the next provider takes the message', async (provider) => {
    const message = await service.api.sent({ to: '+999010050001', body: `failover from ${provider}`, provider });
    expect(message.attempts).toBe(2);
    expect(message.provider).not.toBe(provider);
  });
});
