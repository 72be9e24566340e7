import { gsmBasic, gsmEscape, gsmExtension } from '../lib/gsm-alphabet.ts';

/** Septets of a UTF-16 unit; 0 means that the alphabet lacks it and the whole message needs UCS-2. */
const septetsOfUnit = new Uint8Array(0x1_0000);
for (const character of gsmBasic) septetsOfUnit[character.charCodeAt(0)] = 1;
for (const [character] of gsmExtension) septetsOfUnit[character.charCodeAt(0)] = 2;
septetsOfUnit[gsmEscape] = 0;

export type Encoding = 'gsm7' | 'ucs2';
export type Segmentation = { encoding: Encoding; segments: number };

/**
 * How many segments a body is sent and billed as (spec: Limits). GSM-7: 160 septets, then 153 a segment; an extension character counts
 * two and is not split. UCS-2: 70 units, then 67 a segment; a surrogate pair is not split. The body must be well-formed UTF-16.
 */
export function segment(body: string): Segmentation {
  let septets = 0;
  for (let index = 0; index < body.length; index += 1) {
    const width = septetsOfUnit[body.charCodeAt(index)] ?? 0;
    if (width === 0) return { encoding: 'ucs2', segments: body.length <= 70 ? 1 : fill(body, 67, pairWidth) };
    septets += width;
  }
  return { encoding: 'gsm7', segments: septets <= 160 ? 1 : fill(body, 153, septetWidth) };
}

type Width = { size: number; units: number };

function septetWidth(body: string, index: number): Width {
  return { size: septetsOfUnit[body.charCodeAt(index)] ?? 1, units: 1 };
}

function pairWidth(body: string, index: number): Width {
  const unit = body.charCodeAt(index);
  const units = unit >= 0xd800 && unit <= 0xdbff ? 2 : 1;
  return { size: units, units };
}

/** Fills segments in order; what does not fit whole into the rest of one starts the next. */
function fill(body: string, capacity: number, widthAt: (body: string, index: number) => Width): number {
  let segments = 1;
  let room = capacity;
  for (let index = 0; index < body.length;) {
    const { size, units } = widthAt(body, index);
    if (size > room) {
      segments += 1;
      room = capacity;
    }
    room -= size;
    index += units;
  }
  return segments;
}
