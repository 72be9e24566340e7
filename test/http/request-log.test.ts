import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toPublicId } from '../../src/lib/ids.ts';
import { TestService, type TestAccount } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';
import { Operator } from '../operator/operator.ts';

let service: TestService;
let account: TestAccount;
beforeAll(async () => {
  service = await TestService.start();
  account = await service.account();
});
afterAll(() => service.stop());

/** All that the log says of one request. */
async function linesOf(requestId: string): Promise<Array<Record<string, unknown>>> {
  const read = () =>
    service.logged
      .split('\n')
      .filter((line) => line.includes(requestId))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  await until('the request is logged', () => read().some(({ msg }) => msg === 'request'));
  return read();
}

describe('by its id, the log tells of a request', () => {
  test('whose it was, and which message it became', async () => {
    const { data, meta } = await account.api.send({ to: '+9990100502' });
    expect(await linesOf(meta.request_id)).toMatchObject([
      {
        msg: 'request',
        method: 'POST',
        route: '/api/v1/messages/send',
        status: 201,
        account_id: toPublicId('acc', account.accountId),
        key_id: toPublicId('key', account.keyId),
        message_id: data.id,
        message_status: 'sent',
        provider: 'vonage',
        attempts: 2,
      },
    ]);
  });

  test('why it failed, and which message tells more', async () => {
    const { error, meta } = await account.api.send({ to: '+9990100602' });
    expect(await linesOf(meta.request_id)).toMatchObject([
      { status: 500, error: 'provider_unavailable', message_id: error.details?.['message_id'] },
    ]);
    const refused = await account.api.send({ to: 'nobody' });
    expect(await linesOf(refused.meta.request_id)).toMatchObject([{ status: 400, error: 'invalid_recipient' }]);
  });

  test('what became of a bulk', async () => {
    const { meta } = await account.api.bulk({ recipients: ['+14155550133', 'nobody'] });
    expect(await linesOf(meta.request_id)).toMatchObject([{ status: 201, messages: 2, sent: 1, failed: 1 }]);
  });

  test('that it was a repeat of another one', async () => {
    const header = { 'idempotency-key': 'told once' };
    const first = await account.api.sent({ to: '+14155550134' }, header);
    const { meta } = await account.api.send({ to: '+14155550134' }, header);
    expect(await linesOf(meta.request_id)).toMatchObject([{ message_id: first.id, replayed: true }]);
  });

  test('that nobody was let in', async () => {
    const stranger = new Operator(service, service.app, 'wrong');
    const { meta } = await stranger.get('/accounts');
    const lines = await linesOf(meta.request_id);
    expect(lines).toMatchObject([{ status: 401, error: 'unauthorized' }]);
    expect(lines[0]).not.toHaveProperty('account_id');
  });

  test('what the operator changed', async () => {
    const { data, meta } = await new Operator(service).client.request<{ id: string }>('POST', '/accounts', {
      json: { name: 'Ana', email: 'ana@example.com' },
    });
    expect(await linesOf(meta.request_id)).toMatchObject([
      { msg: 'operator: account created', account_id: data.id },
      { msg: 'request', route: '/operator/v1/accounts', status: 201 },
    ]);
  });
});
