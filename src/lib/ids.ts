import { randomFillSync } from 'node:crypto';
import { fromUUID, toUUID, type TypeId } from 'typeid-js';
import { V7Generator } from 'uuidv7';
import type { Clock } from './clock.ts';

/** What an id names. Outside the database an id is a TypeID: prefix, `_`, 26 characters of base32 over a UUIDv7. */
export type IdPrefix = 'acc' | 'msg' | 'snd' | 'key' | 'whe' | 'evt' | 'req';

/** Makes UUIDv7s in strictly increasing order within this process; a list by id is a list by time. */
export type IdSource = { next(): string };

export function createIdSource(clock: Clock): IdSource {
  const pool = new Uint32Array(256);
  let used = pool.length;
  const generator = new V7Generator({
    nextUint32() {
      if (used === pool.length) {
        randomFillSync(pool);
        used = 0;
      }
      return pool[used++] ?? 0;
    },
  });
  return { next: () => generator.generateOrResetWithTs(clock.now()).toString() };
}

/** `('msg', uuid)` → `msg_01h455vb4pex5vsknk084sn02q`. */
export function toPublicId(prefix: IdPrefix, uuid: string): string {
  return fromUUID(uuid, prefix);
}

/** The UUID inside a public id, or undefined when the text is not an id of that kind. */
export function fromPublicId(prefix: IdPrefix, text: string): string | undefined {
  if (text.length !== prefix.length + 27 || !text.startsWith(`${prefix}_`)) return undefined;
  if (!/^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(text.slice(prefix.length + 1))) return undefined;
  return toUUID(text as TypeId<IdPrefix>);
}

/** The millisecond a UUIDv7 was made at. */
export function timeOfId(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}

/** The smallest UUID whose time is `timeMs`: the bound of an id range that stands for a range of time. */
export function firstIdAt(timeMs: number): string {
  const clamped = Math.min(Math.max(Math.trunc(timeMs), 0), 0xffff_ffff_ffff);
  const hex = clamped.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
