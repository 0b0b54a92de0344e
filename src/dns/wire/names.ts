/**
 * Domain names in messages. As text, a name is its labels joined with dots, without the final dot, one character per byte; a dot or a
 * backslash inside a label is escaped with a backslash, so that text and bytes correspond exactly. "" is the root. Reading is safe for any
 * input: a compression pointer must point before the name that it is in, so there are no loops.
 */

/** Limits of the protocol (RFC 1035, 2.3.4), in bytes. */
const LABEL_BYTES_MAX = 63;
const NAME_BYTES_MAX = 255;

const POINTER_BITS = 0xc0;
/** Offsets above it cannot be referred to. */
export const POINTER_MAX = 0x3fff;

const DOT = 0x2e;
const BACKSLASH = 0x5c;
const UPPER_A = 0x41;
const UPPER_Z = 0x5a;
const CASE_BIT = 0x20;

/** Bytes that are not a message. Shared: fuzzed packets must not cost stack traces. */
export const MALFORMED = new (class MalformedMessage extends Error {
  override readonly name = "MalformedMessage";
})("The bytes are not a DNS message");

export interface ReadName {
  /** In lower case (ASCII letters only): names are compared without case. */
  readonly name: string;
  /** Offset of what follows it. */
  readonly next: number;
}

/** Throws MALFORMED. */
export function readName(bytes: Uint8Array, start: number): ReadName {
  let name = "";
  let length = 1;
  let offset = start;
  /** Where the name continues after its first pointer. */
  let next = -1;
  /** Every pointer must point before everything read so far. */
  let before = start;
  for (;;) {
    const size = bytes[offset];
    if (size === undefined) throw MALFORMED;
    if (size === 0) return { name, next: next === -1 ? offset + 1 : next };
    if ((size & POINTER_BITS) === POINTER_BITS) {
      const low = bytes[offset + 1];
      if (low === undefined) throw MALFORMED;
      if (next === -1) next = offset + 2;
      offset = ((size & ~POINTER_BITS) << 8) | low;
      if (offset >= before) throw MALFORMED;
      before = offset;
      continue;
    }
    const end = offset + 1 + size;
    length += 1 + size;
    if (size > LABEL_BYTES_MAX || end >= bytes.length || length > NAME_BYTES_MAX) throw MALFORMED;
    name = name === "" ? labelText(bytes, offset + 1, end) : `${name}.${labelText(bytes, offset + 1, end)}`;
    offset = end;
  }
}

function labelText(bytes: Uint8Array, start: number, end: number): string {
  let text = "";
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte >= UPPER_A && byte <= UPPER_Z) text += String.fromCharCode(byte | CASE_BIT);
    else if (byte === DOT || byte === BACKSLASH) text += `\\${String.fromCharCode(byte)}`;
    else text += String.fromCharCode(byte);
  }
  return text;
}

/** The labels of a name, unescaped. */
export function labelsOf(name: string): readonly string[] {
  if (name === "") return [];
  if (!name.includes("\\")) return name.split(".");
  const labels: string[] = [];
  let label = "";
  for (let at = 0; at < name.length; at++) {
    const character = name.charAt(at);
    if (character === "\\") label += name.charAt(++at);
    else if (character === ".") {
      labels.push(label);
      label = "";
    } else label += character;
  }
  labels.push(label);
  return labels;
}

/** Whether a message can have it: no empty label, no character above a byte, within the protocol's lengths. */
export function isName(name: string): boolean {
  const labels = labelsOf(name);
  let length = 1;
  for (const label of labels) {
    length += 1 + label.length;
    if (label === "" || label.length > LABEL_BYTES_MAX) return false;
    for (let at = 0; at < label.length; at++) if (label.charCodeAt(at) > 0xff) return false;
  }
  return length <= NAME_BYTES_MAX;
}

/** ASCII letters only, as the protocol compares; other characters keep their bytes. */
export function toLowerCase(name: string): string {
  return /[A-Z]/.test(name) ? name.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : name;
}

/** The name of a text as users write it: "Example.com." is "example.com". Undefined if no message can have it. */
export function nameOfText(text: string): string | undefined {
  const name = toLowerCase(text.endsWith(".") && !text.endsWith("\\.") ? text.slice(0, -1) : text);
  return isName(name) ? name : undefined;
}

/** Whether `name` is `zone` or below it. */
export function isWithin(name: string, zone: string): boolean {
  return (
    zone === "" || name === zone || (name.endsWith(zone) && name.charAt(name.length - zone.length - 1) === "." && isBoundary(name, zone))
  );
}

/** The dot before the zone is not escaped. */
function isBoundary(name: string, zone: string): boolean {
  let backslashes = 0;
  for (let at = name.length - zone.length - 2; name.charAt(at) === "\\"; at--) backslashes++;
  return backslashes % 2 === 0;
}
