import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createIdSource, firstIdAt, fromPublicId, timeOfId, toPublicId } from './ids.ts';

// The valid pair of https://github.com/jetify-com/typeid/blob/main/spec/valid.yml, its prefix apart.
const uuid = '01890a5d-ac96-774b-bcce-b302099a8057';
const text = '01h455vb4pex5vsknk084sn02q';

describe('ids', () => {
  it('made one after the other are in order, also within a millisecond and when the clock goes back', () => {
    const times = [1_000, 1_000, 1_000, 1_001, 999, 1_002];
    let index = 0;
    const source = createIdSource({ now: () => 1_700_000_000_000 + (times[index++ % times.length] ?? 0) });
    const ids = Array.from({ length: 5_000 }, () => source.next());
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => id[14] === '7')).toBe(true);
  });

  it('tell the millisecond they were made at', () => {
    const source = createIdSource({ now: () => 1_763_608_800_123 });
    expect(timeOfId(source.next())).toBe(1_763_608_800_123);
  });

  it('of a time lie from the first id of that millisecond up to the first of the next', () => {
    const nowMs = 1_763_608_800_123;
    const id = createIdSource({ now: () => nowMs }).next();
    expect(id > firstIdAt(nowMs) && id < firstIdAt(nowMs + 1)).toBe(true);
    expect(timeOfId(firstIdAt(nowMs))).toBe(nowMs);
  });

  it('have a first one for any time at all', () => {
    expect(firstIdAt(-1)).toBe('00000000-0000-0000-0000-000000000000');
    expect(firstIdAt(Number.MAX_SAFE_INTEGER)).toBe('ffffffff-ffff-0000-0000-000000000000');
    expect(firstIdAt(1.9)).toBe(firstIdAt(1));
  });

  it('are TypeIDs outside', () => {
    expect(toPublicId('msg', uuid)).toBe(`msg_${text}`);
    expect(fromPublicId('msg', `msg_${text}`)).toBe(uuid);
  });

  it('come back as they went out', () => {
    fc.assert(
      fc.property(fc.uuid(), (id) => {
        expect(fromPublicId('evt', toPublicId('evt', id))).toBe(id);
      }),
    );
  });

  it.each([
    ['another prefix', `evt_${text}`],
    ['no prefix', text],
    ['no underscore', `msg${text}`],
    ['a longer prefix', `xmsg_${text}`],
    ['a character too few', `msg_${text.slice(1)}`],
    ['a character too many', `msg_${text}0`],
    ['capitals', `msg_${text.toUpperCase()}`],
    ['a letter that base32 lacks', `msg_${text.slice(0, -1)}l`],
    ['more than 128 bits', `msg_8${text.slice(1)}`],
    ['nothing', ''],
  ])('are not recognized with %s', (_what, id) => {
    expect(fromPublicId('msg', id)).toBeUndefined();
  });

  it('are recognized in no arbitrary text, and none makes it throw', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (id) => {
        expect(fromPublicId('msg', id)).toBeUndefined();
      }),
    );
    fc.assert(
      fc.property(fc.string({ minLength: 26, maxLength: 26 }), (id) => {
        const found = fromPublicId('msg', `msg_${id}`);
        if (found !== undefined) expect(toPublicId('msg', found)).toBe(`msg_${id}`);
      }),
    );
  });
});
