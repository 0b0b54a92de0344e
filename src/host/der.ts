/**
 * DER, the binary form of certificates: as much of the writing as X.509 needs. Every function gives one complete element: its type, its
 * length, its content. Reading is Node's (node:crypto's X509Certificate).
 */

export type Der = Buffer;

/** Bits of the first byte of an element. */
const CONSTRUCTED = 0x20;
const CONTEXT = 0x80;

function element(tag: number, content: Uint8Array): Der {
  return Buffer.concat([Buffer.from([tag]), lengthOf(content), content]);
}

function lengthOf({ length }: Uint8Array): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes = bigEndian(BigInt(length));
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}

function bigEndian(value: bigint): Buffer {
  const digits = value.toString(16);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex");
}

export function sequence(...members: readonly Der[]): Der {
  return element(0x30, Buffer.concat(members));
}

export function set(...members: readonly Der[]): Der {
  return element(0x31, Buffer.concat(members));
}

export function boolean(value: boolean): Der {
  return element(0x01, Buffer.from([value ? 0xff : 0]));
}

/** Not negative. */
export function integer(value: bigint): Der {
  const bytes = bigEndian(value);
  // A first bit that is set would make it negative.
  return element(0x02, (bytes[0] ?? 0) < 0x80 ? bytes : Buffer.concat([Buffer.from([0]), bytes]));
}

/** "2.5.29.17" */
export function objectIdentifier(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(sevenBitGroups)]));
}

/** Highest first; all but the last are marked with the eighth bit. */
function sevenBitGroups(number: number): number[] {
  const groups = [number % 128];
  for (let rest = Math.floor(number / 128); rest > 0; rest = Math.floor(rest / 128)) groups.unshift(0x80 | (rest % 128));
  return groups;
}

export function utf8String(text: string): Der {
  return element(0x0c, Buffer.from(text, "utf8"));
}

export function octetString(bytes: Uint8Array): Der {
  return element(0x04, bytes);
}

export function bitString(bytes: Uint8Array, unusedBits = 0): Der {
  return element(0x03, Buffer.concat([Buffer.from([unusedBits]), bytes]));
}

/** X.509 wants two digits for years before 2050 and four from then on. Milliseconds since the epoch; whole seconds are kept. */
export function time(timeMs: number): Der {
  const iso = new Date(timeMs).toISOString().replace(/[-:T]|\.\d+/g, "");
  return iso < "2050" ? element(0x17, Buffer.from(iso.slice(2), "latin1")) : element(0x18, Buffer.from(iso, "latin1"));
}

/** [number] around another element. */
export function explicit(number: number, inner: Der): Der {
  return element(CONTEXT | CONSTRUCTED | number, inner);
}

/** [number] in place of an element's own type, with simple content. */
export function implicit(number: number, content: Uint8Array): Der {
  return element(CONTEXT | number, content);
}
