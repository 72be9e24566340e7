import { Client, validateV3Signature } from 'plivo';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Simulator, simulatorCredentials, startSimulator } from '../../src/simulator/simulator.ts';
import { signPlivoCallback } from '../../src/simulator/upstreams/plivo.ts';
import { type Receiver, startReceiver } from './receiver.ts';

const { authId, authToken } = simulatorCredentials.plivo;

let simulator: Simulator;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver(() => 200);
  simulator = await startSimulator({ port: 0, deliveryDelayMs: 60 });
});

afterAll(async () => {
  await simulator.stop();
  await receiver.stop();
});

function sdk(options: { basePath?: string; id?: string; token?: string } = {}) {
  const { basePath = '/plivo', id = authId, token = authToken } = options;
  const url = `${simulator.url}${basePath}/v1/Account/${id}`;
  return new Client(id, token, { url } as ConstructorParameters<typeof Client>[2]);
}

const sms = { src: 'HELIO', dst: '447700900123', text: 'Hello' };

type Options = { url?: string; method?: string };

function create(client: Client, { src, dst, text }: typeof sms, options: Options = {}) {
  return client.messages.create(src, dst, text, { ...options });
}

async function refusal(fields: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${simulator.url}/plivo/v1/Account/${authId}/Message/`, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa(`${authId}:${authToken}`)}`, ...headers },
    body: JSON.stringify({ ...sms, ...fields }),
  });
  const text = await response.text();
  return [response.status, text.startsWith('{') ? JSON.parse(text).error : text];
}

describe('the official SDK', () => {
  it.each(['/plivo', ''])('sends a message and reads it back, under base path "%s"', async (basePath) => {
    const client = sdk({ basePath });
    const { messageUuid } = await create(client, sms);
    expect(messageUuid).toEqual([expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)]);
    await expect
      .poll(() => client.messages.get(String(messageUuid[0])))
      .toMatchObject({
        messageState: 'delivered',
        messageDirection: 'outbound',
        fromNumber: 'HELIO',
        toNumber: '447700900123',
        units: 1,
        errorCode: null,
      });
  });

  it('polls a failed message with its error code, without any callback', async () => {
    const client = sdk();
    const { messageUuid } = await create(client, { ...sms, dst: '+99901008101' });
    await expect
      .poll(() => client.messages.get(String(messageUuid[0])))
      .toMatchObject({ messageState: 'undelivered', errorCode: '70' });
  });

  it.each(['0770', '99901002101'])('finds %s among the invalid numbers of an answer like any other', async (dst) => {
    const answer = await create(sdk(), { ...sms, dst });
    expect(answer).toMatchObject({ messageUuid: [], invalid_number: [dst] });
  });

  it('raises its own errors', async () => {
    await expect(create(sdk({ token: 'wrong' }), sms)).rejects.toMatchObject({ status: 401 });
    await expect(create(sdk({ id: 'MAOTHER' }), sms)).rejects.toMatchObject({ status: 401 });
    await expect(create(sdk(), { ...sms, text: '' })).rejects.toMatchObject({ status: 400 });
    await expect(sdk().messages.get('nobody')).rejects.toMatchObject({ status: 404 });
  });
});

describe('a refusal', () => {
  it.each([
    ['src', { src: undefined }, 'one of src and powerpack_uuid is required'],
    ['powerpack_uuid', { powerpack_uuid: 'x' }, 'one of src and powerpack_uuid is required'],
    ['powerpack_uuid', { src: undefined, powerpack_uuid: 'x' }, 'powerpack_uuid must be a uuid'],
    ['src', { src: 'A name too long' }, /^src must/],
    ['dst', { dst: undefined }, 'dst parameter not present'],
    ['dst', { dst: '447700900123<447700900124' }, 'dst must be one phone number'],
    ['dst', { src: '447700900123' }, 'src and dst cannot be same'],
    ['text', { text: undefined }, 'text parameter not present'],
    ['text', { text: 'x'.repeat(1_601) }, 'text must be shorter'],
    ['text', { text: 'ж'.repeat(738) }, 'text must be shorter'],
    ['type', { type: 'mms' }, 'type must be sms'],
    ['url', { url: 'example.com/callback' }, 'url must be a url'],
    ['method', { method: 'PUT' }, 'method must be GET or POST'],
    ['log', { log: 'maybe' }, 'log must be a boolean'],
    ['message_expiry', { message_expiry: 4 }, 'message_expiry must be from 5 to 10800'],
  ])('names %s for %o', async (_name, fields, message) => {
    const expected = typeof message === 'string' ? message : expect.stringMatching(message);
    expect(await refusal(fields)).toEqual([400, expected]);
  });

  it('is text where the credentials are wrong, and has a status of its own for the rest', async () => {
    expect(await refusal({}, { Authorization: '' })).toEqual([401, expect.stringMatching(/^Could not verify/)]);
    expect(await refusal({ dst: '99901004101' })).toEqual([402, 'Insufficient Credit']);
    expect(await refusal({ dst: '99901013101' })).toEqual([429, 'Too many requests']);
    expect(await refusal({ dst: '99901006101' })).toEqual([503, 'Service unavailable']);
  });
});

describe('a status callback', () => {
  it('is a form that the official validator accepts under both signatures, until anything in it changes', async () => {
    const path = '/receipts/plivo/token?b=2&a=1%2B1';
    const url = receiver.url + path;
    const { messageUuid } = await create(sdk(), { ...sms, dst: '99901008102' }, { url });
    await expect.poll(() => receiver.at(path)).toHaveLength(2);

    for (const { headers, body } of receiver.at(path)) {
      const form = Object.fromEntries(new URLSearchParams(body));
      const nonce = String(headers['x-plivo-signature-v3-nonce']);
      for (const name of ['x-plivo-signature-v3', 'x-plivo-signature-ma-v3']) {
        const signature = String(headers[name]);
        const validates = (changes: { url?: string; nonce?: string; token?: string; form?: object } = {}) =>
          validateV3Signature(
            'POST',
            changes.url ?? url,
            changes.nonce ?? nonce,
            changes.token ?? authToken,
            signature,
            { ...form, ...changes.form },
          );
        expect(validates()).toBe(true);
        expect(validates({ form: { Status: 'delivered' } })).toBe(false);
        expect(validates({ form: { Added: '1' } })).toBe(false);
        expect(validates({ url: `${url}x` })).toBe(false);
        expect(validates({ nonce: `${nonce}0` })).toBe(false);
        expect(validates({ token: 'another token' })).toBe(false);
      }
      expect(form).toMatchObject({
        MessageUUID: messageUuid[0],
        ParentMessageUUID: messageUuid[0],
        From: 'HELIO',
        To: '99901008102',
        Type: 'sms',
        Units: '1',
        TotalAmount: '0.00550',
      });
    }
    const [sent, undelivered] = receiver.at(path).map(({ body }) => new URLSearchParams(body));
    expect([sent?.get('Status'), sent?.get('Sequence'), sent?.get('ErrorCode')]).toEqual(['sent', '1', null]);
    expect([undelivered?.get('Status'), undelivered?.get('Sequence')]).toEqual(['undelivered', '2']);
  });

  it('is a query where the sender chose GET, and signed as one', async () => {
    const watching = await startReceiver(() => 200);
    try {
      await create(sdk(), sms, { url: `${watching.url}/query?token=1`, method: 'GET' });
      await expect.poll(() => watching.all).toHaveLength(2);
      for (const { path, headers } of watching.all) {
        const nonce = String(headers['x-plivo-signature-v3-nonce']);
        const signature = String(headers['x-plivo-signature-v3']);
        const validates = (url: string) => validateV3Signature('GET', url, nonce, authToken, signature, {});
        expect([validates(watching.url + path), validates(`${watching.url}${path}&x=1`)]).toEqual([true, false]);
      }
      const queries = watching.all.map(({ path }) => new URLSearchParams(path.split('?')[1]));
      expect(queries.map((query) => [query.get('token'), query.get('Status')])).toEqual([
        ['1', 'sent'],
        ['1', 'delivered'],
      ]);
    } finally {
      await watching.stop();
    }
  });

  it('carries the signature of the known vectors', () => {
    const form = Object.entries({
      MessageUUID: 'a1b2',
      Status: 'delivered',
      To: '254712345678',
      From: 'ACME',
      Units: '1',
    });
    const sign = (url: string) => signPlivoCallback('plivotoken', url, '1234567890', form);
    expect(sign('https://hooks.example.com/dlr/plivo/abc')).toBe('QAd9aMUK8lqFUMDp9j2vSvdSZzDo8S6OJeqq40Z0WO4=');
    expect(sign('https://hooks.example.com/dlr/plivo/abc?b=2&a=1')).toBe(
      '7NtPlO0gR/TpHzY4uSllnY8Pr9ZnY/ugNtTaFTiYulM=',
    );
  });

  it('is tried again, signed anew, until it is answered with a 2xx', async () => {
    const recovering = await startReceiver(() => (recovering.at('/recovering').length === 1 ? 500 : 200));
    try {
      await create(sdk(), { ...sms, dst: '99901011101' }, { url: `${recovering.url}/recovering` });
      await expect.poll(() => recovering.at('/recovering')).toHaveLength(2);
      const [first, second] = recovering.at('/recovering').map(({ headers }) => headers['x-plivo-signature-v3-nonce']);
      expect(second).not.toBe(first);
    } finally {
      await recovering.stop();
    }
  });
});
