/** UTF-8 encoding with a fast path for ASCII, which nearly all strings of a program are. */

const encoder = new TextEncoder();

/** `allocate`: provides the memory of an ASCII text. */
export function encodeUtf8(text: string, allocate = newBytes): Uint8Array {
  // ASCII fits exactly, and writing into an existing buffer is a third faster than allocating one.
  const bytes = allocate(text.length);
  const { read, written } = encoder.encodeInto(text, bytes);
  return read === text.length && written === bytes.length ? bytes : encoder.encode(text);
}

function newBytes(length: number): Uint8Array {
  return new Uint8Array(length);
}

/** Encoded length in bytes, without encoding where it is known. */
export function utf8Length(text: string): number {
  return NOT_ASCII.test(text) ? encoder.encode(text).length : text.length;
}

// oxlint-disable-next-line no-control-regex -- All of ASCII, whatever it means.
const NOT_ASCII = /[^\x00-\x7f]/;
