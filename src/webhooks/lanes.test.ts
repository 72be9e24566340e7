import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Lanes, type TurnEnd } from './lanes.ts';

const limits = { waitingPerLaneMax: 1_000, waitingMax: 10_000, runningPerLaneMax: 8, runningMax: 32 };

function fill(lanes: Lanes<number>, key: string, count: number): void {
  for (let item = 0; item < count; item += 1) lanes.push(key, item);
}

function takeAll(lanes: Lanes<number>): string[] {
  const keys: string[] = [];
  for (let turn = lanes.next(); turn !== undefined; turn = lanes.next()) keys.push(turn.key);
  return keys;
}

test('lanes take turns: a long one does not delay a short one', () => {
  const lanes = new Lanes<number>(limits);
  fill(lanes, 'long', 1_000);
  fill(lanes, 'short', 2);
  const [first, second, third, fourth] = takeAll(lanes);
  expect([first, second, third, fourth]).toEqual(['long', 'short', 'long', 'short']);
});

test('the items of a lane keep their order', () => {
  const lanes = new Lanes<number>(limits);
  fill(lanes, 'a', 3);
  expect([lanes.next()?.item, lanes.next()?.item, lanes.next()?.item]).toEqual([0, 1, 2]);
});

test('a lane starts with four turns at a time and earns one more with each success, up to its maximum', () => {
  const lanes = new Lanes<number>(limits);
  fill(lanes, 'a', 100);
  expect(takeAll(lanes)).toHaveLength(4);
  lanes.end('a', 'succeeded');
  expect(takeAll(lanes)).toHaveLength(2);
  for (let ended = 0; ended < 20; ended += 1) {
    lanes.end('a', 'succeeded');
    takeAll(lanes);
  }
  expect(lanes.running).toBe(limits.runningPerLaneMax);
});

test('a lane whose turns fail is left two turns at a time', () => {
  const lanes = new Lanes<number>(limits);
  fill(lanes, 'a', 100);
  for (const key of takeAll(lanes)) lanes.end(key, 'failed');
  expect(takeAll(lanes)).toHaveLength(2);
});

test('endpoints that hang leave turns to the others, as long as they are not as many as there are turns', () => {
  const lanes = new Lanes<number>(limits);
  for (let endpoint = 0; endpoint < 7; endpoint += 1) fill(lanes, `dead ${endpoint}`, 100);
  takeAll(lanes);
  fill(lanes, 'healthy', 1);
  expect(lanes.next()?.key).toBe('healthy');
});

test('a full lane refuses more, and takes more as soon as its turns are taken', () => {
  const lanes = new Lanes<number>({ ...limits, waitingPerLaneMax: 2 });
  expect([lanes.push('a', 1), lanes.push('a', 2), lanes.push('a', 3)]).toEqual([true, true, false]);
  expect(lanes.room('a')).toBe(0);
  lanes.next();
  expect(lanes.room('a')).toBe(1);
  expect(lanes.push('a', 3)).toBe(true);
});

test('all lanes together hold no more than the total', () => {
  const lanes = new Lanes<number>({ ...limits, waitingMax: 3 });
  fill(lanes, 'a', 2);
  fill(lanes, 'b', 2);
  expect(lanes.waiting).toBe(3);
  expect(lanes.room('c')).toBe(0);
});

test('whatever happens, limits hold, every item taken was pushed, and none is forgotten', () => {
  const key = fc.constantFrom('a', 'b', 'c');
  const action = fc.oneof(
    fc.record({ kind: fc.constant('push' as const), key }),
    fc.record({ kind: fc.constant('next' as const) }),
    fc.record({ kind: fc.constant('end' as const), end: fc.constantFrom<TurnEnd>('succeeded', 'failed', 'dropped') }),
  );
  fc.assert(
    fc.property(fc.array(action, { maxLength: 200 }), (actions) => {
      const small = { waitingPerLaneMax: 5, waitingMax: 12, runningPerLaneMax: 6, runningMax: 7 };
      const lanes = new Lanes<number>(small);
      const running: string[] = [];
      const taken: number[] = [];
      let pushed = 0;
      for (const step of actions) {
        if (step.kind === 'push' && lanes.push(step.key, pushed)) pushed += 1;
        const turn = step.kind === 'next' ? lanes.next() : undefined;
        if (turn !== undefined) {
          running.push(turn.key);
          taken.push(turn.item);
        }
        const ended = step.kind === 'end' ? running.shift() : undefined;
        if (step.kind === 'end' && ended !== undefined) lanes.end(ended, step.end);
        expect(lanes.running).toBe(running.length);
        expect(lanes.running).toBeLessThanOrEqual(small.runningMax);
        expect(lanes.waiting).toBeLessThanOrEqual(small.waitingMax);
        for (const lane of ['a', 'b', 'c']) {
          expect(running.filter((one) => one === lane).length).toBeLessThanOrEqual(small.runningPerLaneMax);
        }
      }
      while (taken.length < pushed) {
        const turn = lanes.next();
        const ended = turn?.key ?? running.shift();
        if (turn !== undefined) taken.push(turn.item);
        lanes.end(ended as string, 'dropped');
      }
      expect(taken.toSorted((a, b) => a - b)).toEqual(Array.from({ length: pushed }, (_, item) => item));
    }),
  );
});
