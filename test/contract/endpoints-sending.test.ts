import { describe, expect, test } from 'vitest';
import {
  api,
  Client,
  createKey,
  magicRecipient,
  onMagic,
  onPenniless,
  providers,
  recipient,
  sendBody,
  target,
} from './client.ts';
import { Inbox } from './inbox.ts';

const penniless = new Client(target.pennilessKey);

function bulkBody(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { recipients: [recipient(), recipient()], from: target.sender, body: 'Hello', ...fields };
}

describe('POST /messages/send', () => {
  test('answers 201 with the Message', async () => {
    const { status, data } = await api.call('POST /messages/send', { json: sendBody() });
    expect({ status, object: data.object }).toEqual({ status: 201, object: 'message' });
  });

  test('to is required, E.164 with a leading plus sign', async () => {
    const to = recipient();
    expect((await api.send({ to })).to).toBe(to);
    expect((await api.fail(400, 'POST /messages/send', { json: sendBody({ to: undefined }) })).param).toBe('to');
  });

  test('to in a local format is rejected', async () => {
    for (const to of ['4155550123', '(415) 555-0123', '004155550123', '14155550123', '']) {
      expect((await api.fail(400, 'POST /messages/send', { json: sendBody({ to }) })).param).toBe('to');
    }
  });

  test('from is required, an approved sender ID', async () => {
    expect((await api.send()).from).toBe(target.sender);
    for (const from of [undefined, 'Stranger']) {
      expect((await api.fail(400, 'POST /messages/send', { json: sendBody({ from }) })).param).toBe('from');
    }
  });

  test('from may be a number', async () => {
    expect((await api.send({ from: target.numericSender })).from).toBe(target.numericSender);
  });

  test('from that awaits approval is rejected', async () => {
    const [pending] = await api.get('GET /senders', { query: { status: 'pending', limit: 1 } });
    const from =
      pending?.sender_id ?? (await api.get('POST /senders/create', { json: { sender_id: 'Later' } })).sender_id;
    expect((await api.fail(400, 'POST /messages/send', { json: sendBody({ from }) })).param).toBe('from');
  });

  test('body is required, at most 1,600 characters', async () => {
    expect((await api.send({ body: 'a'.repeat(1_600) })).body).toHaveLength(1_600);
    for (const body of [undefined, 'a'.repeat(1_601)]) {
      expect((await api.fail(400, 'POST /messages/send', { json: sendBody({ body }) })).param).toBe('body');
    }
  });

  test('a long body is segmented by the service', async () => {
    const { cost } = await api.send({ body: 'a'.repeat(160) });
    expect((await api.send({ body: 'a'.repeat(161) })).cost).toBeCloseTo(2 * cost);
  });

  test('route_id, an integer or null, forces a route', async () => {
    expect((await api.send({ route_id: target.routeId })).status).toBe('sent');
    expect((await api.send({ route_id: null })).status).toBe('sent');
    for (const route_id of [4_711, '1', 1.5]) {
      expect((await api.fail(400, 'POST /messages/send', { json: sendBody({ route_id }) })).param).toBe('route_id');
    }
  });

  test('provider, a string or null, is one of nine identifiers', async () => {
    expect(new Set(providers).size).toBe(9);
    expect((await api.send({ provider: null })).status).toBe('sent');
    const json = sendBody({ provider: 'carrier-pigeon' });
    expect((await api.fail(400, 'POST /messages/send', { json })).param).toBe('provider');
  });

  test('provider, each of the nine, is the one that is tried first', async () => {
    const chosen: unknown[] = [];
    for (const provider of providers) {
      const { data, error } = await api.call('POST /messages/send', { json: sendBody({ provider }) });
      chosen.push(data?.provider ?? error);
    }
    expect(chosen).toEqual(providers);
  });

  onMagic('provider, when it fails in a way that may be retried, is followed by another', async () => {
    const [provider = ''] = providers;
    const message = await api.send({ to: magicRecipient('005'), provider });
    expect(message).toMatchObject({ status: 'sent', attempts: 2 });
    expect(message.provider).not.toBe(provider);
  });

  test('reference, a string or null, correlates', async () => {
    await using inbox = await Inbox.open();
    const withReference = await api.send({ reference: 'order 7' });
    expect((await inbox.delivery(withReference.id, 'message.sent')).event.data.reference).toBe('order 7');
    expect((await api.send({ reference: null })).status).toBe('sent');
  });

  describe('answers', () => {
    test('400 to an invalid request', async () => {
      expect(await api.fail(400, 'POST /messages/send', { json: {} })).toMatchObject({
        type: 'invalid_request_error',
        param: 'to',
      });
    });
    test('401 without a valid key', async () => {
      await new Client(null).fail(401, 'POST /messages/send', { json: sendBody() });
    });
    onPenniless('402 when the balance does not cover the message', async () => {
      const error = await penniless.fail(402, 'POST /messages/send', { json: sendBody() });
      expect(error.type).toBe('balance_error');
    });
    test('403 when the key lacks sms:send', async () => {
      const { client } = await createKey({ permissions: ['sms:read', 'sms:bulk'] });
      expect((await client.fail(403, 'POST /messages/send', { json: sendBody() })).code).toBe('forbidden');
    });
    test('429 when the key is over its rate', async () => {
      const { client } = await createKey({ rate_limit: 1 });
      await client.get('POST /messages/send', { json: sendBody() });
      const error = await client.fail(429, 'POST /messages/send', { json: sendBody() });
      expect(error.code).toBe('rate_limit_exceeded');
    });
    onMagic('500 when no provider could take the message', async () => {
      const error = await api.fail(500, 'POST /messages/send', { json: sendBody({ to: magicRecipient('006') }) });
      expect(error.type).toBe('provider_error');
    });
  });
});

describe('POST /messages/bulk', () => {
  test('answers 201 with the Bulk result', async () => {
    const { status, data } = await api.call('POST /messages/bulk', { json: bulkBody() });
    expect(status).toBe(201);
    expect(data).toMatchObject({ total: 2, sent: 2, failed: 0 });
  });

  test('recipients is required, 1 to 1,000 numbers in E.164', async () => {
    expect((await api.get('POST /messages/bulk', { json: bulkBody({ recipients: [recipient()] }) })).total).toBe(1);
    const thousand = Array.from({ length: 1_000 }, () => recipient());
    const result = await api.get('POST /messages/bulk', { json: bulkBody({ recipients: thousand }) });
    expect(result).toMatchObject({ total: 1_000, failed: 0 });
    expect(result.messages.map(({ to }) => to)).toEqual(thousand);
    for (const recipients of [undefined, [], [...thousand, recipient()], recipient()]) {
      const { param } = await api.fail(400, 'POST /messages/bulk', { json: bulkBody({ recipients }) });
      expect(param).toBe('recipients');
    }
  });

  test('from is required', async () => {
    for (const from of [undefined, 'Stranger']) {
      expect((await api.fail(400, 'POST /messages/bulk', { json: bulkBody({ from }) })).param).toBe('from');
    }
  });

  test('body is required, and the same for all', async () => {
    const { messages } = await api.get('POST /messages/bulk', { json: bulkBody({ body: 'For you all' }) });
    for (const { id } of messages) {
      expect((await api.get('GET /messages/{id}', { id })).body).toBe('For you all');
    }
    expect((await api.fail(400, 'POST /messages/bulk', { json: bulkBody({ body: undefined }) })).param).toBe('body');
  });

  test('route_id, an integer or null, is optional', async () => {
    for (const route_id of [target.routeId, null]) {
      expect((await api.get('POST /messages/bulk', { json: bulkBody({ route_id }) })).sent).toBe(2);
    }
    expect((await api.fail(400, 'POST /messages/bulk', { json: bulkBody({ route_id: '1' }) })).param).toBe('route_id');
  });

  test('provider, a string or null, takes the same values as in a send', async () => {
    const chosen: unknown[] = [];
    for (const provider of providers) {
      const { messages } = await api.get('POST /messages/bulk', { json: bulkBody({ provider }) });
      chosen.push((await api.get('GET /messages/{id}', { id: messages[0]?.id ?? '' })).provider);
    }
    expect(chosen).toEqual(providers);
    expect((await api.get('POST /messages/bulk', { json: bulkBody({ provider: null }) })).sent).toBe(2);
    const json = bulkBody({ provider: 'carrier-pigeon' });
    expect((await api.fail(400, 'POST /messages/bulk', { json })).param).toBe('provider');
  });

  test('each recipient becomes a message of its own', async () => {
    const recipients = [recipient(), recipient(), recipient()];
    const { messages } = await api.get('POST /messages/bulk', { json: bulkBody({ recipients }) });
    expect(new Set(messages.map(({ id }) => id)).size).toBe(3);
    for (const [index, { id }] of messages.entries()) {
      expect((await api.get('GET /messages/{id}', { id })).to).toBe(recipients[index]);
    }
  });

  onMagic(
    'can succeed partly: each item tells its own status and error, and total, sent and failed count them',
    async () => {
      const recipients = [recipient(), magicRecipient('002'), magicRecipient('006'), recipient()];
      const { status, data } = await api.call('POST /messages/bulk', { json: bulkBody({ recipients }) });
      expect(status).toBe(201);
      expect(data).toMatchObject({ total: 4, sent: 2, failed: 2 });
      expect(data.messages.map((message) => [message.status, message.error !== null])).toEqual([
        ['sent', false],
        ['failed', true],
        ['failed', true],
        ['sent', false],
      ]);
    },
  );

  describe('answers', () => {
    test('400 to an invalid request', async () => {
      expect((await api.fail(400, 'POST /messages/bulk', { json: {} })).type).toBe('invalid_request_error');
    });
    test('401 without a valid key', async () => {
      await new Client(null).fail(401, 'POST /messages/bulk', { json: bulkBody() });
    });
    onPenniless('402 when the balance covers no message of a bulk', async () => {
      expect((await penniless.fail(402, 'POST /messages/bulk', { json: bulkBody() })).type).toBe('balance_error');
    });
    test('403 when the key lacks sms:bulk', async () => {
      const { client } = await createKey({ permissions: ['sms:read', 'sms:send'] });
      expect((await client.fail(403, 'POST /messages/bulk', { json: bulkBody() })).code).toBe('forbidden');
    });
    test('429 when the key is over its rate', async () => {
      const { client } = await createKey({ rate_limit: 1 });
      await client.get('POST /messages/bulk', { json: bulkBody() });
      expect((await client.fail(429, 'POST /messages/bulk', { json: bulkBody() })).code).toBe('rate_limit_exceeded');
    });
  });
});
