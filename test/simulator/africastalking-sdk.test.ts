import { createRequire } from 'node:module';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, simulatorCredentials, startSimulator } from '../../src/simulator/simulator.ts';
import { listMessages, postControl } from './control-client.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { at } from './wires/wire.ts';

type Sms = { send(message: { to: string; message: string; from?: string; enqueue?: boolean }): Promise<unknown> };
type Sdk = (account: { username: string; apiKey: string }) => { SMS: Sms };

const require = createRequire(import.meta.url);
const africastalkingSdk: Sdk = require('africastalking');
const addresses: { SMS_URL: string } = require('africastalking/lib/common');

const { username, apiKey } = simulatorCredentials.africastalking;

let simulator: Simulator;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver(() => 200);
  simulator = await startSimulator({
    port: 0,
    deliveryDelayMs: 60,
    callbackUrls: { africastalking: `${receiver.url}/dashboard` },
  });
});

beforeEach(async () => {
  await postControl(simulator.url, '/reset');
});

afterAll(async () => {
  await simulator.stop();
  await receiver.stop();
});

const sms = { to: '+254711000000', message: 'Hello', from: 'HELIO' };

function sdk(options: { basePath?: string; key?: string; name?: string } = {}): Sms {
  const { basePath = '/africastalking', key = apiKey, name = username } = options;
  const { SMS } = africastalkingSdk({ username: name, apiKey: key });
  addresses.SMS_URL = `${simulator.url}${basePath}/version1/messaging`;
  return SMS;
}

const idOf = (answer: unknown) => at(answer, 'SMSMessageData', 'Recipients', 0, 'messageId');

async function post(fields: Record<string, string>) {
  const response = await fetch(`${simulator.url}/africastalking/version1/messaging`, {
    method: 'POST',
    headers: { apiKey, Accept: 'application/json' },
    body: new URLSearchParams({ username, ...sms, ...fields }),
  });
  return { status: response.status, text: await response.text() };
}

const callbacksOn = (path: string, id: unknown) =>
  receiver
    .at(path)
    .map(({ body }) => Object.fromEntries(new URLSearchParams(body)))
    .filter((form) => form['id'] === id);

describe('the official SDK', () => {
  it.each(['/africastalking', ''])(
    'sends a message and gets its id and price, under base path "%s"',
    async (basePath) => {
      const answer = await sdk({ basePath }).send({ ...sms, message: 'x'.repeat(161), enqueue: true });
      expect(answer).toEqual({
        SMSMessageData: {
          Message: 'Sent to 1/1 Total Cost: KES 1.6000',
          Recipients: [
            {
              statusCode: 101,
              number: '+254711000000',
              status: 'Success',
              cost: 'KES 1.6000',
              messageId: expect.stringMatching(/^ATPid_[0-9a-f]{32}$/),
              messageParts: 2,
            },
          ],
        },
      });
    },
  );

  it('raises 401 for a wrong key or user, in plain text', async () => {
    const text = 'The supplied authentication is invalid';
    for (const options of [{ key: 'wrong' }, { name: 'wrong' }]) {
      await expect(sdk(options).send(sms)).rejects.toMatchObject({ response: { status: 401, data: text } });
    }
  });
});

describe('a refusal', () => {
  it.each([
    ['99901002101 without a plus', { to: '99901002101' }, 403, 'InvalidPhoneNumber'],
    ['an invalid recipient', { to: '+99901002101' }, 403, 'InvalidPhoneNumber'],
    ['an opted-out recipient', { to: '+99901003101' }, 406, 'UserInBlacklist'],
    ['an account out of funds', { to: '+99901004101' }, 405, 'InsufficientBalance'],
  ])('of %s is a 201 that sent nothing', async (_name, fields, statusCode, status) => {
    const answer = await post(fields);
    expect(answer.status).toBe(201);
    expect(JSON.parse(answer.text)).toEqual({
      SMSMessageData: {
        Message: 'Sent to 0/1 Total Cost: 0',
        Recipients: [{ statusCode, number: fields.to, status, cost: '0', messageId: 'None' }],
      },
    });
  });

  it('of a sender names no recipient', async () => {
    const answer = await post({ from: 'A name too long' });
    expect(answer.status).toBe(201);
    expect(JSON.parse(answer.text)).toEqual({ SMSMessageData: { Message: 'InvalidSenderId', Recipients: [] } });
  });

  it.each([
    [400, { to: '' }, "Request is missing required form field 'to'"],
    [400, { message: '' }, "Request is missing required form field 'message'"],
    [400, { to: '+254711000000,+254711000001' }, /'to' was malformed/],
    [400, { message: 'x'.repeat(4_001) }, /'message' is too long/],
    [400, { enqueue: 'yes' }, /'enqueue' was malformed/],
    [429, { to: '+99901013101' }, 'Too Many Requests'],
    [503, { to: '+99901006101' }, 'Service Unavailable'],
  ])('with status %d is plain text, for %o', async (status, fields, text) => {
    const answer = await post(fields);
    expect(answer.status).toBe(status);
    expect(answer.text).toEqual(typeof text === 'string' ? text : expect.stringMatching(text));
  });
});

describe('a delivery report', () => {
  it('goes to the URL of the account: as started, as changed, or nowhere', async () => {
    const started = idOf(await sdk().send(sms));
    await expect.poll(() => callbacksOn('/dashboard', started)).toHaveLength(2);

    const changed = await postControl(simulator.url, '/providers/africastalking', {
      callbackUrl: `${receiver.url}/new`,
    });
    expect(changed.body).toMatchObject({ id: 'africastalking', outage: false, callbackUrl: `${receiver.url}/new` });
    const moved = idOf(await sdk().send(sms));
    await expect.poll(() => callbacksOn('/new', moved)).toHaveLength(2);

    await postControl(simulator.url, '/providers/africastalking', { callbackUrl: null });
    const untold = idOf(await sdk().send(sms));
    await postControl(simulator.url, '/providers/africastalking', { latencyMs: 0 });
    expect((await listMessages(simulator.url, {})).messages.at(-1)).toMatchObject({ providerMessageId: untold });

    await postControl(simulator.url, '/reset');
    const restored = idOf(await sdk().send(sms));
    await expect.poll(() => callbacksOn('/dashboard', restored)).toHaveLength(2);
    expect([...callbacksOn('/dashboard', untold), ...callbacksOn('/new', untold)]).toEqual([]);
  });

  it('is an unsigned form, with a reason where the message failed', async () => {
    const answer = await post({ to: '+99901008101' });
    const id = idOf(JSON.parse(answer.text));
    await expect.poll(() => callbacksOn('/dashboard', id)).toHaveLength(2);
    const common = { id, phoneNumber: '+99901008101', networkCode: '63902', retryCount: '0' };
    expect(callbacksOn('/dashboard', id)).toEqual([
      { ...common, status: 'Sent' },
      { ...common, status: 'Failed', failureReason: 'UserIsInactive' },
    ]);
    expect(receiver.all[0]?.headers['content-type']).toBe('application/x-www-form-urlencoded');
  });

  it.each([
    ['/providers/africastalking', { callbackUrl: 'example.com' }],
    ['/providers/africastalking', { callbackUrl: 1 }],
    ['/providers/twilio', { callbackUrl: 'https://example.com/' }],
  ])('cannot be directed by POST /control%s with %o', async (path, body) => {
    const refused = await postControl(simulator.url, path, body);
    expect(refused).toEqual({ status: 400, body: { error: expect.stringContaining('callbackUrl') } });
  });
});
