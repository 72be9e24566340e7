import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frameLengthMax, FrameReader } from './framing.ts';

function frameOf(length: number, filling: number): Buffer {
  const frame = Buffer.alloc(length, filling);
  frame.writeUInt32BE(length, 0);
  return frame;
}

describe('the frames of a stream', () => {
  it('are the same however the stream was chopped', () => {
    const anyFrames = fc.array(
      fc.tuple(fc.integer({ min: 16, max: 300 }), fc.nat(255)).map(([length, filling]) => frameOf(length, filling)),
    );
    fc.assert(
      fc.property(anyFrames, fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 }), (frames, sizes) => {
        const stream = Buffer.concat(frames);
        const reader = new FrameReader();
        const read: Buffer[] = [];
        let offset = 0;
        for (let turn = 0; offset < stream.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          const framing = reader.read(stream.subarray(offset, offset + size));
          expect(framing.badLength).toBeUndefined();
          read.push(...framing.frames);
          offset += size;
        }
        expect(read).toEqual(frames);
      }),
    );
  });

  it('may be as long as a PDU can be, octet by octet', () => {
    const reader = new FrameReader();
    const longest = frameOf(frameLengthMax, 7);
    const early = Array.from(longest.subarray(0, -1), (octet) => reader.read(Buffer.of(octet)).frames).flat();
    expect(early).toEqual([]);
    expect(reader.read(Buffer.of(7))).toEqual({ frames: [longest] });
  });

  it.each([0, 4, 15, frameLengthMax + 1, 0xffff_ffff])('end at a length of %d, after those before it', (length) => {
    const bad = Buffer.alloc(4);
    bad.writeUInt32BE(length);
    const whole = frameOf(20, 1);
    expect(new FrameReader().read(Buffer.concat([whole, bad]))).toEqual({ frames: [whole], badLength: length });
  });
});
