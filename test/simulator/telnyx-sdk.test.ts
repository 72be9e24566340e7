import { createPrivateKey } from 'node:crypto';
import Telnyx from 'telnyx';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Simulator, simulatorCredentials, startSimulator } from '../../src/simulator/simulator.ts';
import { signTelnyxEvent } from '../../src/simulator/upstreams/telnyx.ts';
import { type Received, type Receiver, startReceiver } from './receiver.ts';

const { apiKey, publicKey, messagingProfileId } = simulatorCredentials.telnyx;

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

function sdk(options: { basePath?: string; key?: string } = {}): Telnyx {
  const baseURL = `${simulator.url}${options.basePath ?? '/telnyx'}/v2`;
  return new Telnyx({ apiKey: options.key ?? apiKey, publicKey, baseURL, maxRetries: 0 });
}

const sms = { to: '+447700900123', from: 'HELIO', text: 'Hello', messaging_profile_id: messagingProfileId };

function unwrap({ body }: Pick<Received, 'body'>, headers: Received['headers']) {
  return sdk().webhooks.unwrap(body, { headers: headers as Record<string, string> });
}

describe('the official SDK', () => {
  it.each(['/telnyx', ''])('sends a message and reads it back, under base path "%s"', async (basePath) => {
    const client = sdk({ basePath });
    const { data } = await client.messages.send(sms);
    expect(data).toMatchObject({
      record_type: 'message',
      direction: 'outbound',
      id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      from: { phone_number: 'HELIO' },
      to: [{ phone_number: '+447700900123', status: 'queued' }],
      encoding: 'GSM-7',
      parts: 1,
      cost: null,
      errors: [],
    });
    await expect
      .poll(async () => (await client.messages.retrieve(String(data?.id))).data)
      .toMatchObject({ to: [{ status: 'delivered' }], cost: { amount: '0.0040', currency: 'USD' } });
  });

  it('polls a failed message with its error code, without any callback', async () => {
    const client = sdk();
    const { data } = await client.messages.send({ ...sms, to: '+99901008101' });
    await expect
      .poll(async () => (await client.messages.retrieve(String(data?.id))).data)
      .toMatchObject({ to: [{ status: 'delivery_failed' }], errors: [{ code: '40008' }] });
  });

  it('sends from a number without a profile, and from a pool without a sender', async () => {
    const from = '+15005550006';
    const byNumber = await sdk().messages.send({ ...sms, from, messaging_profile_id: undefined });
    expect(byNumber.data).toMatchObject({ from: { phone_number: from } });
    expect((await sdk().messages.send({ ...sms, from: undefined })).data).toMatchObject({ from: { phone_number: '' } });
  });

  it.each([
    ['an invalid recipient', { to: '+99901002101' }, 400, '40310', '/to'],
    ['an opted-out recipient', { to: '+99901003101' }, 403, '40300', '/to'],
    ['an account out of funds', { to: '+99901004101' }, 403, '20100', undefined],
    ['an outage', { to: '+99901006101' }, 503, '10007', undefined],
    ['throttling', { to: '+99901013101' }, 429, '10011', undefined],
    ['a recipient without a plus', { to: '447700900123' }, 400, '40310', '/to'],
    ['a missing recipient', { to: undefined as unknown as string }, 400, '40310', '/to'],
    ['a malformed sender', { from: 'A name too long' }, 400, '40305', '/from'],
    ['no sender at all', { from: undefined, messaging_profile_id: undefined }, 400, '40305', '/from'],
    ['a name without a profile', { messaging_profile_id: undefined }, 400, '40306', '/from'],
    ['another profile', { messaging_profile_id: 'other' }, 400, '40312', '/messaging_profile_id'],
    ['an empty text', { text: '' }, 400, '40316', '/text'],
    ['a text that is no GSM', { text: 'ж', encoding: 'gsm7' as const }, 400, '40317', '/text'],
    ['another type', { type: 'MMS' as const }, 400, '10015', '/type'],
    ['a callback that is no URL', { webhook_url: 'example.com' }, 400, '10015', '/webhook_url'],
  ])('raises the right code for %s', async (_name, fields, status, code, pointer) => {
    const source = pointer === undefined ? undefined : { pointer };
    await expect(sdk().messages.send({ ...sms, ...fields })).rejects.toMatchObject({
      status,
      error: { errors: [{ code, title: expect.any(String), detail: expect.any(String), ...(source && { source }) }] },
    });
  });

  it('raises 10009 for a wrong key and 10005 for what is not there', async () => {
    await expect(sdk({ key: 'wrong' }).messages.send(sms)).rejects.toMatchObject({
      status: 401,
      error: { errors: [{ code: '10009' }] },
    });
    await expect(sdk().messages.retrieve('nobody')).rejects.toMatchObject({
      status: 404,
      error: { errors: [{ code: '10005' }] },
    });
  });
});

describe('an event', () => {
  it('is one that the official verifier accepts, until anything in it changes', async () => {
    const path = '/receipts/telnyx/token';
    const { data } = await sdk().messages.send({ ...sms, text: 'Grüße €', webhook_url: receiver.url + path });
    await expect.poll(() => receiver.at(path)).toHaveLength(2);

    for (const { headers, body } of receiver.at(path)) {
      expect(await unwrap({ body }, headers)).toEqual(JSON.parse(body));
      await expect(unwrap({ body: `${body} ` }, headers)).rejects.toThrow();
      const older = { ...headers, 'telnyx-timestamp': String(Number(headers['telnyx-timestamp']) - 1) };
      await expect(unwrap({ body }, older)).rejects.toThrow();
    }
    const [sent, finalized] = receiver.at(path).map(({ body }) => JSON.parse(body));
    expect(sent).toMatchObject({
      data: { event_type: 'message.sent', record_type: 'event', payload: { id: data?.id, to: [{ status: 'sent' }] } },
      meta: { attempt: 1, delivered_to: receiver.url + path },
    });
    expect(finalized.data).toMatchObject({
      event_type: 'message.finalized',
      payload: { id: data?.id, to: [{ status: 'delivered' }], cost: { amount: '0.0040', currency: 'USD' }, errors: [] },
    });
    expect(finalized.data.id).not.toBe(sent.data.id);
  });

  it('carries the signature of the known vector', () => {
    const seed = Buffer.alloc(32, 1);
    const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
    const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
    expect(signTelnyxEvent(key, '1700000000', '{"data":{"event_type":"message.finalized"}}')).toBe(
      'q3zIeDwREjaDqgWn+KzZuzxZrbVNXEaeobZD29+OsH07SF+V8dixRhDrOkQ7OmpPWSbsglJEIff33FcH9AlaDg==',
    );
  });

  it('is tried again under the same id until it is answered with a 2xx', async () => {
    const recovering = await startReceiver(() => (recovering.at('/recovering').length === 1 ? 500 : 200));
    try {
      await sdk().messages.send({ ...sms, to: '+99901011101', webhook_url: `${recovering.url}/recovering` });
      await expect.poll(() => recovering.at('/recovering')).toHaveLength(2);
      const [first, second] = recovering.at('/recovering').map(({ body }) => JSON.parse(body));
      expect([first.meta.attempt, second.meta.attempt]).toEqual([1, 2]);
      expect(second.data.id).toBe(first.data.id);
    } finally {
      await recovering.stop();
    }
  });
});
