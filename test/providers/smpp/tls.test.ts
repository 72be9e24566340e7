import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SendResult } from '../../../src/providers/provider.ts';
import type { SmppSettings } from '../../../src/providers/smpp/settings.ts';
import { messageWith } from '../cases.ts';
import { createProvider } from './create-provider.ts';
import { Smsc } from './smsc.ts';
import { tlsIdentity } from './tls-identity.ts';

describe('TLS', () => {
  let smsc: Smsc;

  beforeEach(async () => {
    smsc = await Smsc.start({ key: tlsIdentity.key, cert: tlsIdentity.cert });
  });

  afterEach(() => smsc.close());

  async function send(tls: SmppSettings['tls']): Promise<SendResult> {
    const provider = createProvider({ port: smsc.port, tls }, { reconnectFirstMs: 60_000, reconnectLongestMs: 60_000 });
    const result = await provider.send(messageWith());
    await provider.close();
    return result;
  }

  const refused = { outcome: 'retryable', reason: 'unavailable' };

  it('carries messages to a carrier whose authority is configured, by its address or its name', async () => {
    expect(await send({ ca: tlsIdentity.ca })).toMatchObject({ outcome: 'accepted' });
    expect(await send({ ca: tlsIdentity.ca, serverName: 'smsc.example' })).toMatchObject({ outcome: 'accepted' });
  });

  it('is refused to a certificate that no authority we trust has signed', async () => {
    expect(await send({})).toMatchObject({ ...refused, code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
    expect(smsc.binds).toEqual([]);
  });

  it('is refused to a certificate for another name', async () => {
    expect(await send({ ca: tlsIdentity.ca, serverName: 'other.example' })).toMatchObject({
      ...refused,
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    expect(smsc.binds).toEqual([]);
  });

  it('is not left out where the carrier speaks none', async () => {
    const plain = await Smsc.start();
    const provider = createProvider(
      { port: plain.port, tls: { ca: tlsIdentity.ca } },
      { reconnectFirstMs: 60_000, reconnectLongestMs: 60_000 },
    );
    expect(await provider.send(messageWith())).toMatchObject(refused);
    expect(plain.binds).toEqual([]);
    await provider.close();
    await plain.close();
  });
});
