/**
 * How the embedded driver writes things down. Three maps of bytes:
 * - log: position → checksum, kind, position of the key's record before, key, value;
 * - index: key → position and kind of its last record;
 * - meta: a handful of numbers.
 * A position is revision × 128 + the operation's number in its commit, so the log's order is the order of commits.
 */
import { crc32 } from "../../host/hash.ts";
import { StoreError } from "../store-error.ts";
import type { Allocate } from "./byte-slab.ts";

/** The names of the maps in the file. */
export const MAP_NAMES = ["log", "index", "meta"] as const;

/** Operations that one revision has positions for: COMMIT_OPERATIONS_MAX, each with a bookkeeping put. */
export const POSITIONS_PER_REVISION = 128;

/** "No record before": revision 0 does not exist. */
export const NO_POSITION = 0;

const PUT = 1;
const DELETE = 2;

const CHECKSUM_BYTES = 4;
const NUMBER_BYTES = 8;
const HEADER_BYTES = CHECKSUM_BYTES + 1 + NUMBER_BYTES + 2;
const HEAD_BYTES = NUMBER_BYTES + 1;

export interface LogRecord {
  readonly key: string;
  readonly deleted: boolean;
  /** Where the key was written before; NO_POSITION if never, as far as was known. */
  readonly previous: number;
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

/** Positions as keys, in lmdb's terms: written into its own buffer, which is faster than making one for each. */
export const positionKeys = {
  writeKey(position: number, target: Buffer, start: number): number {
    writeNumber(target, position, start);
    return start + NUMBER_BYTES;
  },
  readKey: (source: Buffer, start: number): number => readNumber(source, start),
};

/** Texts as keys, by their UTF-8 bytes; bounds of a range may be bytes that are no text. */
export const textKeys = {
  writeKey(key: string | Uint8Array, target: Buffer, start: number): number {
    if (typeof key === "string") return start + target.write(key, start);
    target.set(key, start);
    return start + key.length;
  },
  readKey: (source: Buffer, start: number, end: number): string => source.toString("utf8", start, end),
};

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

export function encodeRecord({ key, deleted, previous }: LogRecord, value: Uint8Array): Buffer {
  const keyLength = Buffer.byteLength(key);
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + keyLength + value.length);
  bytes[CHECKSUM_BYTES] = deleted ? DELETE : PUT;
  writeNumber(bytes, previous, CHECKSUM_BYTES + 1);
  bytes.writeUInt16BE(keyLength, HEADER_BYTES - 2);
  bytes.write(key, HEADER_BYTES);
  bytes.set(value, HEADER_BYTES + keyLength);
  bytes.writeUInt32BE(crc32(bytes.subarray(CHECKSUM_BYTES)), 0);
  return bytes;
}

/** Reads what stands before the value, and checks nothing but lengths. */
export function decodeRecord(bytes: Buffer): LogRecord {
  const keyEnd = keyEndOf(bytes);
  return {
    key: bytes.toString("utf8", HEADER_BYTES, keyEnd),
    deleted: bytes[CHECKSUM_BYTES] === DELETE,
    previous: readNumber(bytes, CHECKSUM_BYTES + 1),
  };
}

/** A copy of the value, after checking that the whole record is as it was written, for `key`. */
export function decodeValue(bytes: Buffer, position: number, key: string, allocate: Allocate = Buffer.allocUnsafe): Uint8Array {
  const keyEnd = keyEndOf(bytes);
  if (crc32(bytes.subarray(CHECKSUM_BYTES)) !== bytes.readUInt32BE(0) || bytes.toString("utf8", HEADER_BYTES, keyEnd) !== key) {
    throw damaged(`the value of ${key} at revision ${revisionOf(position)} is not what was written`);
  }
  const value = allocate(bytes.length - keyEnd);
  bytes.copy(value, 0, keyEnd);
  return value;
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

function readNumber(bytes: Uint8Array, offset: number): number {
  return readUint32(bytes, offset) * 0x1_0000_0000 + readUint32(bytes, offset + 4);
}

/** Byte by byte: making a view of them takes longer than reading them. */
function readUint32(bytes: Uint8Array, offset: number): number {
  const [a, b, c, d] = [bytes[offset] ?? 0, bytes[offset + 1] ?? 0, bytes[offset + 2] ?? 0, bytes[offset + 3] ?? 0];
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
}
