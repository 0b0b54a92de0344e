/** Decompresses gzip in a stream. */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { createGunzip, gunzipSync } from "node:zlib";

/** Rejects if the input is not gzip, or is truncated. */
export async function* gunzip(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = Readable.from(pieces);
  const unpacked = createGunzip();
  source.on("error", (error) => unpacked.destroy(error));
  source.pipe(unpacked);
  try {
    for await (const piece of unpacked) yield piece as Uint8Array;
  } finally {
    source.destroy();
  }
}

/** For callers that forward compressed bytes unchanged and need the hash of their content. */
export interface UnpackedHash {
  /** Resolves when more can be written. */
  update(piece: Uint8Array): Promise<void>;
  /** Hash of the content; undefined if the input was not gzip, or was truncated. */
  digest(): Promise<Uint8Array | undefined>;
}

export function unpackedSha256(): UnpackedHash {
  const hash = createHash("sha256");
  const unpacking = createGunzip();
  let isDamaged = false;
  unpacking.on("data", (piece: Uint8Array) => hash.update(piece));
  const ended = new Promise<void>((resolve) => {
    unpacking.once("end", resolve);
    unpacking.once("error", () => {
      isDamaged = true;
      resolve();
    });
  });
  return {
    async update(piece) {
      if (isDamaged) return;
      // Success is reported by the events, after which the caller must not respond again.
      await Promise.race([ended, new Promise<void>((resolve) => unpacking.write(piece, () => resolve()))]);
    },
    async digest() {
      if (!isDamaged) unpacking.end();
      await ended;
      return isDamaged ? undefined : hash.digest();
    },
  };
}

/** Decompresses a small input of our own at once. Throws if it is not gzip. */
export function gunzipWhole(bytes: Uint8Array): Uint8Array {
  return gunzipSync(bytes);
}
