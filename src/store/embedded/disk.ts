/**
 * The three maps of the embedded driver on lmdb, and the only place that knows lmdb. Reads are synchronous (memory that is
 * mapped); what is written in one call of `write` is one transaction, which is on disk when its promise is fulfilled.
 *
 * What is kept from its users, since there the library is surprising: `getBinaryFast` returns a buffer that the next read
 * overwrites, and that is longer than its `length` says; a read may see the state of an earlier turn until `refresh`; a failed commit rejects two promises.
 */
import { open, type Database, type RootDatabase } from "lmdb";
import {
  decodeHead,
  decodePosition,
  decodeRecord,
  decodeValue,
  encodeHead,
  encodePosition,
  encodeRecord,
  type Head,
  type LogRecord,
  MAP_NAMES,
} from "./records.ts";

type Bytes = Database<Buffer, Uint8Array>;

/** The numbers that outlive a restart. */
export type MetaName = "format" | "revision" | "keys" | "compacted" | "cleaned" | "restoring";

export class Disk {
  readonly #root: RootDatabase<Buffer, Uint8Array>;
  readonly #log: Bytes;
  readonly #index: Bytes;
  readonly #meta: Bytes;
  #closed: Promise<void> | undefined;

  constructor(path: string) {
    this.#root = open<Buffer, Uint8Array>({
      path,
      // The default acknowledges before the sync.
      overlappingSync: false,
      // Its own grouping by turns leaves a promise behind that nobody can handle when a commit fails; `write` groups.
      eventTurnBatching: false,
      encoding: "binary",
      keyEncoding: "binary",
      maxDbs: MAP_NAMES.length,
    });
    const openMap = (name: (typeof MAP_NAMES)[number]): Bytes =>
      this.#root.openDB<Buffer, Uint8Array>(name, { encoding: "binary", keyEncoding: "binary" });
    this.#log = openMap("log");
    this.#index = openMap("index");
    this.#meta = openMap("meta");
  }

  // ── reading ───────────────────────────────────────────────────────────────────────────────────────

  /** From now on reads see everything that has been committed. */
  refresh(): void {
    this.#root.resetReadTxn();
  }

  meta(name: MetaName): number | undefined {
    const bytes = this.#meta.getBinary(Buffer.from(name));
    return bytes === undefined ? undefined : decodePosition(bytes);
  }

  head(key: string): Head | undefined {
    const bytes = view(this.#index, Buffer.from(key));
    return bytes === undefined ? undefined : decodeHead(bytes, key);
  }

  /** The heads of keys from `from` on, in order, until `visit` returns false. `before`: the first key beyond. */
  visitHeads(range: { readonly from: Uint8Array; readonly before?: Uint8Array }, visit: (key: string, head: Head) => boolean): void {
    for (const { key, value } of this.#index.getRange({
      start: range.from,
      ...(range.before === undefined ? {} : { end: range.before }),
    })) {
      const text = Buffer.from(key).toString();
      if (!visit(text, decodeHead(value, text))) return;
    }
  }

  record(position: number): LogRecord | undefined {
    const bytes = view(this.#log, encodePosition(position));
    return bytes === undefined ? undefined : decodeRecord(bytes, position);
  }

  /** What a record takes; 0 if there is none. */
  recordBytes(position: number): number {
    return this.#log.getBinaryFast(encodePosition(position))?.length ?? 0;
  }

  /** The position of the last record; undefined if there is none. */
  lastPosition(): number | undefined {
    for (const key of this.#log.getKeys({ reverse: true, limit: 1 })) return decodePosition(key);
    return undefined;
  }

  /** A copy of the value; throws "Damaged" if it is not what was written for `key`. */
  value(position: number, key: string): Uint8Array | undefined {
    const bytes = view(this.#log, encodePosition(position));
    return bytes === undefined ? undefined : decodeValue(bytes, position, key);
  }

  /** The records of the log from `from` on, before `before`, until `visit` returns false. */
  visitLog(range: { readonly from: number; readonly before: number }, visit: (position: number, record: LogRecord) => boolean): void {
    for (const { key, value } of this.#log.getRange({ start: encodePosition(range.from), end: encodePosition(range.before) })) {
      const position = decodePosition(key);
      if (!visit(position, decodeRecord(value, position))) return;
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
    void this.#log.put(encodePosition(position), encodeRecord(record, value));
    void this.#index.put(Buffer.from(record.key), encodeHead({ position, deleted: record.deleted }));
  }

  removeRecord(position: number): void {
    void this.#log.remove(encodePosition(position));
  }

  removeHead(key: string): void {
    void this.#index.remove(Buffer.from(key));
  }

  putMeta(name: MetaName, number: number): void {
    void this.#meta.put(Buffer.from(name), encodePosition(number));
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

/** What is under `key`, until the next read. */
function view(map: Bytes, key: Uint8Array): Buffer | undefined {
  const bytes = map.getBinaryFast(key);
  return bytes?.subarray(0, bytes.length);
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
