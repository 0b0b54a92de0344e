/**
 * How the embedded driver writes things down. Three maps of bytes:
 * - log: position → checksum, kind, position of the key's record before, key, value;
 * - index: key → position and kind of its last record;
 * - meta: a handful of numbers.
 * A position is revision × 128 + the operation's number in its commit, so the log's order is the order of commits.
 */
import { crc32 } from "../../host/hash.ts";
import { StoreError } from "../store-error.ts";

/** The names of the maps in the file. */
export const MAP_NAMES = ["log", "index", "meta"] as const;

/** Operations that one revision has positions for: COMMIT_OPERATIONS_MAX, each with a bookkeeping put. */
const POSITIONS_PER_REVISION = 128;

/** "No record before": revision 0 does not exist. */
export const NO_POSITION = 0;

const PUT = 1;
const DELETE = 2;

const CHECKSUM_BYTES = 4;
const HEADER_BYTES = CHECKSUM_BYTES + 1 + 8 + 2;
const HEAD_BYTES = 9;

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

export function encodePosition(position: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  writeNumber(bytes, position, 0);
  return bytes;
}

export function decodePosition(bytes: Uint8Array): number {
  return readNumber(bytes, 0);
}

export function encodeHead({ position, deleted }: Head): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES);
  writeNumber(bytes, position, 0);
  bytes[8] = deleted ? DELETE : PUT;
  return bytes;
}

export function decodeHead(bytes: Uint8Array, key: string): Head {
  const kind = bytes[8];
  if (bytes.length !== HEAD_BYTES || (kind !== PUT && kind !== DELETE)) throw damaged(`the index entry of ${key} is not one`);
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
export function decodeRecord(bytes: Buffer, position: number): LogRecord {
  const keyEnd = keyEndOf(bytes, position);
  return {
    key: bytes.toString("utf8", HEADER_BYTES, keyEnd),
    deleted: bytes[CHECKSUM_BYTES] === DELETE,
    previous: readNumber(bytes, CHECKSUM_BYTES + 1),
  };
}

/** A copy of the value, after checking that the whole record is as it was written, for `key`. */
export function decodeValue(bytes: Buffer, position: number, key: string): Uint8Array {
  const keyEnd = keyEndOf(bytes, position);
  if (crc32(bytes.subarray(CHECKSUM_BYTES)) !== bytes.readUInt32BE(0) || bytes.toString("utf8", HEADER_BYTES, keyEnd) !== key) {
    throw damaged(`the value of ${key} at revision ${revisionOf(position)} is not what was written`);
  }
  return Uint8Array.prototype.slice.call(bytes, keyEnd);
}

export function damaged(what: string, cause?: unknown): StoreError {
  return new StoreError(
    "Damaged",
    `Cannot read the store: ${what}; restore a snapshot into an empty data directory`,
    cause === undefined ? {} : { cause },
  );
}

function keyEndOf(bytes: Buffer, position: number): number {
  const keyEnd = bytes.length < HEADER_BYTES ? Infinity : HEADER_BYTES + bytes.readUInt16BE(HEADER_BYTES - 2);
  if (keyEnd > bytes.length) throw damaged(`the record of revision ${revisionOf(position)} is cut off`);
  return keyEnd;
}

/** Whole numbers up to 2^53, which is more than a 48-bit Buffer method holds and less than a BigInt costs. */
function writeNumber(bytes: Buffer, number: number, offset: number): void {
  bytes.writeUInt32BE(Math.floor(number / 0x1_0000_0000), offset);
  bytes.writeUInt32BE(number >>> 0, offset + 4);
}

function readNumber(bytes: Uint8Array, offset: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return view.getUint32(offset) * 0x1_0000_0000 + view.getUint32(offset + 4);
}
