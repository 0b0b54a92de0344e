/**
 * A logical copy of everything at one revision, and the hash of the same bytes; both written over `list`, so that they work on every driver
 * and a snapshot of one driver can be restored into another.
 *
 * Format: the line `k8ts-snapshot 1 <revision>\n`; per key, in order: length and UTF-8 bytes of the key, revision, length and bytes of the
 * value (lengths are 4 bytes, the revision 8, big endian); then four 0xff and 32 bytes SHA-256 of all before them but the first line. A
 * truncated or modified file is rejected.
 */
import type { Entry, ListResult, Store } from "./store.ts";
import { KEY_BYTES_MAX } from "./store.ts";
import { checkKey } from "./key.ts";
import { ByteReader } from "./byte-reader.ts";
import { StoreError } from "./store-error.ts";
import { bytesValue } from "./value.ts";

/** SHA-256; `host` has the real one. */
export interface Hasher {
  update(bytes: Uint8Array): void;
  digest(): Uint8Array;
}

export interface StateHash {
  readonly revision: number;
  readonly keys: number;
  /** SHA-256 over the records of all keys, as hexadecimal digits. */
  readonly hash: string;
}

/** Entries read at a time: small enough for memory, large enough for speed. */
const PAGE_ENTRIES = 500;

const MAGIC = "k8ts-snapshot 1 ";
/** A first line is the magic and a revision of at most 16 digits. */
const FIRST_LINE_BYTES_MAX = MAGIC.length + 17;
const END_MARK = 0xffff_ffff;
const HASH_BYTES = 32;
const RECORD_FIXED_BYTES = 16;

/** A snapshot of the state at `revision` (default: the newest), in chunks. Holds no more than one page in memory. */
export async function* writeSnapshot(store: Pick<Store, "list">, hasher: Hasher, revision?: number): AsyncGenerator<Uint8Array, StateHash> {
  let keys = 0;
  let atRevision = 0;
  for await (const page of pages(store, revision)) {
    if (atRevision === 0) yield new TextEncoder().encode(`${MAGIC}${page.revision}\n`);
    atRevision = page.revision;
    keys += page.entries.length;
    for (const entry of page.entries) {
      const record = encodeRecord(entry);
      hasher.update(record);
      yield record;
    }
  }
  const hash = hasher.digest();
  yield Uint8Array.of(0xff, 0xff, 0xff, 0xff, ...hash);
  return { revision: atRevision, keys, hash: hexadecimal(hash) };
}

export async function hashState(store: Pick<Store, "list">, hasher: Hasher, revision?: number): Promise<StateHash> {
  const pieces = writeSnapshot(store, hasher, revision);
  for (;;) {
    const { done, value } = await pieces.next();
    if (done === true) return value;
  }
}

export interface Snapshot {
  readonly revision: number;
  /** May be read once. Throws "Damaged" at the end if the hash is wrong, so that nothing may be used before. */
  readonly entries: AsyncIterable<Entry>;
}

export async function readSnapshot(pieces: AsyncIterable<Uint8Array>, hasher: Hasher): Promise<Snapshot> {
  const reader = new ByteReader(pieces);
  const firstLine = await reader.readLine(FIRST_LINE_BYTES_MAX);
  const match = firstLine === undefined ? null : /^k8ts-snapshot 1 (\d{1,16})$/.exec(firstLine);
  if (match === null) throw damaged("it does not begin as a snapshot of version 1 does");
  return { revision: Number(match[1]), entries: readRecords(reader, hasher) };
}

async function* readRecords(reader: ByteReader, hasher: Hasher): AsyncGenerator<Entry> {
  for (;;) {
    const keyLength = await read(reader, 4);
    const length = view(keyLength).getUint32(0);
    if (length === END_MARK) return checkHash(await read(reader, HASH_BYTES), hasher);
    // Bookkeeping keys are a little longer than the keys they refer to.
    if (length > KEY_BYTES_MAX * 2) throw damaged(`a key seems to be ${length} bytes long`);
    const key = await read(reader, length);
    const fixed = await read(reader, RECORD_FIXED_BYTES - 4);
    const value = await read(reader, view(fixed).getUint32(8));
    for (const part of [keyLength, key, fixed, value]) hasher.update(part);
    yield { key: new TextDecoder().decode(key), revision: Number(view(fixed).getBigUint64(0)), value: bytesValue(value) };
  }
}

async function* pages(store: Pick<Store, "list">, revision: number | undefined): AsyncGenerator<ListResult> {
  let page = await store.list("", { limit: PAGE_ENTRIES, countRemaining: false, ...(revision === undefined ? {} : { revision }) });
  yield page;
  while (page.remaining > 0) {
    const startAfter = page.entries.at(-1)?.key ?? "";
    page = await store.list("", { limit: PAGE_ENTRIES, countRemaining: false, revision: page.revision, startAfter });
    yield page;
  }
}

function encodeRecord({ key, revision, value }: Entry): Uint8Array {
  checkKey(key); // An etcd may contain foreign keys, with which the snapshot could not be restored.
  const keyBytes = new TextEncoder().encode(key);
  const valueBytes = value.bytes();
  const record = new Uint8Array(RECORD_FIXED_BYTES + keyBytes.length + valueBytes.length);
  const fields = view(record);
  fields.setUint32(0, keyBytes.length);
  record.set(keyBytes, 4);
  fields.setBigUint64(4 + keyBytes.length, BigInt(revision));
  fields.setUint32(12 + keyBytes.length, valueBytes.length);
  record.set(valueBytes, RECORD_FIXED_BYTES + keyBytes.length);
  return record;
}

async function read(reader: ByteReader, length: number): Promise<Uint8Array> {
  const bytes = await reader.read(length);
  if (bytes === undefined) throw damaged("it is cut off");
  return bytes;
}

function checkHash(written: Uint8Array, hasher: Hasher): void {
  if (hexadecimal(written) !== hexadecimal(hasher.digest())) throw damaged("its hash is wrong");
}

function damaged(why: string): StoreError {
  return new StoreError("Damaged", `Cannot read the snapshot: ${why}; take another copy of the file`);
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function hexadecimal(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
