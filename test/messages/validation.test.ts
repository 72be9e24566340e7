import { afterAll, describe, expect, it } from 'vitest';
import { TestService } from '../helpers/service.ts';

const service = await TestService.start();
afterAll(() => service.stop());

const { api } = await service.account({
  senders: [
    { sender_id: 'HELIO', status: 'approved' },
    { sender_id: 'My Shop 24', status: 'approved' },
    { sender_id: '20123', status: 'approved' },
    { sender_id: '+15005550006', status: 'approved' },
    { sender_id: '15005550007', status: 'approved' },
    { sender_id: 'Waiting', status: 'pending' },
    { sender_id: 'Refused', status: 'rejected' },
    { sender_id: 'Halted', status: 'suspended' },
  ],
});
const to = '+14155550123';

describe('a send is refused with 400, naming the parameter,', () => {
  it.each([
    ['to is missing', { to: undefined }, 'invalid_request', 'to'],
    ['from is missing', { to, from: undefined }, 'invalid_request', 'from'],
    ['body is missing', { to, body: undefined }, 'invalid_request', 'body'],
    ['to is null', { to: null }, 'invalid_request', 'to'],
    ['to is a number', { to: 14_155_550_123 }, 'invalid_request', 'to'],
    ['to is a list', { to: [to] }, 'invalid_request', 'to'],
    ['from is a number', { to, from: 20_123 }, 'invalid_request', 'from'],
    ['body is a number', { to, body: 7 }, 'invalid_request', 'body'],
    ['body is an object', { to, body: { text: 'Hello' } }, 'invalid_request', 'body'],
    ['to has no plus sign', { to: '14155550123' }, 'invalid_recipient', 'to'],
    ['to is in local form', { to: '(415) 555-0123' }, 'invalid_recipient', 'to'],
    ['to has the international prefix instead of the plus sign', { to: '0014155550123' }, 'invalid_recipient', 'to'],
    ['to begins with a zero', { to: '+04155550123' }, 'invalid_recipient', 'to'],
    ['to has 6 digits', { to: '+141555' }, 'invalid_recipient', 'to'],
    ['to has 16 digits', { to: '+1415555012345678' }, 'invalid_recipient', 'to'],
    ['to has spaces', { to: '+1 415 555 0123' }, 'invalid_recipient', 'to'],
    ['to ends with a line feed', { to: `${to}\n` }, 'invalid_recipient', 'to'],
    ['to has digits of another script', { to: '+١٤١٥٥٥٥٠١٢٣' }, 'invalid_recipient', 'to'],
    ['to is empty', { to: '' }, 'invalid_recipient', 'to'],
    ['to has half of a surrogate pair', { to: `${to}\ud83d` }, 'invalid_recipient', 'to'],
    ['from is empty', { to, from: '' }, 'invalid_sender', 'from'],
    ['from is alphanumeric with 12 characters', { to, from: 'TwelveLetter' }, 'invalid_sender', 'from'],
    ['from has characters besides letters, digits and spaces', { to, from: 'He-lio' }, 'invalid_sender', 'from'],
    ['from has letters outside ASCII', { to, from: 'Hélio' }, 'invalid_sender', 'from'],
    ['from is only spaces', { to, from: '   ' }, 'invalid_sender', 'from'],
    ['from is a number of 16 digits', { to, from: '1234567890123456' }, 'invalid_sender', 'from'],
    ['from is a number of 2 digits', { to, from: '12' }, 'invalid_sender', 'from'],
    ['from is not a sender of the account', { to, from: 'Stranger' }, 'sender_not_approved', 'from'],
    ['from is an approved sender in other case', { to, from: 'helio' }, 'sender_not_approved', 'from'],
    ['from still waits for approval', { to, from: 'Waiting' }, 'sender_not_approved', 'from'],
    ['from was rejected', { to, from: 'Refused' }, 'sender_not_approved', 'from'],
    ['from is suspended', { to, from: 'Halted' }, 'sender_not_approved', 'from'],
    ['body is empty', { to, body: '' }, 'invalid_request', 'body'],
    ['body has 1,601 characters', { to, body: 'a'.repeat(1_601) }, 'invalid_request', 'body'],
    ['body has 1,602 UTF-16 units in 801 characters', { to, body: '😀'.repeat(801) }, 'invalid_request', 'body'],
    ['body has half of a surrogate pair', { to, body: 'Hello \ud83d' }, 'invalid_request', 'body'],
    ['body has a NUL', { to, body: 'Hello\0' }, 'invalid_request', 'body'],
    ['provider is none of the nine', { to, provider: 'carrier-pigeon' }, 'invalid_request', 'provider'],
    ['provider is in capitals', { to, provider: 'TWILIO' }, 'invalid_request', 'provider'],
    ['provider is a number', { to, provider: 1 }, 'invalid_request', 'provider'],
    ['provider is one of the nine that is not configured', { to, provider: 'smpp' }, 'invalid_request', 'provider'],
    ['route_id is not a route', { to, route_id: 99 }, 'invalid_request', 'route_id'],
    ['route_id is larger than any integer column', { to, route_id: 2 ** 53 }, 'invalid_request', 'route_id'],
    ['route_id is a string', { to, route_id: '1' }, 'invalid_request', 'route_id'],
    ['route_id is a fraction', { to, route_id: 1.5 }, 'invalid_request', 'route_id'],
    ['route_id is a boolean', { to, route_id: true }, 'invalid_request', 'route_id'],
    ['reference has 256 characters', { to, reference: 'r'.repeat(256) }, 'invalid_request', 'reference'],
    ['reference is a number', { to, reference: 7 }, 'invalid_request', 'reference'],
    ['reference has half of a surrogate pair', { to, reference: '\udc00' }, 'invalid_request', 'reference'],
    ['reference has a NUL', { to, reference: 'a\0b' }, 'invalid_request', 'reference'],
  ])('when %s', async (_condition, fields, code, param) => {
    const { status, error } = await api.send(fields);
    expect({ status, type: error.type, code: error.code, param: error.param }).toEqual({
      status: 400,
      type: 'invalid_request_error',
      code,
      param,
    });
  });
});

describe('a bulk is refused with 400, naming the parameter,', () => {
  const recipients = [to];
  it.each([
    ['recipients is missing', { recipients: undefined }, 'invalid_request', 'recipients'],
    ['recipients is empty', { recipients: [] }, 'invalid_request', 'recipients'],
    ['recipients is a string', { recipients: to }, 'invalid_request', 'recipients'],
    ['recipients is null', { recipients: null }, 'invalid_request', 'recipients'],
    ['there are 1,001 recipients', { recipients: Array(1_001).fill(to) }, 'invalid_request', 'recipients'],
    ['a recipient is a number', { recipients: [to, 14_155_550_123] }, 'invalid_request', 'recipients.1'],
    ['a recipient is null', { recipients: [to, to, null] }, 'invalid_request', 'recipients.2'],
    ['from is missing', { recipients, from: undefined }, 'invalid_request', 'from'],
    ['from is not approved', { recipients, from: 'Stranger' }, 'sender_not_approved', 'from'],
    ['body is missing', { recipients, body: undefined }, 'invalid_request', 'body'],
    ['body has 1,601 characters', { recipients, body: 'a'.repeat(1_601) }, 'invalid_request', 'body'],
    ['body has half of a surrogate pair', { recipients, body: '\ud83d' }, 'invalid_request', 'body'],
    ['provider is none of the nine', { recipients, provider: 'carrier-pigeon' }, 'invalid_request', 'provider'],
    ['provider is not configured', { recipients, provider: 'infobip' }, 'invalid_request', 'provider'],
    ['route_id is not a route', { recipients, route_id: 99 }, 'invalid_request', 'route_id'],
  ])('when %s', async (_condition, fields, code, param) => {
    const { status, error } = await api.bulk(fields);
    expect({ status, type: error.type, code: error.code, param: error.param }).toEqual({
      status: 400,
      type: 'invalid_request_error',
      code,
      param,
    });
  });
});

describe('the body of the request', () => {
  it.each([
    ['an array', '[]'],
    ['a string', '"to"'],
    ['null', 'null'],
    ['a number', '1'],
  ])('is refused when it is %s', async (_what, rawBody) => {
    const { status, error } = await api.request('POST', '/messages/send', { rawBody });
    expect({ status, code: error.code }).toEqual({ status: 400, code: 'invalid_request' });
  });
});

describe('a send is accepted', () => {
  const repeated = new Set(['to', 'from', 'body', 'reference']);
  it.each([
    ['to 7 digits', { to: '+1234567' }],
    ['to 15 digits', { to: '+123456789012345' }],
    ['to a number no numbering plan knows', { to: '+99912345678' }],
    ['from an alphanumeric sender with spaces', { to, from: 'My Shop 24' }],
    ['from a short code', { to, from: '20123' }],
    ['from a long number with a plus sign', { to, from: '+15005550006' }],
    ['from a long number without one', { to, from: '15005550007' }],
    ['with a body of 1,600 characters', { to, body: 'a'.repeat(1_600) }],
    ['with a body of 1,600 UTF-16 units in 800 characters', { to, body: '😀'.repeat(800) }],
    ['with null for all that is optional', { to, provider: null, route_id: null, reference: null }],
    ['with a reference of 255 characters', { to, reference: '✓'.repeat(255) }],
    ['with fields that the service does not know', { to, colour: 'red', status: 'delivered', cost: 0 }],
  ])('%s', async (_what, fields) => {
    const message = await api.sent(fields);
    const asked = Object.entries(fields).filter(([name, value]) => repeated.has(name) && value !== null);
    expect(message).toMatchObject({ from: 'HELIO', body: 'Hello', error: null, ...Object.fromEntries(asked) });
  });
});

it('what is refused as a whole is not stored, costs nothing, and no provider hears of it', async () => {
  const other = await service.account({ balance: 1 });
  await other.api.send({ to, from: 'Stranger' });
  await other.api.send({ to, body: '' });
  await other.api.send({ to: '+10000000001 ' });
  await other.api.bulk({ recipients: [] });
  await other.api.bulk({ recipients: ['+10000000001'], provider: 'plivo' });
  expect((await other.api.list()).pagination.total).toBe(0);
  expect(await other.api.balance()).toBe(1);
  expect(await service.asked('+10000000001')).toEqual([]);
});
