/**
 * Transforms a body in a stream: decompressed, changed chunk by chunk, and compressed again with the same encoding. Nothing is buffered but
 * what the compression needs. Not here: the change.
 */
import { pipeline, Readable } from "node:stream";
import { createDeflateRaw, createGunzip, createGzip, createInflateRaw } from "node:zlib";

/** For one body. */
export interface BodyChange {
  /** Output for a chunk; may hold some back. */
  write(piece: Uint8Array): Uint8Array;
  /** The bytes held back. */
  end(): Uint8Array;
}

const PACKINGS = {
  gzip: { unpack: createGunzip, pack: createGzip },
  // As upstream: without the header that RFC 9110 requires.
  deflate: { unpack: createInflateRaw, pack: createDeflateRaw },
} as const;

/** True if a body with this Content-Encoding can be changed. */
export function canRecode(encoding: string): boolean {
  return encoding === "" || Object.hasOwn(PACKINGS, encoding);
}

/** `encoding` as canRecode accepts it. Fails if the body does not match it. */
export function recoded(pieces: AsyncIterable<Uint8Array>, encoding: string, change: BodyChange): AsyncIterable<Uint8Array> {
  const changed = async function* (source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of source) {
      const written = change.write(piece);
      if (written.length > 0) yield written;
    }
    const last = change.end();
    if (last.length > 0) yield last;
  };
  if (encoding === "") return changed(pieces);
  const { unpack, pack } = PACKINGS[encoding as keyof typeof PACKINGS];
  // The reader of the last stream gets the error.
  return pipeline(Readable.from(pieces, { objectMode: false }), unpack(), changed, pack(), () => undefined);
}
