import { commandStatus, tags } from './pdu.ts';

/** Which part of which long message; parts count from 1. */
export type Concatenation = { readonly reference: number; readonly total: number; readonly sequence: number };

const CONCATENATED_8_BIT = 0x00;
const CONCATENATED_16_BIT = 0x08;

type Header =
  | { readonly octets: number; readonly concatenation: Concatenation | undefined }
  | { readonly refusedWith: number };

/** From the user data header at the start of the content, or from the SAR parameters; `octets` is the header's length. */
export function readConcatenation(content: Buffer, hasHeader: boolean, tlvs: ReadonlyMap<number, Buffer>): Header {
  return hasHeader ? readUserDataHeader(content) : readSarParameters(tlvs);
}

/** 3GPP TS 23.040, 9.2.3.24: the header's length, then elements of an identifier, a length and a value. */
function readUserDataHeader(content: Buffer): Header {
  const invalid = { refusedWith: commandStatus.invalidEsmClass };
  const end = 1 + (content[0] ?? 0);
  if (content.length < end) return invalid;

  let concatenation: Concatenation | undefined;
  for (let at = 1; at < end;) {
    const identifier = content[at];
    const valueEnd = at + 2 + (content[at + 1] ?? 0);
    if (at + 2 > end || valueEnd > end) return invalid;
    const value = content.subarray(at + 2, valueEnd);
    if (identifier === CONCATENATED_8_BIT || identifier === CONCATENATED_16_BIT) {
      const referenceOctets = identifier === CONCATENATED_8_BIT ? 1 : 2;
      if (value.length !== referenceOctets + 2) return invalid;
      concatenation = {
        reference: value.readUIntBE(0, referenceOctets),
        total: value.readUInt8(referenceOctets),
        sequence: value.readUInt8(referenceOctets + 1),
      };
    }
    at = valueEnd;
  }
  return concatenation !== undefined && !isPossible(concatenation) ? invalid : { octets: end, concatenation };
}

function readSarParameters(tlvs: ReadonlyMap<number, Buffer>): Header {
  const reference = tlvs.get(tags.sarReference);
  const total = tlvs.get(tags.sarTotal);
  const sequence = tlvs.get(tags.sarSequence);
  if (reference === undefined && total === undefined && sequence === undefined) {
    return { octets: 0, concatenation: undefined };
  }
  if (reference === undefined || total === undefined || sequence === undefined) {
    return { refusedWith: commandStatus.missingOptionalParameter };
  }
  const invalid = { refusedWith: commandStatus.invalidOptionalParameter };
  if (reference.length !== 2 || total.length !== 1 || sequence.length !== 1) return invalid;
  const concatenation = {
    reference: reference.readUInt16BE(),
    total: total.readUInt8(),
    sequence: sequence.readUInt8(),
  };
  return isPossible(concatenation) ? { octets: 0, concatenation } : invalid;
}

function isPossible({ total, sequence }: Concatenation): boolean {
  return sequence >= 1 && sequence <= total;
}
