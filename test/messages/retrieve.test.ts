import { afterAll, describe, expect, it } from 'vitest';
import { TestService } from '../helpers/service.ts';

const service = await TestService.start();
afterAll(() => service.stop());

const { api } = await service.account();

it('a message has every field of the specification, from the first answer on', async () => {
  const message = await api.sent({ to: '+999010108', body: 'Hello you', reference: 'order 7' });
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/;
  expect(message).toEqual({
    id: expect.stringMatching(/^msg_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
    object: 'message',
    to: '+999010108',
    from: 'HELIO',
    body: 'Hello you',
    status: 'sent',
    cost: 0.01,
    currency: 'USD',
    provider: 'twilio',
    provider_message_id: expect.stringMatching(/^SM[0-9a-f]{32}$/),
    attempts: 1,
    error: null,
    reference: 'order 7',
    created_at: expect.stringMatching(time),
    sent_at: expect.stringMatching(time),
    delivered_at: null,
    failed_at: null,
  });
  expect(await api.get(message.id)).toEqual(message);
});

describe('retrieving a message', () => {
  it.each([
    ['that never was', 'msg_01h455vb4pex5vsknk084sn02q'],
    ['by an id of another kind', 'evt_01h455vb4pex5vsknk084sn02q'],
    ['by a UUID', '0188a5eb-2c96-7ee9-8cd2-e8204999e057'],
    ['by an id with a character that base32 lacks', 'msg_01h455vb4pex5vsknk084sn02u'],
    ['by an id that is too large', 'msg_8zzzzzzzzzzzzzzzzzzzzzzzzz'],
    ['by a word', 'send'],
    ['by a NUL', '%00'],
    ['by a very long id', `msg_${'0'.repeat(180)}`],
  ])('%s is a 404', async (_what, id) => {
    const { status, error } = await api.request('GET', `/messages/${id}`);
    expect({ status, type: error.type, code: error.code }).toEqual({
      status: 404,
      type: 'invalid_request_error',
      code: 'not_found',
    });
  });

  it('of another account is a 404', async () => {
    const other = await service.account();
    const { id } = await api.sent({ to: '+14155550123' });
    const { status } = await other.api.request('GET', `/messages/${id}`);
    expect(status).toBe(404);
  });
});
