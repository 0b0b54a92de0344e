/**
 * Extracts files from a zip, so that no machine needs `unzip`. Reads the central directory, then the requested entry; size and checksum of
 * the content are verified against the directory. Not here: encryption, zip64 and split archives.
 */
import { crc32, inflateRawSync } from "node:zlib";

const END_SIGNATURE = 0x06054b50;
const END_BYTES = 22;
const COMMENT_BYTES_MAX = 0xffff;
const ENTRY_SIGNATURE = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL_SIGNATURE = 0x04034b50;
const LOCAL_BYTES = 30;
const STORED = 0;
const DEFLATED = 8;

export interface Zip {
  readonly names: readonly string[];
  read(name: string): Uint8Array;
}

interface Entry {
  readonly method: number;
  readonly checksum: number;
  readonly packedBytes: number;
  readonly sizeBytes: number;
  readonly offset: number;
}

export function readZip(bytes: Uint8Array): Zip {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries = readDirectory(view, bytes);
  return {
    names: [...entries.keys()],
    read(name) {
      const entry = entries.get(name);
      if (entry === undefined) throw new Error(`Cannot find "${name}" in the zip; it has ${[...entries.keys()].join(", ")}`);
      return unpack(name, entry, packedContent(name, entry, view, bytes));
    },
  };
}

function readDirectory(view: DataView, bytes: Uint8Array): Map<string, Entry> {
  const end = endOfDirectory(view);
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  const entries = new Map<string, Entry>();
  for (let index = 0; index < count; index++) {
    if (at + ENTRY_BYTES > end || view.getUint32(at, true) !== ENTRY_SIGNATURE)
      throw new Error(`Cannot read the zip: its entry ${index} is corrupt`);
    const nameBytes = view.getUint16(at + 28, true);
    const name = new TextDecoder().decode(bytes.subarray(at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes));
    entries.set(name, {
      method: view.getUint16(at + 10, true),
      checksum: view.getUint32(at + 16, true),
      packedBytes: view.getUint32(at + 20, true),
      sizeBytes: view.getUint32(at + 24, true),
      offset: view.getUint32(at + 42, true),
    });
    at += ENTRY_BYTES + nameBytes + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return entries;
}

/** The end record precedes a comment of unknown length, so it is searched from the end. */
function endOfDirectory(view: DataView): number {
  const last = view.byteLength - END_BYTES;
  for (let at = last; at >= 0 && at >= last - COMMENT_BYTES_MAX; at--) {
    if (view.getUint32(at, true) === END_SIGNATURE) return at;
  }
  throw new Error("Cannot read the zip: it has no end-of-central-directory record");
}

function packedContent(name: string, entry: Entry, view: DataView, bytes: Uint8Array): Uint8Array {
  const { offset, packedBytes } = entry;
  if (offset + LOCAL_BYTES > bytes.length || view.getUint32(offset, true) !== LOCAL_SIGNATURE) {
    throw new Error(`Cannot read "${name}" in the zip: its local header is not where the central directory says`);
  }
  const content = offset + LOCAL_BYTES + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
  if (content + packedBytes > bytes.length) throw new Error(`Cannot read "${name}" in the zip: it is truncated`);
  return bytes.subarray(content, content + packedBytes);
}

function unpack(name: string, entry: Entry, packed: Uint8Array): Uint8Array {
  const { method, sizeBytes, checksum } = entry;
  if (method !== STORED && method !== DEFLATED)
    throw new Error(`Cannot unpack "${name}": its compression method ${method} is neither stored nor deflated`);
  // Limited by the declared size, so that a wrong one cannot exhaust memory.
  const content = method === STORED ? packed : inflateRawSync(packed, { maxOutputLength: Math.max(1, sizeBytes) });
  if (content.length !== sizeBytes) throw new Error(`Cannot unpack "${name}": its size must be ${sizeBytes} bytes, is ${content.length}`);
  if (crc32(content) !== checksum) throw new Error(`Cannot unpack "${name}": checksum mismatch`);
  return content;
}
