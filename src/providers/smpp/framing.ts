const headerLength = 16;

/** Longer than any PDU with the largest message payload we could use; what claims more is not SMPP. */
export const frameLengthMax = 64 * 1024;

export type Framing = {
  /** Whole PDUs, in order. */
  frames: Buffer[];
  /** The length that no PDU can have; what follows it cannot be read any more. */
  badLength?: number;
};

/** Cuts a stream of octets into PDUs, however it was chopped on its way. Holds less than one PDU and one chunk. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #size = 0;
  /** Length of the PDU being collected; 0 while its first four octets are not all here. */
  #length = 0;

  read(chunk: Buffer): Framing {
    const frames: Buffer[] = [];
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    for (;;) {
      if (this.#length === 0) {
        if (this.#size < 4) return { frames };
        this.#length = this.#joined().readUInt32BE(0);
        if (this.#length < headerLength || this.#length > frameLengthMax) return { frames, badLength: this.#length };
      }
      if (this.#size < this.#length) return { frames };
      const joined = this.#joined();
      frames.push(joined.subarray(0, this.#length));
      this.#chunks = [joined.subarray(this.#length)];
      this.#size -= this.#length;
      this.#length = 0;
    }
  }

  #joined(): Buffer {
    const [first] = this.#chunks;
    if (first !== undefined && this.#chunks.length === 1) return first;
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }
}
