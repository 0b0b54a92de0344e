/**
 * How a stream of bytes is packed, told from how it begins, whatever pieces it comes in. gzip is what every image tool writes and what is
 * unpacked here; the others are known by name only, so that a person hears what to do about them.
 */

export type Compression = "gzip" | "zstd" | "xz" | "bzip2";

const BEGINNINGS: readonly (readonly [Compression, readonly number[]])[] = [
  ["gzip", [0x1f, 0x8b]],
  ["zstd", [0x28, 0xb5, 0x2f, 0xfd]],
  ["xz", [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ["bzip2", [0x42, 0x5a, 0x68]],
];

/** The longest of them. */
const BEGINNING_BYTES_MAX = 6;

export interface LookedAt {
  /** Undefined: not packed, or in a way that is not known. */
  readonly compression: Compression | undefined;
  /** Everything, from the first byte on. */
  readonly pieces: AsyncGenerator<Uint8Array>;
}

/** Reads as much as is needed to know. */
export async function lookAt(pieces: AsyncIterable<Uint8Array>): Promise<LookedAt> {
  const source = pieces[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  const beginning = () => first.flatMap((piece) => [...piece.subarray(0, BEGINNING_BYTES_MAX)]);
  while (beginning().length < BEGINNING_BYTES_MAX) {
    const next = await source.next();
    if (next.done === true) break;
    first.push(next.value);
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    yield* first;
    for (let next = await source.next(); next.done !== true; next = await source.next()) yield next.value;
  }
  return { compression: compressionOf(beginning()), pieces: all() };
}

function compressionOf(beginning: readonly number[]): Compression | undefined {
  return BEGINNINGS.find(([, bytes]) => bytes.every((byte, index) => beginning[index] === byte))?.[0];
}
