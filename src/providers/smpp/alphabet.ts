import { gsmBasic as basic, gsmEscape as escape, gsmExtension as extension } from '../../lib/gsm-alphabet.ts';

const gsmOctets = new Map<string, readonly number[]>([
  ...Array.from(basic, (character, octet) => [character, [octet]] as const).filter((_, octet) => octet !== escape),
  ...extension.map(([character, octet]) => [character, [escape, octet]] as const),
]);

const extensionOfOctet = new Map(extension.map(([character, octet]) => [octet, character]));

/** What data_coding 0 means at a carrier. */
export type DefaultAlphabet = 'gsm' | 'latin1' | 'ascii';

/** A character as it is on the wire. `size` is what it takes of a part: septets, or UTF-16 units. It is never divided. */
export type Letter = { octets: readonly number[]; size: number };

/** The body's letters in the carrier's default alphabet; undefined where that lacks one of them. */
export function defaultLetters(body: string, alphabet: DefaultAlphabet): Letter[] | undefined {
  const letters: Letter[] = [];
  for (const character of body) {
    // The carrier turns Latin-1 and ASCII into GSM 03.38 for the radio, so they take the same room there.
    const septets = gsmOctets.get(character);
    if (septets === undefined) return undefined;
    const code = character.charCodeAt(0);
    if (alphabet !== 'gsm' && code > (alphabet === 'latin1' ? 0xff : 0x7f)) return undefined;
    letters.push({ octets: alphabet === 'gsm' ? septets : [code], size: septets.length });
  }
  return letters;
}

/** The body's letters in UTF-16, big-endian; a character beyond U+FFFF takes two units. */
export function ucs2Letters(body: string): Letter[] {
  return Array.from(body, (character) => {
    const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
    return { octets: units.flatMap((unit) => [unit >> 8, unit & 0xff]), size: units.length };
  });
}

/** Text in GSM 03.38, one septet an octet. An escape before a septet the extension lacks is left out (TS 23.038, 6.2.1.1). */
export function decodeGsm(octets: Uint8Array): string {
  let text = '';
  let isEscaped = false;
  for (const octet of octets) {
    if (octet === escape && !isEscaped) {
      isEscaped = true;
      continue;
    }
    text += (isEscaped ? extensionOfOctet.get(octet) : undefined) ?? basic[octet] ?? '\ufffd';
    isEscaped = false;
  }
  return text;
}

/** Text in UTF-16, big-endian; an odd last octet is left out. */
export function decodeUcs2(octets: Buffer): string {
  const whole = Buffer.from(octets.subarray(0, octets.length & ~1));
  return whole.swap16().toString('utf16le').toWellFormed();
}
