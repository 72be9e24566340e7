/** GSM 03.38, each character at the place of its septet; at 0x1B the escape to the extension table. */
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u{1b}ÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const ESCAPE = 0x1b;

const extension: ReadonlyMap<number, string> = new Map([
  [0x0a, '\f'],
  [0x14, '^'],
  [0x28, '{'],
  [0x29, '}'],
  [0x2f, '\\'],
  [0x3c, '['],
  [0x3d, '~'],
  [0x3e, ']'],
  [0x40, '|'],
  [0x65, '€'],
]);

const octetsOf: ReadonlyMap<string, readonly number[]> = new Map<string, readonly number[]>([
  ...Array.from(BASIC, (character, septet) => [character, [septet]] as const),
  ...[...extension].map(([septet, character]) => [character, [ESCAPE, septet]] as const),
]);

/** One septet in each octet; `undefined` for octets that are none. */
function decodeGsm(octets: Buffer): string | undefined {
  let text = '';
  for (let at = 0; at < octets.length; at += 1) {
    const septet = octets[at] ?? 0;
    if (septet > 0x7f) return undefined;
    if (septet === ESCAPE) {
      at += 1;
      // A handset shows a blank for an escape that nothing follows, and the basic character for an unknown one.
      const escaped = octets[at] ?? 0x20;
      text += extension.get(escaped) ?? BASIC[escaped] ?? ' ';
    } else {
      text += BASIC[septet];
    }
  }
  return text;
}

function decodeUcs2(octets: Buffer): string | undefined {
  if (octets.length % 2 === 1) return undefined;
  const text = Buffer.from(octets).swap16().toString('utf16le');
  // Half of a pair is a character cut in two, by whoever divided the text.
  return text.isWellFormed() ? text : undefined;
}

function decodeAscii(octets: Buffer): string | undefined {
  return octets.some((octet) => octet > 0x7f) ? undefined : octets.toString('latin1');
}

export type Decoder = (octets: Buffer) => string | undefined;

/** By data_coding: the SMSC's default alphabet is GSM 03.38, unpacked; 0x10 and 0x18 are flash messages. */
export const decoders: ReadonlyMap<number, Decoder> = new Map<number, Decoder>([
  [0x00, decodeGsm],
  [0x01, decodeAscii],
  [0x03, (octets) => octets.toString('latin1')],
  [0x08, decodeUcs2],
  [0x10, decodeGsm],
  [0x18, decodeUcs2],
]);

export function isSeptetCoding(dataCoding: number): boolean {
  return decoders.get(dataCoding) === decodeGsm;
}

/** `undefined` for a text that has other characters. */
export function encodeGsm(text: string): Buffer | undefined {
  const octets: number[] = [];
  for (const character of text) {
    const encoded = character === '\u{1b}' ? undefined : octetsOf.get(character);
    if (encoded === undefined) return undefined;
    octets.push(...encoded);
  }
  return Buffer.from(octets);
}
