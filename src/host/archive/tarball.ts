/** Extracts one file from a gzipped tar, as npm packs them. */
import { gunzipSync } from "node:zlib";
import { readTar } from "./tar-reader.ts";
import { joined } from "./tar-writer.ts";

/** A tarball that unpacks to more than this is not the expected one. */
const UNPACKED_BYTES_MAX = 512 * 1024 * 1024;

/** Rejects with a TarError if the tar is corrupt. */
export async function readTarball(packed: Uint8Array, path: string): Promise<Uint8Array> {
  const tar = gunzipSync(packed, { maxOutputLength: UNPACKED_BYTES_MAX });
  for await (const part of readTar(inOnePiece(tar))) {
    if (part.is !== "file" || part.path !== path) continue;
    const pieces: Uint8Array[] = [];
    for await (const piece of part.content()) pieces.push(piece);
    return joined(pieces);
  }
  throw new Error(`Cannot find "${path}" in the tarball`);
}

async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
