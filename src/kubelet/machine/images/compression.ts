/**
 * Detects the compression of a byte stream by its magic number, regardless of chunk sizes. gzip, which every image tool writes, is
 * decompressed here; other formats are only named, so that the error can say how to decompress them.
 */

export type Compression = "gzip" | "zstd" | "xz" | "bzip2";

const BEGINNINGS: readonly (readonly [Compression, readonly number[]])[] = [
  ["gzip", [0x1f, 0x8b]],
  ["zstd", [0x28, 0xb5, 0x2f, 0xfd]],
  ["xz", [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ["bzip2", [0x42, 0x5a, 0x68]],
];

/** Length of the longest magic number. */
const BEGINNING_BYTES_MAX = 6;

export interface LookedAt {
  /** Undefined: uncompressed, or unknown. */
  readonly compression: Compression | undefined;
  /** The whole stream, from the first byte on. */
  readonly pieces: AsyncGenerator<Uint8Array>;
}

/** Reads as much as detection needs. */
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
