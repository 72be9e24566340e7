import { createRequire, registerHooks } from 'node:module';
import type * as SinchSms from '@sinch/sms';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Simulator, simulatorCredentials, startSimulator } from '../../src/simulator/simulator.ts';
import type { CallbackResult } from '../../src/simulator/upstream.ts';
import { signSinchCallback, sinch } from '../../src/simulator/upstreams/sinch.ts';
import { listMessages } from './control-client.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** The published package requires the manifest of another one, which it neither needs nor depends on. */
function loadSdk(): typeof SinchSms {
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier.replace(/^@sinch\/sdk-core\/package\.json$/, '../package.json'), context),
  });
  try {
    return createRequire(import.meta.url)('@sinch/sms');
  } finally {
    hooks.deregister();
  }
}

const { SmsCallbackWebhooks, SmsService } = loadSdk();
const { servicePlanId, apiToken, webhookSecret } = simulatorCredentials.sinch;

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

const sms = { to: ['447700900123'], from: 'HELIO', body: 'Hello' };

function sdk(options: { basePath?: string; plan?: string; token?: string } = {}) {
  return new SmsService({
    servicePlanId: options.plan ?? servicePlanId,
    apiToken: options.token ?? apiToken,
    smsHostname: simulator.url + (options.basePath ?? '/sinch'),
    smsRegion: 'eu',
    logger: null,
  });
}

const send = (fields: object = {}, options = {}) =>
  sdk(options).batches.sendTextMessage({ sendSMSRequestBody: { ...sms, ...fields } });

const delayMs = (attempt: number, result: CallbackResult) => sinch.callbackRetryDelayMs(attempt, result);

describe('the official SDK', () => {
  it.each(['/sinch', ''])('sends a batch and reads it back, under base path "%s"', async (basePath) => {
    const before = Date.now();
    const created = await send({ client_reference: 'reference-1' }, { basePath });
    expect(created).toMatchObject({
      id: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
      ...sms,
      type: 'mt_text',
      canceled: false,
      delivery_report: 'none',
      client_reference: 'reference-1',
    });
    expect(Number(created.created_at)).toBeGreaterThanOrEqual(before);
    expect(Number(created.created_at)).toBeLessThanOrEqual(Date.now());
    expect(await sdk({ basePath }).batches.get({ batch_id: String(created.id) })).toEqual(created);
  });

  it('fetches delivery reports also where no callback was asked for, by batch and by recipient', async () => {
    const { id } = await send({ to: ['+99901008101'] });
    const reports = sdk().deliveryReports;
    const batch_id = String(id);
    await expect
      .poll(() => reports.getForNumber({ batch_id, recipient_msisdn: '99901008101' }))
      .toMatchObject({ batch_id, recipient: '+99901008101', status: 'Failed', code: 1 });
    expect(await reports.get({ batch_id, type: 'full' })).toMatchObject({
      type: 'delivery_report_sms',
      total_message_count: 1,
      statuses: [{ status: 'Failed', code: 1, count: 1, recipients: ['99901008101'] }],
    });
    const summary = await reports.get({ batch_id });
    expect(summary.statuses).toEqual([{ status: 'Failed', code: 1, count: 1 }]);
    for (const recipient_msisdn of ['447700900123', '%']) {
      await expect(reports.getForNumber({ batch_id, recipient_msisdn })).rejects.toMatchObject({ statusCode: 404 });
    }
  });

  it.each([
    ['an invalid recipient', { to: ['99901002101'] }, 400, 'syntax_invalid_parameter_format'],
    ['an outage', { to: ['99901006101'] }, 503, 'service_unavailable'],
    ['throttling', { to: ['99901013101'] }, 429, 'too_many_requests'],
    ['no recipient', { to: [] }, 400, 'syntax_constraint_violation'],
    ['several recipients', { to: ['447700900123', '447700900124'] }, 400, 'syntax_constraint_violation'],
    ['a malformed recipient', { to: ['0770'] }, 400, 'syntax_invalid_parameter_format'],
    ['a missing sender', { from: undefined }, 400, 'syntax_constraint_violation'],
    ['a malformed sender', { from: 'A name too long' }, 400, 'syntax_invalid_parameter_format'],
    ['an empty body', { body: '' }, 400, 'syntax_constraint_violation'],
    ['a body too long', { body: 'x'.repeat(2_001) }, 400, 'syntax_constraint_violation'],
    ['an unknown kind of report', { delivery_report: 'weekly' }, 400, 'syntax_invalid_parameter_format'],
    ['a callback that is no URL', { callback_url: 'example.com' }, 400, 'syntax_invalid_parameter_format'],
    ['a reference too long', { client_reference: 'x'.repeat(129) }, 400, 'syntax_constraint_violation'],
    ['an expiry that is no time', { expire_at: 'tomorrow' }, 400, 'syntax_invalid_parameter_format'],
    ['a report wanted without a callback', { delivery_report: 'summary' }, 403, 'missing_callback_url'],
  ])('raises the right code for %s', async (_name, fields, statusCode, code) => {
    const error = await send(fields).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ statusCode });
    expect(JSON.stringify(error)).toContain(code);
  });

  it('raises 401 for a wrong token and 404 for another plan and an unknown batch', async () => {
    await expect(send({}, { token: 'wrong' })).rejects.toMatchObject({ statusCode: 401 });
    await expect(send({}, { plan: 'other' })).rejects.toMatchObject({ statusCode: 404 });
    await expect(sdk().batches.get({ batch_id: '0'.repeat(26) })).rejects.toMatchObject({ statusCode: 404 });
  });
});

describe('a delivery report', () => {
  it('is one that the official validator accepts and reads, until anything in it changes', async () => {
    const path = '/receipts/sinch/token';
    const { id } = await send({
      client_reference: 'reference-2',
      delivery_report: 'per_recipient',
      callback_url: receiver.url + path,
      max_number_of_message_parts: 3,
    });
    await expect.poll(() => receiver.at(path)).toHaveLength(2);

    const webhooks = new SmsCallbackWebhooks(webhookSecret);
    for (const { headers, body } of receiver.at(path)) {
      expect(webhooks.validateAuthenticationHeader(headers, body)).toBe(true);
      expect(webhooks.validateAuthenticationHeader(headers, `${body} `)).toBe(false);
      const later = { ...headers, 'x-sinch-webhook-signature-timestamp': '1' };
      expect(webhooks.validateAuthenticationHeader(later, body)).toBe(false);
      expect(new SmsCallbackWebhooks('another').validateAuthenticationHeader(headers, body)).toBe(false);
    }
    const [dispatched, delivered] = receiver.at(path).map(({ body }) => webhooks.parseEvent(body));
    const common = { batch_id: id, recipient: '+447700900123', client_reference: 'reference-2' };
    expect(dispatched).toMatchObject({ ...common, status: 'Dispatched', code: 401, number_of_message_parts: 1 });
    expect(delivered).toMatchObject({ ...common, status: 'Delivered', code: 0, at: expect.any(Date) });
  });

  it.each([
    ['per_recipient_final', { type: 'recipient_delivery_report_sms', recipient: '+447700900123', status: 'Delivered' }],
    ['full', { type: 'delivery_report_sms', statuses: [{ code: 0, count: 1, recipients: ['447700900123'] }] }],
    ['summary', { type: 'delivery_report_sms', statuses: [{ status: 'Delivered', code: 0, count: 1 }] }],
  ])('of kind %s comes once, when the status is final', async (delivery_report, report) => {
    const path = `/reports/${delivery_report}`;
    await send({ delivery_report, callback_url: receiver.url + path });
    await expect.poll(() => receiver.at(path)).toHaveLength(1);
    expect(JSON.parse(String(receiver.at(path)[0]?.body))).toMatchObject(report);
    const { messages } = await listMessages(simulator.url, {});
    expect(messages.at(-1)?.receipts).toHaveLength(1);
  });

  it('is not sent where none was asked for, though a callback URL is given', async () => {
    await send({ callback_url: `${receiver.url}/unasked` });
    await send({ delivery_report: 'per_recipient_final', callback_url: `${receiver.url}/asked` });
    await expect.poll(() => receiver.at('/asked')).toHaveLength(1);
    expect(receiver.at('/unasked')).toEqual([]);
  });

  it('carries the signature of the known vector', () => {
    const body = '{"type":"recipient_delivery_report_sms","batch_id":"01FC66621XXXXX119Z8PMV1QPQ"}';
    const stamp = { nonce: '01FJA8B4A7BM43YGWSG9GBV067', timestamp: '1634579353' };
    expect(signSinchCallback('foo_secret1234', body, stamp)).toBe('4Iy15kv1euyleuU6UgPS73ELZf8i5e5SFkE/XB3iVMA=');
  });

  it('is tried again when the receiver fails, and not when it refuses', () => {
    expect([1, 2, 3, 4].map((attempt) => delayMs(attempt, 500))).toEqual([5_000, 10_000, 20_000, undefined]);
    expect([delayMs(1, 'unreachable'), delayMs(1, 'timed_out'), delayMs(1, 429)]).toEqual([5_000, 5_000, 5_000]);
    expect([delayMs(1, 200), delayMs(1, 400), delayMs(1, 404)]).toEqual([undefined, undefined, undefined]);
  });
});
