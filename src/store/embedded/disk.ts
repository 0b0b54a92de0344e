/**
 * The three maps of the embedded driver on lmdb, and the only place that knows lmdb. Reads are synchronous (memory that is
 * mapped); what is written in one call of `write` is one transaction, which is on disk when its promise is fulfilled.
 *
 * What is kept from its users, since there the library is surprising: `getBinaryFast` returns a buffer that the next read
 * overwrites, and that is longer than its `length` says; a read may see the state of an earlier turn until `refresh`; a failed
 * commit rejects two promises.
 */
import type { Allocate } from "./byte-slab.ts";
import { open, type Database, type DatabaseOptions, type RootDatabase } from "lmdb";
import {
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

/** The numbers that outlive a restart. */
export type MetaName = "format" | "revision" | "keys" | "compacted" | "cleaned" | "restoring";

export class Disk {
  readonly #root: RootDatabase;
  /** Written as whole records, read as what stands before their values. */
  readonly #log: Database<LogRecord | Buffer, number>;
  readonly #index: Database<Head, string | Uint8Array>;
  readonly #meta: Database<number, string>;
  #closed: Promise<void> | undefined;

  constructor(path: string) {
    this.#root = open({
      path,
      // The default acknowledges before the sync.
      overlappingSync: false,
      // Its own grouping by turns leaves a promise behind that nobody can handle when a commit fails; `write` groups.
      eventTurnBatching: false,
      maxDbs: MAP_NAMES.length,
    });
    const [log, index, meta] = MAP_NAMES;
    this.#log = this.#root.openDB(log, mapOptions(positionKeys, asIs, decodeRecord));
    this.#index = this.#root.openDB(index, mapOptions(textKeys, encodeHead, decodeHead));
    this.#meta = this.#root.openDB(meta, mapOptions(textKeys, encodeNumber, decodeNumber));
  }

  // ── reading ───────────────────────────────────────────────────────────────────────────────────────

  /** From now on reads see everything that has been committed. */
  refresh(): void {
    this.#root.resetReadTxn();
  }

  meta(name: MetaName): number | undefined {
    return this.#meta.get(name);
  }

  head(key: string): Head | undefined {
    return this.#index.get(key);
  }

  /** The heads of keys from `from` on, in order, until `visit` returns false. `before`: the first key beyond. */
  visitHeads(range: { readonly from: Uint8Array; readonly before?: Uint8Array }, visit: (key: string, head: Head) => boolean): void {
    const { from: start, before: end } = range;
    for (const { key, value } of this.#index.getRange({ start, ...(end === undefined ? {} : { end }) })) {
      if (!visit(key as string, value)) return;
    }
  }

  record(position: number): LogRecord | undefined {
    return this.#log.get(position) as LogRecord | undefined;
  }

  /** What a record takes; 0 if there is none. */
  recordBytes(position: number): number {
    return this.#log.getBinaryFast(position)?.length ?? 0;
  }

  /** The position of the last record; undefined if there is none. */
  lastPosition(): number | undefined {
    for (const key of this.#log.getKeys({ reverse: true, limit: 1 })) return key;
    return undefined;
  }

  /** A copy of the value; throws "Damaged" if it is not what was written for `key`. */
  value(position: number, key: string, allocate?: Allocate): Uint8Array | undefined {
    const bytes = this.#log.getBinaryFast(position);
    return bytes === undefined ? undefined : decodeValue(whole(bytes), position, key, allocate);
  }

  /** The records of the log from `from` on, before `before`, until `visit` returns false. */
  visitLog(range: { readonly from: number; readonly before: number }, visit: (position: number, record: LogRecord) => boolean): void {
    for (const { key, value } of this.#log.getRange({ start: range.from, end: range.before })) {
      if (!visit(key, value as LogRecord)) return;
    }
  }

  /** What the maps take, and what the file could hold. */
  sizes(): { readonly sizeBytes: number; readonly usedBytes: number } {
    const { pageSize, lastPageNumber } = this.#root.getStats() as { pageSize: number; lastPageNumber: number };
    const pages = [this.#log, this.#index, this.#meta].map((map) => {
      const stats = map.getStats() as { treeBranchPageCount: number; treeLeafPageCount: number; overflowPages: number };
      return stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages;
    });
    return { sizeBytes: (lastPageNumber + 1) * pageSize, usedBytes: pages.reduce((sum, count) => sum + count, 0) * pageSize };
  }

  // ── writing: only inside `write` ──────────────────────────────────────────────────────────────────

  /**
   * Carries out what `work` asks for, which it does before it returns, as one transaction. Resolves when that is on disk;
   * rejects, with the reason, if none of it is.
   */
  async write(work: () => void): Promise<void> {
    try {
      await this.#root.batch(work);
    } catch (error) {
      throw await reasonOf(error);
    } finally {
      this.refresh();
    }
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

  /** Writes everything to a new file, without the pages that are free. */
  async copyTo(path: string): Promise<void> {
    await this.#root.backup(path, true);
  }

  /** A second call waits for the first. */
  close(): Promise<void> {
    this.#closed ??= this.#root.close();
    return this.#closed;
  }
}

/** How the library wants to be told of encodings. What is decoded must hold nothing of the bytes: they are used again. */
function mapOptions<T>(keyEncoder: object, encode: (value: never) => Buffer, decode: (bytes: Buffer) => T): DatabaseOptions {
  const options = { keyEncoder, encoder: { encode, decode: (bytes: Buffer) => decode(whole(bytes)) } };
  return options as DatabaseOptions; // Its types know neither of the two.
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
