import twilioSdk from 'twilio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Simulator, simulatorCredentials, startSimulator } from '../../src/simulator/simulator.ts';
import { signTwilioCallback } from '../../src/simulator/upstreams/twilio.ts';
import { type Receiver, startReceiver } from './receiver.ts';

const { accountSid, authToken } = simulatorCredentials.twilio;

let simulator: Simulator;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  simulator = await startSimulator({ port: 0, deliveryDelayMs: 60 });
});

afterAll(async () => {
  await simulator.stop();
  await receiver.stop();
});

function sdk(options: { baseUrl?: string; sid?: string; token?: string } = {}) {
  const client = twilioSdk(options.sid ?? accountSid, options.token ?? authToken);
  client.api.baseUrl = options.baseUrl ?? `${simulator.url}/twilio`;
  return client;
}

async function segments(body: string): Promise<string> {
  return (await sdk().messages.create({ to: '+447700900123', from: 'HELIO', body })).numSegments;
}

describe('the official SDK', () => {
  it.each(['/twilio', ''])('sends a message and reads it back, under base path "%s"', async (basePath) => {
    const client = sdk({ baseUrl: simulator.url + basePath });
    const before = Date.now();
    const created = await client.messages.create({ to: '+447700900123', from: 'HELIO', body: 'Hello' });
    expect(created).toMatchObject({ status: 'queued', numSegments: '1', to: '+447700900123', from: 'HELIO' });
    expect(created.sid).toMatch(/^SM[0-9a-f]{32}$/);
    // Twilio's dates are of whole seconds.
    expect(created.dateCreated.getTime()).toBeGreaterThan(before - 1_000);
    expect(created.dateCreated.getTime()).toBeLessThanOrEqual(Date.now());

    await expect.poll(async () => (await client.messages(created.sid).fetch()).status).toBe('delivered');
  });

  it('polls a failed message with its error code, without any callback', async () => {
    const client = sdk();
    const { sid } = await client.messages.create({ to: '+99901008101', from: 'HELIO', body: 'Hello' });
    await expect.poll(() => client.messages(sid).fetch()).toMatchObject({ status: 'undelivered', errorCode: 30005 });
  });

  it('counts segments as they are billed', async () => {
    expect(await segments('x'.repeat(160))).toBe('1');
    expect(await segments('x'.repeat(161))).toBe('2');
    expect(await segments('€'.repeat(81))).toBe('2');
    expect(await segments('ж'.repeat(70))).toBe('1');
    expect(await segments('ж'.repeat(71))).toBe('2');
  });

  it('accepts through a messaging service, whose sender is chosen later', async () => {
    const messagingServiceSid = `MG${'0'.repeat(32)}`;
    const created = await sdk().messages.create({ to: '+447700900123', messagingServiceSid, body: 'Hello' });
    expect(created).toMatchObject({ status: 'accepted', numSegments: '0', from: null, messagingServiceSid });
  });

  it.each([
    ['an invalid recipient', { to: '+99901002101' }, 400, 21211],
    ['an opted-out recipient', { to: '+99901003101' }, 400, 21610],
    ['an account out of funds', { to: '+99901004101' }, 403, 20005],
    ['an outage', { to: '+99901006101' }, 503, 20503],
    ['throttling', { to: '+99901013101' }, 429, 20429],
    ['a missing recipient', { to: '' }, 400, 21604],
    ['a malformed recipient', { to: '447700900123' }, 400, 21211],
    ['a missing sender', { from: '' }, 400, 21603],
    ['a malformed sender', { from: 'A name too long' }, 400, 21212],
    ['a recipient that is the sender', { from: '+447700900123' }, 400, 21266],
    ['a malformed messaging service', { from: '', messagingServiceSid: 'MG1' }, 400, 21701],
    ['a missing text', { body: '' }, 400, 21602],
    ['a text too long', { body: 'x'.repeat(1_601) }, 400, 21617],
    ['a callback that is no URL', { statusCallback: 'example.com/callback' }, 400, 21609],
    ['a callback host with an underscore', { statusCallback: 'https://my_host.example/callback' }, 400, 21609],
    ['a validity out of range', { validityPeriod: 36_001 }, 400, 21624],
  ])('raises the right code for %s', async (_name, fields, status, code) => {
    const sent = sdk().messages.create({ to: '+447700900123', from: 'HELIO', body: 'Hello', ...fields });
    const moreInfo = `https://www.twilio.com/docs/errors/${code}`;
    await expect(sent).rejects.toMatchObject({ status, code, moreInfo });
  });

  it('raises 20003 for a wrong token and 20404 for what is not there', async () => {
    const message = { to: '+447700900123', from: 'HELIO', body: 'Hello' };
    await expect(sdk({ token: 'wrong' }).messages.create(message)).rejects.toMatchObject({ status: 401, code: 20003 });
    const elsewhere = sdk()
      .api.v2010.accounts(`AC${'0'.repeat(32)}`)
      .messages.create(message);
    await expect(elsewhere).rejects.toMatchObject({ status: 404, code: 20404 });
    await expect(
      sdk()
        .messages(`SM${'0'.repeat(32)}`)
        .fetch(),
    ).rejects.toMatchObject({ status: 404, code: 20404 });
  });
});

describe('a status callback', () => {
  it('is one that the official validator accepts, until anything in it changes', async () => {
    const path = '/receipts/twilio/token?account=a%20b';
    const statusCallback = `${receiver.url}${path}#rc=3`;
    const { sid } = await sdk().messages.create({ to: '+99901008102', from: 'HELIO', body: 'Hello', statusCallback });
    await expect.poll(() => receiver.at(path)).toHaveLength(2);

    const url = receiver.url + path;
    for (const { headers, body } of receiver.at(path)) {
      expect(headers['content-type']).toMatch(/^application\/x-www-form-urlencoded/);
      const signature = String(headers['x-twilio-signature']);
      const parameters = Object.fromEntries(new URLSearchParams(body));
      const validates = (token: string, changes: Record<string, string> = {}) =>
        twilioSdk.validateRequest(token, signature, url, { ...parameters, ...changes });

      expect(validates(authToken)).toBe(true);
      expect(validates(authToken, { MessageStatus: 'delivered' })).toBe(false);
      expect(validates(authToken, { Added: '1' })).toBe(false);
      expect(validates('another token')).toBe(false);
      expect(twilioSdk.validateRequest(authToken, signature, `${url}x`, parameters)).toBe(false);
      expect(parameters).toMatchObject({
        MessageSid: sid,
        SmsSid: sid,
        AccountSid: accountSid,
        From: 'HELIO',
        To: '+99901008102',
        ApiVersion: '2010-04-01',
      });
    }
  });

  it('carries the signature of the known vectors', () => {
    const url = 'https://hooks.example.com/dlr/twilio/abc?x=1';
    const sid = 'SM1342fe1b2c904d1ab04f0fc7a58abca9';
    const delivered = Object.entries({
      MessageSid: sid,
      SmsSid: sid,
      MessageStatus: 'delivered',
      SmsStatus: 'delivered',
      AccountSid: `AC${'x'.repeat(32)}`,
      From: '+15017250604',
      To: '+15558675310',
      ApiVersion: '2010-04-01',
      RawDlrDoneDate: '2301011200',
    });
    expect(signTwilioCallback('12345', url, delivered)).toBe('yPM1y+d7IgcXxYPQLOXa/CMWm90=');

    const repeated: [string, string][] = [
      ['a', '2'],
      ['a', '1'],
      ['B', 'x'],
      ['a', '2'],
    ];
    expect(signTwilioCallback('12345', url, repeated)).toBe('nJVtxMnTjmgfzQbteCaYzKlcKhI=');
  });

  it('is tried once more when the connection fails, and not when the receiver answers an error', async () => {
    const flaky = await startReceiver(({ path }) => (path === '/broken' ? 500 : 0));
    try {
      const [broken, closing] = [`${flaky.url}/broken`, `${flaky.url}/closing`];
      const message = { to: '+99901011101', from: 'HELIO', body: 'Hello' };
      await sdk().messages.create({ ...message, statusCallback: broken });
      await sdk().messages.create({ ...message, statusCallback: closing });
      await expect.poll(() => flaky.at('/closing')).toHaveLength(2);
      expect(flaky.at('/broken')).toHaveLength(1);
    } finally {
      await flaky.stop();
    }
  });
});
