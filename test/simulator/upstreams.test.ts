import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { currentStatus, type Message } from '../../src/simulator/message.ts';
import { scenarioOf } from '../../src/simulator/scenario.ts';
import type { Reading, Submission, Upstream, WireRequest } from '../../src/simulator/upstream.ts';
import { upstreams } from '../../src/simulator/upstreams/registry.ts';
import { httpWires } from './wires/registry.ts';
import type { HttpWire } from './wires/wire.ts';

const sms = { to: '+447700900123', from: 'HELIO', text: 'Hello', callbackUrl: 'http://127.0.0.1/callbacks?a=b#c' };

function requestOf(wire: HttpWire, body: string): WireRequest {
  const { path, headers } = wire.request(sms);
  const lowerCase = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { method: 'POST', path, query: '', headers: lowerCase, body };
}

/** The valid request with one field, at any depth, replaced by anything. */
function spoiledBodies(wire: HttpWire): fc.Arbitrary<string> {
  const { body } = wire.request(sms);
  if (typeof body === 'string') {
    const valid: unknown = JSON.parse(body);
    return fc
      .tuple(fc.constantFrom(...pathsIn(valid)), fc.jsonValue())
      .map(([path, value]) => JSON.stringify(replaced(valid, path, value)));
  }
  return fc.tuple(fc.constantFrom(...body.keys()), fc.string({ unit: 'binary' })).map(([name, value]) => {
    const spoiled = new URLSearchParams(body);
    spoiled.set(name, value);
    return spoiled.toString();
  });
}

type Path = readonly string[];

function pathsIn(value: unknown): Path[] {
  if (typeof value !== 'object' || value === null) return [[]];
  return [[], ...Object.entries(value).flatMap(([key, inner]) => pathsIn(inner).map((path) => [key, ...path]))];
}

function replaced(value: unknown, [key, ...rest]: Path, replacement: unknown): unknown {
  if (key === undefined) return replacement;
  const copy: unknown = structuredClone(value);
  if (typeof copy === 'object' && copy !== null)
    Reflect.set(copy, key, replaced(Reflect.get(copy, key), rest, replacement));
  return copy;
}

/** Whatever an upstream may be asked to say of a message. */
function say(upstream: Upstream, provider: string, submission: Submission): void {
  const scenario = scenarioOf(submission.to);
  const id = upstream.newMessageId(submission);
  for (const refusal of [undefined, 'invalid_recipient', 'opted_out', 'no_funds'] as const) {
    const message: Message = { id, provider, submission, scenario, acceptedAt: 0, receipts: [], refusal };
    upstream.accepted(message);
    upstream.duplicate?.(submission);
    if (refusal !== undefined) upstream.refused(submission, refusal);
    for (const status of ['sent', 'delivered', 'failed', 'expired'] as const) {
      upstream.callback(message, { status, callbackUrl: sms.callbackUrl, attempt: 1, at: 1 });
    }
  }
}

describe.each(httpWires)('$provider', (wire) => {
  const upstream: Upstream = upstreams[wire.provider as keyof typeof upstreams];

  it('takes the request that its wire makes', () => {
    const reading = upstream.read(requestOf(wire, String(wire.request(sms).body)));
    expect(reading).toMatchObject({ kind: 'send', submission: { to: sms.to, from: sms.from, text: sms.text } });
  });

  it('answers every request to send, whatever one of its fields may be', () => {
    fc.assert(
      fc.property(spoiledBodies(wire), (body) => {
        const reading: Reading = upstream.read(requestOf(wire, body));
        expect(['send', 'invalid']).toContain(reading.kind);
        if (reading.kind === 'send') say(upstream, wire.provider, reading.submission);
        else expect(reading).toMatchObject({ response: { status: expect.any(Number) } });
      }),
      { numRuns: 300 },
    );
  });

  it('answers any path, query and body', () => {
    const anything = fc.string({ unit: 'binary', maxLength: 40 });
    const tails = fc.constantFrom('', '/', '/%', '/1', '/1/', '/1/delivery_report/%zz', '?');
    fc.assert(
      fc.property(fc.constantFrom('GET', 'POST', 'PUT'), tails, anything, anything, (method, tail, query, body) => {
        const { path, ...request } = requestOf(wire, body);
        const reading = upstream.read({ ...request, method, path: path + tail, query });
        if (reading.kind === 'poll') expect(reading.render(undefined, undefined).status).toBeGreaterThanOrEqual(200);
      }),
    );
  });

  it('looks at the credentials before anything else, and says nothing to a stranger', () => {
    const { headers: _headers, ...request } = requestOf(wire, String(wire.request(sms).body));
    expect(upstream.read({ ...request, headers: {} })).toMatchObject({ kind: 'invalid', response: { status: 401 } });
    const polled = upstream.read({ ...request, headers: {}, method: 'GET', body: '' });
    expect(polled).toMatchObject({ kind: 'answer', response: { status: expect.any(Number) } });
  });
});

it('what a poll is told is the last status that is due', () => {
  const submission = { ...sms, reference: undefined };
  const message: Message = {
    id: '1',
    provider: 'twilio',
    submission,
    scenario: scenarioOf('+99901008001'),
    acceptedAt: 1_000,
    receipts: [],
  };
  const at = (now: number) => currentStatus(message, now, 100);
  expect([at(1_000), at(1_049), at(1_050), at(1_099), at(1_100), at(9_999)]).toEqual([
    undefined,
    undefined,
    'sent',
    'sent',
    'failed',
    'failed',
  ]);
});
