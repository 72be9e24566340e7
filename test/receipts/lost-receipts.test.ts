import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromPublicId } from '../../src/lib/ids.ts';
import { createTestClock } from '../helpers/clock.ts';
import { TestService, type TestAccount } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';
import { TestPoller } from './poller.ts';

// Upstreams report to an address at which nobody listens: every receipt is lost. What they answer when asked is the truth.

const hourMs = 3_600_000;
const clock = createTestClock();
let service: TestService;
let account: TestAccount;
beforeAll(async () => {
  service = await TestService.start({ clock, publicUrl: 'http://127.0.0.1:9' });
  account = await service.account();
});
afterAll(() => service.stop());

const poller = (): TestPoller => new TestPoller(service, clock, `${service.simulator.url}/twilio`);

/** Accepted by Twilio, with a carrier that has said all it will. */
async function sentLongAgo(to: string, ageHours = 2): Promise<string> {
  clock.advance(hourMs - (clock.now() % hourMs) + 60_000);
  const { id } = await account.api.sent({ to });
  await until('the carrier is done', async () => {
    const [asked] = await service.asked(to);
    return to.startsWith('+99901010') || asked?.receipts.some(({ status }) => status !== 'sent');
  });
  clock.advance(ageHours * hourMs);
  return id;
}

async function rawReceiptsOf(id: string): Promise<string[]> {
  const { rows } = await service.pool.query<{ raw: string }>(
    'SELECT raw FROM receipts WHERE message_id = $1 ORDER BY id',
    [fromPublicId('msg', id)],
  );
  return rows.map(({ raw }) => raw);
}

const lost = [
  ['delivered', '+9990100120', { status: 'delivered', error: null }, 'message.delivered'],
  ['failed', '+9990100820', { status: 'failed', error: { code: 'delivery_failed' } }, 'message.failed'],
  ['expired', '+9990100920', { status: 'undelivered', error: { code: 'delivery_expired' } }, 'message.failed'],
] as const;

describe('a message whose receipt was lost', () => {
  it.each(lost)('is found to be %s', async (_what, to, shown, event) => {
    const id = await sentLongAgo(to);
    expect((await account.api.get(id)).status).toBe('sent');
    await poller().runToEnd();
    expect(await account.api.get(id)).toMatchObject({ ...shown, attempts: 1, cost: 0.01 });
    expect((await account.api.eventsOf(id)).map(({ type }) => type)).toEqual(['message.sent', event]);
    expect(await rawReceiptsOf(id)).toEqual([expect.stringMatching(/^looked up at 20\d\d-/)]);
  });

  it('is looked for by the service itself', async () => {
    const id = await sentLongAgo('+9990100121');
    await service.peer();
    await until('delivered', async () => (await account.api.get(id)).status === 'delivered');
  });

  it('stays sent where the carrier has not said anything', async () => {
    const id = await sentLongAgo('+9990101020');
    const asking = poller();
    await asking.runToEnd();
    expect((await asking.learnt())['sent']).toBeGreaterThan(0);
    expect((await account.api.get(id)).status).toBe('sent');
    expect(await rawReceiptsOf(id)).toEqual([]);
  });

  it('is asked about again in the next round where the upstream could not be asked', async () => {
    const id = await sentLongAgo('+9990100122');
    const asking = poller();
    await service.disturb('twilio', { outage: true });
    await asking.runToEnd();
    await service.disturb('twilio', { outage: false });
    expect(await asking.learnt()).toEqual({ unavailable: expect.any(Number) });
    clock.advance(3 * hourMs);
    await asking.runToEnd();
    expect((await account.api.get(id)).status).toBe('delivered');
  });
});
