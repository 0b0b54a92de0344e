/** Bytes that come in pieces, unpacked on the way. */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";

/** Rejects where the input is not gzip, or ends too early. */
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

/** For who passes packed bytes on as they are and has to know the hash of what is in them. */
export interface UnpackedHash {
  /** Resolves when there is room for more. */
  update(piece: Uint8Array): Promise<void>;
  /** Of all that was unpacked; undefined if it was not gzip, or ended too early. */
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
