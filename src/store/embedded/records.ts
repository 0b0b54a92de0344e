/**
 * Format 2 of the embedded driver's data. One map of bytes; the first byte of a key says which part it belongs to:
 * - meta: name → a number;
 * - index: key → position and kind of its last record;
 * - log: position → checksum, kind, position of the key's record before, number of keys after the commit, key, value.
 * A position is revision × 128 + the operation's number in its commit, so the log's order is the order of commits.
 *
 * The last record of the log says which revision is the newest and how many keys there are, so a commit writes no numbers of
 * its own. Compaction may remove that record (a deletion); it stores both numbers under meta first.
 *
 * Not here: format 1, three maps (legacy-format.ts).
 */
import { crc32 } from "../../host/crypto/hash.ts";
import { StoreError } from "../store-error.ts";
import type { Allocate } from "./byte-slab.ts";

/** First byte of a key, by part. The log is last, since lmdb fills pages best where keys are appended at the end. */
export const META_PREFIX = 1;
export const INDEX_PREFIX = 2;
export const LOG_PREFIX = 3;

export const PREFIX_BYTES = 1;

/** Operations that one revision has positions for: COMMIT_OPERATIONS_MAX, each with a bookkeeping put. */
export const POSITIONS_PER_REVISION = 128;

/** "No record before": revision 0 does not exist. */
export const NO_POSITION = 0;

const PUT = 1;
const DELETE = 2;

const CHECKSUM_BYTES = 4;
const NUMBER_BYTES = 8;
const PREVIOUS_AT = CHECKSUM_BYTES + 1;
const KEYS_AT = PREVIOUS_AT + NUMBER_BYTES;
const HEADER_BYTES = KEYS_AT + NUMBER_BYTES + 2;
const HEAD_BYTES = NUMBER_BYTES + 1;

export interface LogRecord {
  readonly key: string;
  readonly deleted: boolean;
  /** Where the key was written before; NO_POSITION if never, as far as was known. */
  readonly previous: number;
  /** Keys that exist after the record's commit. 0 in records that were restored or migrated: meta has the number then. */
  readonly keys: number;
}

export interface Head {
  readonly position: number;
  readonly deleted: boolean;
}

export function positionOf(revision: number, operation: number): number {
  return revision * POSITIONS_PER_REVISION + operation;
}

export function revisionOf(position: number): number {
  return Math.floor(position / POSITIONS_PER_REVISION);
}

/** Encodes keys of the log. Writes into lmdb's own buffer, which is faster than allocating one per key. */
export const positionKeys = {
  writeKey(position: number, target: Buffer, start: number): number {
    target[start] = LOG_PREFIX;
    writeNumber(target, position, start + PREFIX_BYTES);
    return start + PREFIX_BYTES + NUMBER_BYTES;
  },
  readKey: (source: Buffer, start: number): number => readNumber(source, start + PREFIX_BYTES),
};

/** Bytes of a key in the file: what page-check.ts expects of the log. */
export const POSITION_KEY_BYTES = PREFIX_BYTES + NUMBER_BYTES;

/** Encodes texts as UTF-8 behind a prefix byte; bounds of a range may be bytes that are no text. */
export function textKeys(prefix: number): {
  writeKey(key: string | Uint8Array, target: Buffer, start: number): number;
  readKey(source: Buffer, start: number, end: number): string;
} {
  return {
    writeKey(key, target, start) {
      target[start] = prefix;
      if (typeof key === "string") return start + PREFIX_BYTES + target.write(key, start + PREFIX_BYTES);
      target.set(key, start + PREFIX_BYTES);
      return start + PREFIX_BYTES + key.length;
    },
    readKey: (source, start, end) => source.toString("utf8", start + PREFIX_BYTES, end),
  };
}

export function encodeNumber(number: number): Buffer {
  const bytes = Buffer.allocUnsafe(NUMBER_BYTES);
  writeNumber(bytes, number, 0);
  return bytes;
}

export function decodeNumber(bytes: Uint8Array): number {
  return readNumber(bytes, 0);
}

export function encodeHead({ position, deleted }: Head): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES);
  writeNumber(bytes, position, 0);
  bytes[NUMBER_BYTES] = deleted ? DELETE : PUT;
  return bytes;
}

export function decodeHead(bytes: Uint8Array): Head {
  const kind = bytes[NUMBER_BYTES];
  if (bytes.length !== HEAD_BYTES || (kind !== PUT && kind !== DELETE)) throw damaged("an entry of the index is not one");
  return { position: readNumber(bytes, 0), deleted: kind === DELETE };
}

/** The checksum covers the position, too: a record under the key of another one is not accepted. */
export function encodeRecord(position: number, { key, deleted, previous, keys }: LogRecord, value: Uint8Array): Buffer {
  const keyLength = Buffer.byteLength(key);
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + keyLength + value.length);
  bytes[CHECKSUM_BYTES] = deleted ? DELETE : PUT;
  writeNumber(bytes, previous, PREVIOUS_AT);
  writeNumber(bytes, keys, KEYS_AT);
  bytes.writeUInt16BE(keyLength, HEADER_BYTES - 2);
  bytes.write(key, HEADER_BYTES);
  bytes.set(value, HEADER_BYTES + keyLength);
  bytes.writeUInt32BE(checksum(bytes, position), 0);
  return bytes;
}

/** Decodes what precedes the value, and checks nothing but lengths. */
export function decodeRecord(bytes: Buffer): LogRecord {
  const keyEnd = keyEndOf(bytes);
  return {
    key: bytes.toString("utf8", HEADER_BYTES, keyEnd),
    deleted: bytes[CHECKSUM_BYTES] === DELETE,
    previous: readNumber(bytes, PREVIOUS_AT),
    keys: readNumber(bytes, KEYS_AT),
  };
}

/** True if the record at `position` is as it was written. */
export function isIntact(bytes: Buffer, position: number): boolean {
  return bytes.length >= HEADER_BYTES && checksum(bytes, position) === bytes.readUInt32BE(0);
}

/** A copy of the value, after checking that the whole record is as it was written, for `key`. */
export function decodeValue(bytes: Buffer, position: number, key: string, allocate: Allocate = Buffer.allocUnsafe): Uint8Array {
  const keyEnd = keyEndOf(bytes);
  if (!isIntact(bytes, position) || bytes.toString("utf8", HEADER_BYTES, keyEnd) !== key) {
    throw damaged(`the value of ${key} at revision ${revisionOf(position)} is not what was written`);
  }
  const value = allocate(bytes.length - keyEnd);
  bytes.copy(value, 0, keyEnd);
  return value;
}

/** Odd and without pattern: the upper half of a position must not cancel out the lower one. */
const HASH_MULTIPLIER = 0x9e37_79b1;

function checksum(bytes: Buffer, position: number): number {
  const seed = position ^ Math.imul(Math.floor(position / 0x1_0000_0000), HASH_MULTIPLIER);
  return crc32(bytes.subarray(CHECKSUM_BYTES), seed >>> 0);
}

export function damaged(what: string, cause?: unknown): StoreError {
  return new StoreError(
    "Damaged",
    `Cannot read the store: ${what}; restore a snapshot into an empty data directory`,
    cause === undefined ? {} : { cause },
  );
}

function keyEndOf(bytes: Buffer): number {
  const keyEnd = bytes.length < HEADER_BYTES ? Infinity : HEADER_BYTES + bytes.readUInt16BE(HEADER_BYTES - 2);
  if (keyEnd > bytes.length) throw damaged("a record is cut off");
  return keyEnd;
}

/** Whole numbers up to 2^53, which is more than a 48-bit Buffer method holds and less than a BigInt costs. */
function writeNumber(bytes: Buffer, number: number, offset: number): void {
  bytes.writeUInt32BE(Math.floor(number / 0x1_0000_0000), offset);
  bytes.writeUInt32BE(number >>> 0, offset + 4);
}

export function readNumber(bytes: Uint8Array, offset: number): number {
  return readUint32(bytes, offset) * 0x1_0000_0000 + readUint32(bytes, offset + 4);
}

/** Byte by byte: making a view of them takes longer than reading them. */
function readUint32(bytes: Uint8Array, offset: number): number {
  const [a, b, c, d] = [bytes[offset] ?? 0, bytes[offset + 1] ?? 0, bytes[offset + 2] ?? 0, bytes[offset + 3] ?? 0];
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
}
