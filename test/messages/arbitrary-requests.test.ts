import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { TestService } from '../helpers/service.ts';

const service = await TestService.start();
afterAll(() => service.stop());

const { api } = await service.account({ balance: 1_000 });

/** Mostly what a caller means to send, sometimes anything that JSON can say. */
function sometimes(meant: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 6, arbitrary: meant },
    { weight: 1, arbitrary: fc.jsonValue({ stringUnit: 'binary' }) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 2_000 }) },
    { weight: 1, arbitrary: fc.constantFrom(null, undefined, '', 0, -1, 1e308, 2 ** 53, true, [], {}) },
  );
}

const recipient = fc.oneof(
  fc.constantFrom('+14155550123', '+999010011', '+99901001', '+1234567', '+123456789012345'),
  fc.string({ unit: fc.constantFrom(...Array.from('+0123456789 -')), maxLength: 20 }),
);
const content = {
  from: sometimes(fc.constantFrom('HELIO', 'helio', '+15005550006')),
  body: sometimes(fc.string({ unit: 'binary', minLength: 1, maxLength: 1_700 })),
  route_id: sometimes(fc.constantFrom(1, 2, 3, null)),
  provider: sometimes(fc.constantFrom('twilio', 'vonage', 'smpp', null)),
};
const sendBody = fc.oneof(
  fc.record({ to: sometimes(recipient), reference: sometimes(fc.string()), ...content }, { requiredKeys: [] }),
  fc.jsonValue(),
);
const bulkBody = fc.oneof(
  fc.record({ recipients: sometimes(fc.array(recipient, { maxLength: 6 })), ...content }, { requiredKeys: [] }),
  fc.jsonValue(),
);
const anyText = fc.string({ unit: 'binary', maxLength: 50 });
const listQuery = fc.record(
  {
    status: fc.oneof(fc.constantFrom('pending', 'sent', 'delivered', 'failed', 'undelivered'), anyText),
    to: fc.oneof(recipient, anyText),
    created_after: fc.oneof(
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      anyText,
    ),
    created_before: fc.oneof(
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      anyText,
    ),
    page: fc.oneof(fc.maxSafeNat(), fc.double(), anyText),
    limit: fc.oneof(fc.nat({ max: 120 }), fc.double(), anyText),
  },
  { requiredKeys: [] },
);

// The client holds every answer to the envelope, the closed list of statuses and the catalogue of codes.
describe('whatever is sent to it, the API keeps to its contract:', () => {
  it.each([
    ['/messages/send', sendBody],
    ['/messages/bulk', bulkBody],
  ])('POST %s', async (path, bodies) => {
    const sound = fc.asyncProperty(bodies, async (json) => {
      const { status } = await api.request('POST', path, { json });
      expect(status).not.toBe(500);
    });
    await fc.assert(sound, { numRuns: 300 });
  });

  it('GET /messages', async () => {
    const sound = fc.asyncProperty(listQuery, async (query) => {
      const given = Object.entries(query).filter(([, value]) => value !== undefined);
      const { status } = await api.request('GET', '/messages', { query: Object.fromEntries(given) });
      expect([200, 400]).toContain(status);
    });
    await fc.assert(sound, { numRuns: 300 });
  });

  it('GET /messages/{id}', async () => {
    const sound = fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }), async (id) => {
      const { status } = await api.request('GET', `/messages/${encodeURIComponent(id.toWellFormed())}`);
      // A dot or two, and nothing else, name another path.
      expect(/^\.\.?$/.test(id) ? [200, 404] : [404]).toContain(status);
    });
    await fc.assert(sound, { numRuns: 200 });
  });

  it('Idempotency-Key', async () => {
    const header = fc.string({
      unit: fc.integer({ min: 0x20, max: 0xff }).map((unit) => String.fromCharCode(unit)),
      maxLength: 300,
    });
    const sound = fc.asyncProperty(header, async (key) => {
      fc.pre(!key.includes('\u007f'));
      const { status } = await api.send({ to: '+14155550123' }, { 'idempotency-key': key });
      const { length } = key.trim();
      expect(status).toBe(length >= 1 && length <= 255 ? 201 : 400);
    });
    await fc.assert(sound, { numRuns: 60 });
  });
});
