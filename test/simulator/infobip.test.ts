import { AuthType, Infobip } from '@infobip-api/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Simulator, simulatorCredentials, startSimulator } from '../../src/simulator/simulator.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { at } from './wires/wire.ts';

// The official SDK has methods for the API before this one only; its client speaks this one all the same. There is no verifier, for
// callbacks are not signed.

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

const authorization = `App ${simulatorCredentials.infobip.apiKey}`;

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${simulator.url}${path}`, {
    method,
    headers: { Authorization: authorization, 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

type Changes = { message?: object; destination?: object; webhooks?: object; delivery?: object; options?: object };

function request({ message, destination, webhooks, delivery, options }: Changes = {}) {
  return {
    messages: [
      {
        sender: 'HELIO',
        destinations: [{ to: '447700900123', ...destination }],
        content: { text: 'Hello' },
        webhooks: { delivery: { intermediateReport: false, ...delivery }, ...webhooks },
        ...message,
      },
    ],
    options,
  };
}

const send = (changes?: Changes) => call('POST', '/infobip/sms/3/messages', request(changes));

async function statusId(to: string, messageId: string) {
  return at((await send({ destination: { to, messageId } })).body, 'messages', 0, 'status', 'id');
}

describe("the official SDK's client", () => {
  type Http = {
    post(path: string, body: object): Promise<{ status: number; data: unknown }>;
    get(path: string, query: object): Promise<{ data: unknown }>;
  };

  function sdk({ base = '/infobip', apiKey = simulatorCredentials.infobip.apiKey } = {}): Http {
    const { channels } = new Infobip({ baseUrl: simulator.url + base, apiKey, authType: AuthType.ApiKey });
    return (channels as { sms: { http: Http } }).sms.http;
  }

  it.each(['/infobip', ''])('is let in, sends, and reads the message back, under base path "%s"', async (base) => {
    const messageId = `sdk-${base}`;
    const { status, data } = await sdk({ base }).post('/sms/3/messages', request({ destination: { messageId } }));
    expect([status, at(data, 'messages', 0, 'status', 'groupName')]).toEqual([200, 'PENDING']);
    await expect
      .poll(async () => (await sdk({ base }).get('/sms/3/logs', { messageId })).data)
      .toMatchObject({ results: [{ messageId, status: { groupName: 'DELIVERED' } }] });
  });

  it.each([
    ['a wrong key', { apiKey: 'wrong' }, {}, 401, { requestError: expect.any(Object) }],
    ['a wrong sender', {}, { message: { sender: 'A name too long' } }, 400, { errorCode: 'E400' }],
    ['an outage', {}, { destination: { to: '99901006104' } }, 503, { errorCode: 'E503' }],
  ])('raises what %s is answered with', async (_what, options, changes: Changes, status, data) => {
    const sent = sdk(options).post('/sms/3/messages', request(changes));
    await expect(sent).rejects.toMatchObject({ response: { status, data } });
  });
});

describe('a send', () => {
  it.each(['/infobip', ''])(
    'is answered with a bulk id, the message id and a pending status, under "%s"',
    async (base) => {
      const { status, body } = await call('POST', `${base}/sms/3/messages`, request());
      expect(status).toBe(200);
      expect(body).toEqual({
        bulkId: expect.stringMatching(/^\d{19}$/),
        messages: [
          {
            messageId: expect.stringMatching(/^\d{19}$/),
            destination: '447700900123',
            status: {
              groupId: 1,
              groupName: 'PENDING',
              id: 26,
              name: 'PENDING_ACCEPTED',
              description: expect.any(String),
            },
          },
        ],
      });
    },
  );

  it('keeps the ids chosen by the sender, and counts segments if asked', async () => {
    const { body } = await send({
      destination: { to: '+447700900123', messageId: 'ours-1' },
      message: { content: { text: 'x'.repeat(161) } },
      options: { includeSmsCountInResponse: true, schedule: { bulkId: 'bulk-1' } },
    });
    expect(body).toMatchObject({
      bulkId: 'bulk-1',
      messages: [{ messageId: 'ours-1', destination: '447700900123', details: { messageCount: 2 } }],
    });
  });

  it('is rejected when its message id was used before, unless that message was refused', async () => {
    expect([await statusId('447700900123', 'ours-2'), await statusId('447700900123', 'ours-2')]).toEqual([26, 23]);
    expect([await statusId('99901006101', 'ours-3'), await statusId('447700900123', 'ours-3')]).toEqual([
      undefined,
      26,
    ]);
  });

  it('with another key is a 401, in the shape that the gateway gives it', async () => {
    const { status, body } = await call('POST', '/infobip/sms/3/messages', request(), { Authorization: 'App wrong' });
    expect(status).toBe(401);
    expect(body).toMatchObject({ requestError: { serviceException: { messageId: 'UNAUTHORIZED' } } });
  });

  it.each<[string, Changes]>([
    ['messages[0].sender', { message: { sender: 'A name too long' } }],
    ['messages[0].destinations', { message: { destinations: [] } }],
    ['messages[0].destinations', { message: { destinations: [{ to: '447700900123' }, { to: '447700900124' }] } }],
    ['messages[0].destinations[0].to', { destination: { to: undefined } }],
    ['messages[0].destinations[0].messageId', { destination: { messageId: 'x'.repeat(201) } }],
    ['messages[0].content.text', { message: { content: { text: '' } } }],
    ['messages[0].content.text', { message: { content: undefined } }],
    ['messages[0].options.validityPeriod.amount', { message: { options: { validityPeriod: { timeUnit: 'HOURS' } } } }],
    [
      'messages[0].options.validityPeriod.timeUnit',
      { message: { options: { validityPeriod: { amount: 1, timeUnit: 'DAYS' } } } },
    ],
    ['messages[0].webhooks.callbackData', { webhooks: { callbackData: 'x'.repeat(4_001) } }],
    ['messages[0].webhooks.contentType', { webhooks: { contentType: 'text/plain' } }],
    ['messages[0].webhooks.delivery.url', { delivery: { url: 'example.com/callback' } }],
    ['messages[0].webhooks.delivery.notify', { delivery: { notify: 'yes' } }],
    ['options.includeSmsCountInResponse', { options: { includeSmsCountInResponse: 1 } }],
  ])('is a 400 that names %s for %o', async (property, changes) => {
    const { status, body } = await send(changes);
    expect(status).toBe(400);
    expect(body).toMatchObject({
      errorCode: 'E400',
      violations: [{ property, violation: expect.any(String) }],
      resources: [],
    });
  });

  it.each<[string, number, Changes]>([
    ['a recipient that is no number', 52, { destination: { to: '0770 900123' } }],
    ['a text too long', 25, { message: { content: { text: 'x'.repeat(4_001) } } }],
  ])('is taken and rejected for %s', async (_name, id, changes) => {
    const { status, body } = await send(changes);
    expect([status, at(body, 'messages', 0, 'status', 'id')]).toEqual([200, id]);
    expect(at(body, 'messages', 0, 'status', 'groupName')).toBe('REJECTED');
  });

  it('that is no JSON object is a 400, and an outage and throttling have codes of their own', async () => {
    expect(await call('POST', '/infobip/sms/3/messages', '{"messages":')).toMatchObject({ status: 400 });
    expect(await send({ destination: { to: '99901006102' } })).toMatchObject({
      status: 503,
      body: { errorCode: 'E503' },
    });
    expect(await send({ destination: { to: '99901013102' } })).toMatchObject({
      status: 429,
      body: { errorCode: 'E429' },
    });
    expect(await call('GET', '/infobip/sms/3/messages')).toMatchObject({ status: 404 });
  });
});

describe('a delivery report', () => {
  it('comes only for the final status unless intermediate ones are asked for, and holds what the send said', async () => {
    const url = `${receiver.url}/final`;
    const { body } = await send({ delivery: { url }, webhooks: { callbackData: 'reference-1', delivery: { url } } });
    await expect.poll(() => receiver.at('/final')).toHaveLength(1);
    const report = receiver.at('/final')[0];
    expect(report?.headers['content-type']).toBe('application/json');
    expect(JSON.parse(String(report?.body))).toEqual({
      results: [
        {
          bulkId: at(body, 'bulkId'),
          messageId: at(body, 'messages', 0, 'messageId'),
          to: '447700900123',
          sender: 'HELIO',
          sentAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000$/),
          doneAt: expect.stringMatching(/\+0000$/),
          messageCount: 1,
          mccMnc: expect.any(String),
          callbackData: 'reference-1',
          price: { pricePerMessage: expect.any(Number), currency: 'EUR' },
          status: expect.objectContaining({ groupId: 3, groupName: 'DELIVERED', id: 5 }),
          error: expect.objectContaining({ groupId: 0, id: 0, permanent: false }),
          platform: {},
        },
      ],
    });
  });

  it('is not sent where notify is false', async () => {
    await send({ delivery: { url: `${receiver.url}/muted`, notify: false } });
    await send({ delivery: { url: `${receiver.url}/after-muted` } });
    await expect.poll(() => receiver.at('/after-muted')).toHaveLength(1);
    expect(receiver.at('/muted')).toEqual([]);
  });

  it('is tried again until it is answered with 200', async () => {
    const recovering = await startReceiver(() => (recovering.at('/recovering').length === 1 ? 500 : 200));
    try {
      await send({ destination: { to: '99901011101' }, delivery: { url: `${recovering.url}/recovering` } });
      await expect.poll(() => recovering.at('/recovering')).toHaveLength(2);
    } finally {
      await recovering.stop();
    }
  });

  it('can be fetched once when it is final; the log shows the message as it is, every time', async () => {
    await send({ destination: { to: '99901008101', messageId: 'ours-4' } });
    const results = async (path: string) => at((await call('GET', `/infobip/sms/3/${path}`)).body, 'results');
    expect(await results('reports?messageId=ours-4')).toEqual([]);
    expect(await results('logs?messageId=ours-4')).toMatchObject([{ messageId: 'ours-4', status: { groupId: 1 } }]);

    await expect
      .poll(() => results('reports?messageId=ours-4'))
      .toMatchObject([{ messageId: 'ours-4', status: { id: 9 }, error: { id: 1, permanent: true } }]);
    expect(await results('reports?messageId=ours-4')).toEqual([]);
    expect(await results('logs?messageId=ours-4')).toMatchObject([{ messageId: 'ours-4', status: { id: 9 } }]);
    expect(await results('logs?messageId=nobody')).toEqual([]);
    expect((await call('GET', '/infobip/sms/3/logs', undefined, { Authorization: '' })).status).toBe(401);
  });
});
