import { createHmac } from 'node:crypto';
import { createInfobipProvider } from '../../src/providers/infobip.ts';
import { nowMs, type AdapterCases } from './cases.ts';
import { infobipSettings } from './infobip-wire.ts';

const secret = 'a-secret-of-the-subscription';
const timestampHeader = 'X-Ib-Exchange-Req-Timestamp';

type Signature = Pick<AdapterCases, 'create' | 'sign' | 'forgeries'>;

/** Reports of a subscription that signs the body alone. */
export const infobipBodySignature: Signature = {
  create: ({ baseUrl, timeoutMs, clock }) =>
    createInfobipProvider(
      {
        ...infobipSettings,
        baseUrl,
        timeoutMs,
        receiptSignature: { secret, header: 'X-Signature', prefix: 'SHA256=', algorithm: 'sha256' },
      },
      { clock },
    ),
  sign: ({ rawBody }) => ({ 'x-signature': `SHA256=${createHmac('sha256', secret).update(rawBody).digest('hex')}` }),
  forgeries: [
    {
      title: 'a signature without its prefix',
      forge: (receipt) => ({
        ...receipt,
        headers: { 'x-signature': String(receipt.headers['x-signature']).slice('SHA256='.length) },
      }),
    },
    {
      title: 'a signature under another secret',
      forge: (receipt) => ({
        ...receipt,
        headers: { 'x-signature': `SHA256=${createHmac('sha256', 'another').update(receipt.rawBody).digest('hex')}` },
      }),
    },
  ],
};

function timestampSignature(rawBody: Buffer, timestamp: string): Record<string, string> {
  const signature = createHmac('sha512', secret).update(timestamp).update(rawBody).digest('hex');
  return { [timestampHeader.toLowerCase()]: timestamp, 'x-ib-exchange-req-signature': signature };
}

function resigned(title: string, timestamp: string): AdapterCases['forgeries'][number] {
  return {
    title,
    forge: (receipt) => ({ ...receipt, headers: timestampSignature(receipt.rawBody, timestamp) }),
  };
}

const hourMs = 60 * 60 * 1_000;

/** Reports of a subscription that signs the time and the body. */
export const infobipTimestampSignature: Signature = {
  create: ({ baseUrl, timeoutMs, clock }) =>
    createInfobipProvider(
      {
        ...infobipSettings,
        baseUrl,
        timeoutMs,
        receiptSignature: {
          secret,
          header: 'X-Ib-Exchange-Req-Signature',
          prefix: '',
          algorithm: 'sha512',
          timestampHeader,
        },
      },
      { clock },
    ),
  sign: ({ rawBody, issuedAtMs }) => timestampSignature(rawBody, String(issuedAtMs)),
  forgeries: [
    resigned('a time more than 25 hours ago', String(nowMs - 25 * hourMs - 1)),
    resigned('a time more than five minutes ahead', String(nowMs + hourMs / 12 + 1)),
    resigned('a time that is no number', 'NaN'),
    {
      title: 'another time than the one that was signed',
      forge: (receipt) => ({
        ...receipt,
        headers: { ...receipt.headers, [timestampHeader.toLowerCase()]: String(nowMs + 1) },
      }),
    },
    {
      title: 'no time',
      forge: (receipt) => ({ ...receipt, headers: { ...receipt.headers, [timestampHeader.toLowerCase()]: undefined } }),
    },
  ],
};
