import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  classOfStatus,
  parseObject,
  readCode,
  readRetryAfterMs,
  readText,
  resultOfError,
  resultOfFault,
  shorten,
} from './result.ts';

const nowMs = Date.parse('2026-11-20T09:00:00Z');
const clock = { now: () => nowMs };

describe('a status without a code', () => {
  it.each([
    [200, 'unknown'],
    [201, 'unknown'],
    [202, 'unknown'],
    [204, 'unknown'],
    [301, 'unavailable'],
    [307, 'unavailable'],
    [400, 'invalid_content'],
    [401, 'credentials'],
    [402, 'billing'],
    [403, 'credentials'],
    [404, 'credentials'],
    [405, 'unavailable'],
    [408, 'unavailable'],
    [413, 'invalid_content'],
    [418, 'unavailable'],
    [422, 'invalid_content'],
    [429, 'throttled'],
    [500, 'unavailable'],
    [502, 'unavailable'],
    [503, 'unavailable'],
    [504, 'unavailable'],
    [599, 'unavailable'],
  ])('%i is %s', (status, errorClass) => {
    expect(classOfStatus(status)).toBe(errorClass);
  });
});

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['120', 120_000],
    ['3600', 3_600_000],
    ['999999999999999999999', 3_600_000],
    ['Fri, 20 Nov 2026 09:00:30 GMT', 30_000],
    ['Fri, 20 Nov 2026 08:00:00 GMT', 0],
    ['Fri, 20 Nov 2099 08:00:00 GMT', 3_600_000],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
    [['1', '2'], undefined],
  ])('%j is a wait of %s ms', (header, waitMs) => {
    expect(readRetryAfterMs(header, clock)).toBe(waitMs);
  });
});

describe('a result', () => {
  const answer = { kind: 'answer', status: 400, headers: { 'retry-after': '5' }, body: '' } as const;

  it('keeps a bounded part of what the upstream wrote', () => {
    const result = resultOfError(undefined, answer, { code: 'c'.repeat(5_000), message: 'm'.repeat(5_000) }, clock);
    if (result.outcome !== 'rejected') throw new Error(`unexpected outcome ${result.outcome}`);
    expect(result.code).toHaveLength(300);
    expect(result.message).toHaveLength(300);
  });

  it('carries a wait only where waiting helps', () => {
    const error = { code: '1', message: 'text' };
    expect(resultOfError({ class: 'unavailable', text: '' }, answer, error, clock)).toHaveProperty(
      'retryAfterMs',
      5_000,
    );
    expect(resultOfError({ class: 'blocked', text: '' }, answer, error, clock)).not.toHaveProperty('retryAfterMs');
  });

  it('of a request that was not written may be tried elsewhere; of one that was, nobody knows', () => {
    const fault = { code: 'ECONNRESET', message: 'reset' };
    expect(resultOfFault({ kind: 'not_written', ...fault })).toEqual({
      outcome: 'retryable',
      reason: 'unavailable',
      ...fault,
    });
    expect(resultOfFault({ kind: 'no_answer', ...fault })).toEqual({ outcome: 'unknown', ...fault });
  });
});

it('takes nothing but a JSON object for an object', () => {
  for (const text of ['', 'null', '[]', '"a"', '1', '{', '{"a":1}x']) expect(parseObject(text)).toBeUndefined();
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      expect(parseObject(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

it('takes for a text or a code nothing that cannot be stored, and nothing empty', () => {
  for (const value of ['', 'a\0b', null, undefined, true, [], {}, { toString: null }]) {
    expect(readText(value)).toBeUndefined();
    expect(readCode(value)).toBeUndefined();
  }
  expect(readText('some text')).toBe('some text');
  expect(readText(7)).toBeUndefined();
  expect(readCode('E400')).toBe('E400');
  expect(readCode(21211)).toBe('21211');
  expect(shorten('a\0b')).toBe('ab');
});
