/**
 * The data of the embedded driver on lmdb: meta, index and log (records.ts). Reads are synchronous (mapped memory); one call of `write` is
 * one transaction, which is on disk when its promise resolves.
 *
 * Surprises of the library that are hidden here: `getBinaryFast` returns a buffer that the next read overwrites, and that is longer than
 * its `length` says; a read may see the state of an earlier tick until `refresh`; a failed commit rejects two promises; after a read that
 * met damage every other one fails, too, until the next tick; a key that is too long is an error and not just absent; a failed commit is
 * also written to standard error, with a stack.
 */
import { StoreError } from "../store-error.ts";
import type { Allocate } from "./byte-slab.ts";
import { joinPath, writableBytesNow } from "../../host/files/files.ts";
import { openLmdbFile, whole, type LmdbFile } from "./lmdb-file.ts";
import {
  damaged,
  decodeRecord,
  decodeValue,
  encodeRecord,
  isIntact,
  PREFIX_BYTES,
  revisionOf,
  type Head,
  type LogRecord,
} from "./records.ts";
import { fits, noSpaceLeft, SPACE_TO_FREE, type RequiredSpace } from "./disk-space.ts";

/** Metadata that survives a restart. */
export type MetaName = "format" | "revision" | "keys" | "compacted" | "cleaned" | "restoring" | "owner";

/** The library's limit. The store writes shorter keys, so that longer ones do not exist. */
const KEY_BYTES_LIMIT = 1_978 - PREFIX_BYTES;

/** The version of what is in the file. */
export const FORMAT = 2;

/** After all positions and all keys, as an upper bound. */
const LAST_POSITION = Number.MAX_SAFE_INTEGER;
const AFTER_ALL_KEYS = Uint8Array.of(0xff);

/** State after the last commit. */
export interface Newest {
  readonly revision: number;
  readonly keys: number;
}

export class Disk {
  /** Replaced while the store is open when the data moves to a smaller file (shrink.ts). */
  #file: LmdbFile;
  readonly #path: string;
  readonly #directory: string;
  /** Undefined: `own` was not called. */
  #owner: number | undefined;
  #isInDoubt = false;
  /** Transactions in flight. */
  readonly #writing = new Set<Promise<unknown>>();
  /** Resolves when writing may resume; undefined while it may. */
  #held: Promise<void> | undefined;
  /** Why writing is disabled. */
  #refusal: StoreError | undefined;
  #closed: Promise<void> | undefined;

  /** Throws "Locked" if another process has the file open, in whatever container that runs. */
  constructor(path: string) {
    this.#path = path;
    this.#directory = joinPath(path, "..");
    this.#file = openLmdbFile(path);
  }

  // ── reading ───────────────────────────────────────────────────────────────────────────────────────

  /** Whether a read failed, so that the file is not what was written. */
  get isInDoubt(): boolean {
    return this.#isInDoubt;
  }

  /** From now on reads see everything committed. */
  refresh(): void {
    this.#file.root.resetReadTxn();
  }

  meta(name: MetaName): number | undefined {
    return this.#read(() => this.#file.meta.get(name));
  }

  head(key: string): Head | undefined {
    return isPossibleKey(key) ? this.#read(() => this.#file.index.get(key)) : undefined;
  }

  /** The heads of keys from `from` on, in order, until `visit` returns false. `before`: exclusive upper bound. */
  visitHeads(range: { readonly from: Uint8Array; readonly before?: Uint8Array }, visit: (key: string, head: Head) => boolean): void {
    const start = asBound(range.from);
    const end = range.before === undefined ? AFTER_ALL_KEYS : asBound(range.before);
    this.#visit(this.#file.index.getRange({ start, end }), (key, head) => visit(key as string, head));
  }

  record(position: number): LogRecord | undefined {
    return this.#read(() => this.#file.log.get(position) as LogRecord | undefined);
  }

  /** Size of a record; 0 if it does not exist. */
  recordBytes(position: number): number {
    return this.#read(() => this.#file.log.getBinaryFast(position)?.length ?? 0);
  }

  /** Position of the last record; undefined if none exists. */
  lastPosition(): number | undefined {
    return this.#read(() => {
      for (const key of this.#file.log.getKeys({ reverse: true, start: LAST_POSITION, end: 0, limit: 1 })) return key;
      return undefined;
    });
  }

  /** State after the last commit: from its record, unless meta has the same or a later revision. */
  newest(): Newest | undefined {
    const [revision, keys, last] = [this.meta("revision"), this.meta("keys"), this.lastPosition()];
    if (revision === undefined || keys === undefined) return undefined;
    if (last === undefined || revisionOf(last) <= revision) return { revision, keys };
    const record = this.#intactRecord(last);
    return { revision: revisionOf(last), keys: record?.keys ?? this.#countKeys(last) };
  }

  #intactRecord(position: number): LogRecord | undefined {
    return this.#read(() => {
      const bytes = this.#file.log.getBinaryFast(position);
      return bytes !== undefined && isIntact(whole(bytes), position) ? decodeRecord(whole(bytes)) : undefined;
    });
  }

  /** Counts the existing keys if the record at `last` is damaged. The index must agree that it is the last one. */
  #countKeys(last: number): number {
    let keys = 0;
    let newest = 0;
    this.visitHeads({ from: new Uint8Array(0) }, (_, { position, deleted }) => {
      keys += deleted ? 0 : 1;
      newest = Math.max(newest, position);
      return true;
    });
    if (revisionOf(newest) !== revisionOf(last)) throw damaged(`the record of revision ${revisionOf(last)} is not what was written`);
    return keys;
  }

  /** A copy of the value; throws "Damaged" if it is not what was written for `key`. */
  value(position: number, key: string, allocate?: Allocate): Uint8Array | undefined {
    return this.#read(() => {
      const bytes = this.#file.log.getBinaryFast(position);
      return bytes === undefined ? undefined : decodeValue(whole(bytes), position, key, allocate);
    });
  }

  /** The records of the log from `from` on, before `before`, until `visit` returns false. */
  visitLog(range: { readonly from: number; readonly before: number }, visit: (position: number, record: LogRecord) => boolean): void {
    this.#visit(this.#file.log.getRange({ start: range.from, end: range.before }), (key, record) => visit(key, record as LogRecord));
  }

  /** Size of the data, and capacity of the file. */
  sizes(): { readonly sizeBytes: number; readonly usedBytes: number } {
    return this.#read(() => {
      const stats = this.#file.root.getStats() as Record<
        "pageSize" | "lastPageNumber" | `${"treeBranch" | "treeLeaf"}PageCount` | "overflowPages",
        number
      >;
      const usedPages = stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages;
      return { sizeBytes: (stats.lastPageNumber + 1) * stats.pageSize, usedBytes: usedPages * stats.pageSize };
    });
  }

  #unusedBytes(): number {
    const { sizeBytes, usedBytes } = this.sizes();
    return sizeBytes - usedBytes;
  }

  #read<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw this.#unreadable(error);
    }
  }

  #visit<K, V>(entries: Iterable<{ readonly key: K; readonly value: V }>, visit: (key: K, value: V) => boolean): void {
    const iterator = this.#read(() => entries[Symbol.iterator]());
    const next = () => iterator.next();
    try {
      for (let entry = this.#read(next); entry.done !== true; entry = this.#read(next)) {
        if (!visit(entry.value.key, entry.value.value)) return;
      }
    } finally {
      // Also if iteration failed, which `for of` does not do: an open cursor keeps its pages from being reused.
      iterator.return?.();
    }
  }

  #unreadable(error: unknown): unknown {
    if (error instanceof StoreError || this.#closed !== undefined) return error;
    this.#isInDoubt = true;
    this.refresh(); // lmdb rejects all reads of a transaction in which one has failed.
    return damaged("a part of the file cannot be read", error);
  }

  // ── writing: only inside `write` ──────────────────────────────────────────────────────────────────

  /**
   * Executes the synchronous operations of `work` as one transaction. Resolves when they are on disk; rejects, with the reason, if none of
   * them is: "Locked" if another process has called `own`, "Full" if it may not fit on the disk.
   */
  async write(work: () => void, wanted: RequiredSpace = SPACE_TO_FREE): Promise<void> {
    while (this.#held !== undefined) await this.#held;
    if (this.#refusal !== undefined) throw this.#refusal;
    this.refresh();
    if (this.#owner !== undefined && this.meta("owner") !== this.#owner) {
      throw new StoreError(
        "Locked",
        `Cannot write to ${this.#path}: another process has taken over the data directory; stop one of the two; reads still work`,
      );
    }
    if (!fits(wanted, { freeBytes: writableBytesNow(this.#directory), unusedBytes: () => this.#unusedBytes() })) {
      throw noSpaceLeft(this.#directory);
    }
    const written = this.#file.root.batch(work);
    this.#writing.add(written);
    try {
      await written;
    } catch (error) {
      throw await reasonOf(error);
    } finally {
      this.#writing.delete(written);
      this.refresh();
    }
  }

  /** Runs `work` while no transaction is in flight; new ones wait for it. Reads continue. */
  async withoutWrites(work: () => Promise<void>): Promise<void> {
    let release: () => void = () => undefined;
    this.#held = new Promise((resolve) => (release = resolve));
    try {
      await Promise.allSettled(this.#writing);
      await work();
    } finally {
      this.#held = undefined;
      release();
    }
  }

  /** Rejects all later writes; reads continue. */
  refuseWrites(refusal: StoreError): void {
    this.#refusal = refusal;
  }

  /**
   * From now on reads and writes use the file of `other`, which holds the same data and must not be used elsewhere. To be called inside
   * `withoutWrites`. Returns what closes the previous file.
   */
  moveTo(other: Disk): () => Promise<void> {
    const { root } = this.#file;
    this.#file = other.#file;
    return () => root.close();
  }

  /**
   * From now on only this process writes: the previous owner is rejected. For file systems on which lmdb does not see other processes.
   * `owner`: a unique number.
   */
  async own(owner: number): Promise<void> {
    await this.write(() => this.putMeta("owner", owner));
    this.#owner = owner;
  }

  putRecord(position: number, record: LogRecord, value: Uint8Array): void {
    void this.#file.log.put(position, encodeRecord(position, record, value));
    void this.#file.index.put(record.key, { position, deleted: record.deleted });
  }

  removeRecord(position: number): void {
    void this.#file.log.remove(position);
  }

  removeHead(key: string): void {
    void this.#file.index.remove(key);
  }

  putMeta(name: MetaName, number: number): void {
    void this.#file.meta.put(name, number);
  }

  /** Removes all records and heads, and all metadata but the format and the owner. */
  clear(): void {
    void this.#file.root.clearAsync();
    this.putMeta("format", FORMAT);
    if (this.#owner !== undefined) this.putMeta("owner", this.#owner);
  }

  /** A second call waits for the first. */
  close(): Promise<void> {
    this.#closed ??= this.#file.root.close();
    return this.#closed;
  }
}

/** Whether lmdb can hold the key; if not, it does not exist. */
function isPossibleKey(key: string): boolean {
  // Counting bytes takes as long as reading; three per UTF-16 unit is the maximum.
  return key !== "" && (key.length * 3 <= KEY_BYTES_LIMIT || Buffer.byteLength(key) <= KEY_BYTES_LIMIT);
}

/** There is no key between a longer bound and its truncation, as keys are shorter than both. */
function asBound(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, KEY_BYTES_LIMIT);
}

/** The library hides the reason behind a second promise, which must be handled, or the process would end. */
async function reasonOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { commitError?: unknown };
  try {
    return (await commitError) ?? error;
  } catch (reason) {
    return reason;
  }
}
