/** Takes one file out of a gzipped tar, as npm makes them. Only what that needs: no long names, no links, no sparse files. */
import { gunzipSync } from "node:zlib";

const BLOCK_BYTES = 512;
const NAME = { start: 0, end: 100 };
const SIZE = { start: 124, end: 136 };

/** A tarball that unpacks to more than this is not what was asked for. */
const UNPACKED_BYTES_MAX = 512 * 1024 * 1024;

export function readTarball(packed: Uint8Array, path: string): Uint8Array {
  const tar = gunzipSync(packed, { maxOutputLength: UNPACKED_BYTES_MAX });
  let offset = 0;
  while (offset + BLOCK_BYTES <= tar.length) {
    const header = tar.subarray(offset, offset + BLOCK_BYTES);
    const name = textOf(header.subarray(NAME.start, NAME.end));
    if (name === "") break; // Two blocks of zeros end the archive.
    const sizeBytes = Number.parseInt(textOf(header.subarray(SIZE.start, SIZE.end)), 8);
    const content = offset + BLOCK_BYTES;
    if (!Number.isSafeInteger(sizeBytes) || content + sizeBytes > tar.length) {
      throw new Error(`Cannot read the tarball: the size of "${name}" is corrupt`);
    }
    if (name === path) return tar.subarray(content, content + sizeBytes);
    offset = content + Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;
  }
  throw new Error(`Cannot find "${path}" in the tarball`);
}

/** Fields are filled up with NUL or spaces. */
function textOf(field: Uint8Array): string {
  const text = new TextDecoder().decode(field);
  const end = text.indexOf("\0");
  return (end === -1 ? text : text.slice(0, end)).trim();
}
