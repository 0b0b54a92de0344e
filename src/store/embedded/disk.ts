/**
 * The three maps of the embedded driver on lmdb, and the only place that knows lmdb. Reads are synchronous (memory that is
 * mapped); what is written in one call of `write` is one transaction, which is on disk when its promise is fulfilled.
 *
 * What is kept from its users, since there the library is surprising: `getBinaryFast` returns a buffer that the next read
 * overwrites, and that is longer than its `length` says; a read may see the state of an earlier turn until `refresh`; a failed
 * commit rejects two promises; after a read that met damage every other one fails, too, until the next turn; a key that is too
 * long is an error and not just absent; a failed commit is also written to standard error, with a stack.
 */
import { StoreError } from "../store-error.ts";
import type { Allocate } from "./byte-slab.ts";
import { joinPath, writableBytesNow } from "../../host/files.ts";
import { withoutPrinting } from "../../host/without-printing.ts";
import { open, type Database, type DatabaseOptions, type RootDatabase } from "lmdb";
import {
  damaged,
  decodeHead,
  decodeNumber,
  decodeRecord,
  decodeValue,
  encodeHead,
  encodeNumber,
  encodeRecord,
  MAP_NAMES,
  positionKeys,
  textKeys,
  type Head,
  type LogRecord,
} from "./records.ts";
import { fits, noSpaceLeft, ROOM_TO_FREE, type WantedRoom } from "./room.ts";

/** The numbers that outlive a restart. */
export type MetaName = "format" | "revision" | "keys" | "compacted" | "cleaned" | "restoring" | "owner";

/** The library's limit. What the store writes is shorter, so what is asked for beyond it is not there. */
const KEY_BYTES_LIMIT = 1_978;

/** What the library says of a file that nobody else has open. */
const NO_READERS = "(no active readers)";

export class Disk {
  readonly #root: RootDatabase;
  /** Written as whole records, read as what stands before their values. */
  readonly #log: Database<LogRecord | Buffer, number>;
  readonly #index: Database<Head, string | Uint8Array>;
  readonly #meta: Database<number, string>;
  readonly #path: string;
  readonly #directory: string;
  /** Undefined: nobody has called `own`. */
  #owner: number | undefined;
  #isInDoubt = false;
  #closed: Promise<void> | undefined;

  /** Throws "Locked" if another process has the file open, in whatever container that runs. */
  constructor(path: string) {
    this.#path = path;
    this.#directory = joinPath(path, "..");
    this.#root = open({
      path,
      // The default writes the header that makes a commit count before the commit is on disk, and counts on going back.
      overlappingSync: false,
      // Its own grouping by turns leaves a promise behind that nobody can handle when a commit fails; `write` groups.
      eventTurnBatching: false,
      maxDbs: MAP_NAMES.length,
    });
    keepQuiet(this.#root);
    // Before we read ourselves: whoever opens the file alone finds an empty list, so that all who are on it are others.
    if (!this.#root.readerList().startsWith(NO_READERS)) {
      void this.#root.close();
      throw new StoreError(
        "Locked",
        `Cannot open ${path}: another process has it open, maybe in another container; stop that first or choose another data directory`,
      );
    }
    const [log, index, meta] = MAP_NAMES;
    this.#log = this.#root.openDB(log, mapOptions(positionKeys, asIs, decodeRecord));
    this.#index = this.#root.openDB(index, mapOptions(textKeys, encodeHead, decodeHead));
    this.#meta = this.#root.openDB(meta, mapOptions(textKeys, encodeNumber, decodeNumber));
  }

  // ── reading ───────────────────────────────────────────────────────────────────────────────────────

  /** Whether something could not be read, so that the file is not what was written. */
  get isInDoubt(): boolean {
    return this.#isInDoubt;
  }

  /** From now on reads see everything that has been committed. */
  refresh(): void {
    this.#root.resetReadTxn();
  }

  meta(name: MetaName): number | undefined {
    return this.#read(() => this.#meta.get(name));
  }

  head(key: string): Head | undefined {
    return isPossibleKey(key) ? this.#read(() => this.#index.get(key)) : undefined;
  }

  /** The heads of keys from `from` on, in order, until `visit` returns false. `before`: the first key beyond. */
  visitHeads(range: { readonly from: Uint8Array; readonly before?: Uint8Array }, visit: (key: string, head: Head) => boolean): void {
    const start = asBound(range.from);
    const end = range.before === undefined ? {} : { end: asBound(range.before) };
    this.#visit(this.#index.getRange({ start, ...end }), (key, head) => visit(key as string, head));
  }

  record(position: number): LogRecord | undefined {
    return this.#read(() => this.#log.get(position) as LogRecord | undefined);
  }

  /** What a record takes; 0 if there is none. */
  recordBytes(position: number): number {
    return this.#read(() => this.#log.getBinaryFast(position)?.length ?? 0);
  }

  /** The position of the last record; undefined if there is none. */
  lastPosition(): number | undefined {
    return this.#read(() => {
      for (const key of this.#log.getKeys({ reverse: true, limit: 1 })) return key;
      return undefined;
    });
  }

  /** A copy of the value; throws "Damaged" if it is not what was written for `key`. */
  value(position: number, key: string, allocate?: Allocate): Uint8Array | undefined {
    return this.#read(() => {
      const bytes = this.#log.getBinaryFast(position);
      return bytes === undefined ? undefined : decodeValue(whole(bytes), position, key, allocate);
    });
  }

  /** The records of the log from `from` on, before `before`, until `visit` returns false. */
  visitLog(range: { readonly from: number; readonly before: number }, visit: (position: number, record: LogRecord) => boolean): void {
    this.#visit(this.#log.getRange({ start: range.from, end: range.before }), (key, record) => visit(key, record as LogRecord));
  }

  /** What the maps take, and what the file could hold. */
  sizes(): { readonly sizeBytes: number; readonly usedBytes: number } {
    return this.#read(() => {
      const { pageSize, lastPageNumber } = this.#root.getStats() as { pageSize: number; lastPageNumber: number };
      const pages = [this.#log, this.#index, this.#meta].map((map) => {
        const stats = map.getStats() as { treeBranchPageCount: number; treeLeafPageCount: number; overflowPages: number };
        return stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages;
      });
      return { sizeBytes: (lastPageNumber + 1) * pageSize, usedBytes: pages.reduce((sum, count) => sum + count, 0) * pageSize };
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
      // Also if reading on failed, which `for of` does not do: a cursor that is left open keeps its pages from being used again.
      iterator.return?.();
    }
  }

  #unreadable(error: unknown): unknown {
    if (error instanceof StoreError || this.#closed !== undefined) return error;
    this.#isInDoubt = true;
    this.refresh(); // lmdb refuses all reads of a transaction in which one has failed.
    return damaged("a part of the file cannot be read", error);
  }

  // ── writing: only inside `write` ──────────────────────────────────────────────────────────────────

  /**
   * Carries out what `work` asks for, which it does before it returns, as one transaction. Resolves when that is on disk;
   * rejects, with the reason, if none of it is: "Locked" if somebody else has called `own`, "Full" if it may not fit on the disk.
   */
  async write(work: () => void, wanted: WantedRoom = ROOM_TO_FREE): Promise<void> {
    this.refresh();
    if (this.#owner !== undefined && this.meta("owner") !== this.#owner) {
      throw new StoreError(
        "Locked",
        `Cannot write to ${this.#path}: another process has taken over the data directory; stop one of the two, reads go on`,
      );
    }
    if (!fits(wanted, { freeBytes: writableBytesNow(this.#directory), unusedBytes: () => this.#unusedBytes() })) {
      throw noSpaceLeft(this.#directory);
    }
    try {
      await this.#root.batch(work);
    } catch (error) {
      throw await reasonOf(error);
    } finally {
      this.refresh();
    }
  }

  /**
   * From now on only this process writes: whoever did before is refused. For file systems on which lmdb does not see who else
   * has the file open. `owner`: a number that nobody else has.
   */
  async own(owner: number): Promise<void> {
    await this.write(() => this.putMeta("owner", owner));
    this.#owner = owner;
  }

  putRecord(position: number, record: LogRecord, value: Uint8Array): void {
    void this.#log.put(position, encodeRecord(record, value));
    void this.#index.put(record.key, { position, deleted: record.deleted });
  }

  removeRecord(position: number): void {
    void this.#log.remove(position);
  }

  removeHead(key: string): void {
    void this.#index.remove(key);
  }

  putMeta(name: MetaName, number: number): void {
    void this.#meta.put(name, number);
  }

  /** Forgets all records and heads. */
  clear(): void {
    void this.#log.clearAsync();
    void this.#index.clearAsync();
  }

  /** A second call waits for the first. */
  close(): Promise<void> {
    this.#closed ??= this.#root.close();
    return this.#closed;
  }
}

/** What the library has of its own beside its types: one round of writing, and how its end is told. */
interface Rounds {
  startWriting(address: number, onStatus: (status: number) => unknown): unknown;
}

/** Greater ones than these, and negative ones, are failures. */
const LAST_GOOD_STATUS = 2;

/** Whoever wrote is told of a failure by the promise; the library also prints it, in the call that tells it of the end. */
function keepQuiet(root: RootDatabase): void {
  const { env } = root as unknown as { readonly env: Rounds };
  const startWriting = env.startWriting.bind(env);
  const quietly: Rounds["startWriting"] = (address, onStatus) =>
    startWriting(address, (status) =>
      status >= 0 && status <= LAST_GOOD_STATUS ? onStatus(status) : withoutPrinting(() => onStatus(status)),
    );
  // Assigned it could not be: its class does not allow that.
  Object.defineProperty(env, "startWriting", { value: quietly });
}

/** How the library wants to be told of encodings. What is decoded must hold nothing of the bytes: they are used again. */
function mapOptions<T>(keyEncoder: object, encode: (value: never) => Buffer, decode: (bytes: Buffer) => T): DatabaseOptions {
  const options = { keyEncoder, encoder: { encode, decode: (bytes: Buffer) => decode(whole(bytes)) } };
  return options as DatabaseOptions; // Its types know neither of the two.
}

/** Whether lmdb can hold the key; if not, it is not there. */
function isPossibleKey(key: string): boolean {
  // Counting bytes takes as long as reading does; three per unit are the most that there can be.
  return key !== "" && (key.length * 3 <= KEY_BYTES_LIMIT || Buffer.byteLength(key) <= KEY_BYTES_LIMIT);
}

/** Between a longer bound and what is left of it there is no key, as keys are shorter than both. */
function asBound(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, KEY_BYTES_LIMIT);
}

function asIs(bytes: Buffer): Buffer {
  return bytes;
}

/** The part of the library's buffer that holds what was read, until the next read. */
function whole(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.length);
}

/** The library hides the reason behind a second promise, which must be looked at, or the process ends over it. */
async function reasonOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { commitError?: unknown };
  try {
    return (await commitError) ?? error;
  } catch (reason) {
    return reason;
  }
}
