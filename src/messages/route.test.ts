import { describe, expect, it } from 'vitest';
import { chainOf, matchRoute, type Route } from './route.ts';

function route(id: number, match: Partial<Route['match']> = {}): Route {
  return {
    id,
    name: `route ${id}`,
    match: { prefixes: [], senderTypes: [], ...match },
    providers: ['twilio', 'vonage', 'sinch'],
    rates: new Map(),
  };
}

const anything = route(1);
const britain = route(2, { prefixes: ['+44'] });
const britishMobile = route(3, { prefixes: ['+447', '+448'] });
const fromNames = route(4, { senderTypes: ['alphanumeric'] });
const britainFromNames = route(5, { prefixes: ['+44'], senderTypes: ['alphanumeric', 'short_code'] });

describe('of the routes that match', () => {
  it.each([
    ['the only one', [anything], '+447912345678', 'long_code', 1],
    ['one with a prefix before one without', [anything, britain], '+442079460000', 'long_code', 2],
    ['one with a longer prefix', [anything, britain, britishMobile], '+447912345678', 'long_code', 3],
    ['one with a prefix before one with a sender type', [fromNames, britain], '+442079460000', 'alphanumeric', 2],
    ['one with both before one with the same prefix', [britain, britainFromNames], '+442079460000', 'short_code', 5],
    [
      'one with a longer prefix before one with both',
      [britainFromNames, britishMobile],
      '+447912345678',
      'short_code',
      3,
    ],
    ['one with a sender type before one that takes anything', [anything, fromNames], '+14155550123', 'alphanumeric', 4],
    ['the first of equals', [route(8, { prefixes: ['+44'] }), britain], '+442079460000', 'long_code', 8],
    ['none of those for other senders', [anything, fromNames], '+14155550123', 'long_code', 1],
    ['none of those for other prefixes', [anything, britain], '+14155550123', 'long_code', 1],
  ] as const)('%s is taken', (_which, routes, recipient, senderForm, id) => {
    expect(matchRoute(routes, recipient, senderForm)?.id).toBe(id);
  });

  it('there may be none', () => {
    expect(matchRoute([britain, fromNames], '+14155550123', 'long_code')).toBeUndefined();
    expect(matchRoute([], '+14155550123', 'long_code')).toBeUndefined();
  });
});

describe('the chain', () => {
  it.each([
    ['that of the route', undefined, ['twilio', 'vonage', 'sinch']],
    ['the preferred provider, then the others in their order', 'vonage', ['vonage', 'twilio', 'sinch']],
    ['as it is when the preferred provider comes first already', 'twilio', ['twilio', 'vonage', 'sinch']],
    ['longer by a preferred provider that is not in it', 'plivo', ['plivo', 'twilio', 'vonage', 'sinch']],
  ] as const)('is %s', (_rule, preferred, chain) => {
    expect(chainOf(anything, preferred)).toEqual(chain);
    expect(anything.providers).toEqual(['twilio', 'vonage', 'sinch']);
  });
});
