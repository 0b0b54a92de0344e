/**
 * The durable store of a single API server, on lmdb: a log of all kept writes, an index of the last one of each key, and metadata. Old
 * lists and watches survive a restart, because history is in the log and not in memory.
 *
 * A write is acknowledged, and visible to readers and watchers, only after it is on disk (embedded/writer.ts). One process owns the
 * directory. Opening checks the pages of a file of moderate size, and reads metadata but no data.
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type {
  Change,
  CommitResult,
  Entry,
  ListOptions,
  ListResult,
  Operation,
  ReadOptions,
  RestorableStore,
  StoreStatistics,
  Value,
  Watch,
  WatchListener,
} from "../store.ts";
import { prepareOperations } from "../operations.ts";
import { checkReadOptions, revisionToRead } from "../read-options.ts";
import { restoringError, notEmptyError } from "../restore-checks.ts";
import { StoreError, closed, compacted, futureRevision } from "../store-error.ts";
import { bytesValue } from "../value.ts";
import { WatchHub, type HistoryPiece } from "../watch-hub.ts";
import { slabAllocator, type Allocate } from "./byte-slab.ts";
import { clean } from "./cleaner.ts";
import { explainWriteFailure } from "./data-file.ts";
import type { Disk } from "./disk.ts";
import { openDirectory, type EmbeddedDirectory } from "./directory.ts";
import { NO_POSITION, damaged, positionOf, revisionOf, type Head } from "./records.ts";
import { restoreEntries } from "./restore.ts";
import { Writer, entryOf, type PendingWrite } from "./writer.ts";

/** Entries that a list reads per event-loop tick, so that a long list does not block others. */
const LIST_ENTRIES_PER_TURN = 500;

/** Keys that a list only counts per tick; each costs less than an entry. */
const LIST_COUNTED_PER_TURN = 5_000;

export interface EmbeddedStoreOptions {
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** A larger file returns its free pages while the store is open. Default: SHRINK_ABOVE_BYTES; tests use less. */
  readonly shrinkAboveBytes?: number;
}

export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<RestorableStore> {
  const opened = await options.clock.external(openDirectory(options.directory, options));
  return new Embedded(options, opened);
}

class Embedded implements RestorableStore {
  readonly capabilities = { progress: true, shared: false, durable: true };
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #directory: EmbeddedDirectory;
  readonly #disk: Disk;
  readonly #hub: WatchHub;
  readonly #closing = new AbortController();
  /** Revisions of lists in progress: what they still read is not cleaned. */
  readonly #reading = new Set<{ readonly revision: number; readonly done: Promise<void> }>();
  #writer: Writer;
  #visibleRevision: number;
  #compactedRevision: number;
  /** Space of compacted history is freed up to here. */
  #cleanedRevision: number;
  #cleaning: Promise<void> = Promise.resolve();
  #restoring: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor({ clock, log }: EmbeddedStoreOptions, directory: EmbeddedDirectory) {
    this.#clock = clock;
    this.#log = log.with({ part: "store" });
    this.#directory = directory;
    this.#disk = directory.disk;
    this.#visibleRevision = directory.revision;
    this.#compactedRevision = directory.compacted;
    this.#writer = this.#newWriter(directory.revision, directory.keys);
    this.#hub = new WatchHub({
      clock,
      visibleRevision: () => this.#visibleRevision,
      readHistory: (prefix, after, revisions) => this.#readHistory(prefix, after, revisions),
    });
    this.#cleanedRevision = directory.cleaned;
    if (directory.cleaned < directory.compacted) this.#cleanInBackground(directory.compacted);
  }

  async get(key: string, options: ReadOptions = {}): Promise<Entry | undefined> {
    this.#checkOpen(`get ${key}`);
    checkReadOptions(options);
    return this.#entryAt(key, this.#disk.head(key), this.#revisionToRead(options));
  }

  async list(prefix: string, options: ListOptions = {}): Promise<ListResult> {
    this.#checkOpen(`list ${prefix}`);
    checkReadOptions(options);
    const revision = this.#revisionToRead(options);
    let finish: () => void = () => undefined;
    const reading = { revision, done: new Promise<void>((resolve) => (finish = resolve)) };
    this.#reading.add(reading);
    try {
      return await this.#listAt(prefix, revision, options);
    } finally {
      this.#reading.delete(reading);
      finish();
    }
  }

  async currentRevision(): Promise<number> {
    this.#checkOpen("read the revision");
    return this.#visibleRevision;
  }

  /** Hot path: not async, which would cost every write more promises. */
  commit(operations: readonly Operation[], options: { readonly signal?: AbortSignal } = {}): Promise<CommitResult> {
    try {
      this.#checkWritable("commit");
      options.signal?.throwIfAborted();
      // Bytes are needed in any case, and give the size without a second pass over the object.
      for (const operation of operations) if (operation.type === "put") operation.value.bytes();
      return this.#writer.commit(prepareOperations(operations), this.#read);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  readonly #read = (key: string, head: Head): Entry => this.#entry(key, head.position);

  watch(prefix: string, { after }: { readonly after: number }, listener: WatchListener): Watch {
    this.#checkOpen(`watch ${prefix}`);
    return this.#hub.watch(prefix, after, listener);
  }

  onVisible(listener: (revision: number) => void): () => void {
    return this.#hub.onVisible(listener);
  }

  async compact(revision: number): Promise<void> {
    this.#checkWritable("compact");
    checkReadOptions({ revision });
    if (revision > this.#visibleRevision) throw futureRevision(revision, this.#visibleRevision);
    if (revision <= this.#compactedRevision) return;
    this.#compactedRevision = revision;
    await this.#cleanAfterOthers(async () => {
      await this.#clock.external(this.#disk.write(() => this.#disk.putMeta("compacted", revision)));
      await this.#clean(revision);
    });
  }

  async statistics(): Promise<StoreStatistics> {
    this.#checkOpen("read statistics");
    const { keys, commits, syncs } = this.#writer;
    return {
      driver: "embedded",
      revision: this.#visibleRevision,
      compactedRevision: this.#compactedRevision,
      keys,
      ...this.#disk.sizes(),
      watches: this.#hub.size,
      commits,
      syncs,
    };
  }

  async restore(entries: AsyncIterable<Entry>, revision: number): Promise<void> {
    this.#checkWritable("restore");
    const restoring = this.#restoreWhenIdle(entries, revision);
    this.#restoring = restoring.catch(() => undefined);
    try {
      await restoring;
    } finally {
      this.#restoring = undefined;
    }
    this.#hub.endAll({ reason: "compacted", compactedRevision: revision });
  }

  async #restoreWhenIdle(entries: AsyncIterable<Entry>, revision: number): Promise<void> {
    await this.#writer.idle();
    if (this.#visibleRevision !== this.#directory.firstRevision) throw notEmptyError(this.#visibleRevision);
    const signal = this.#closing.signal;
    const keys = await restoreEntries(
      { disk: this.#disk, clock: this.#clock, signal, firstRevision: this.#directory.firstRevision },
      entries,
      revision,
    );
    this.#visibleRevision = this.#compactedRevision = this.#cleanedRevision = revision;
    this.#writer = this.#newWriter(revision, keys);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    this.#hub.endAll({ reason: "closed" });
    await this.#restoring;
    await this.#writer.idle();
    await this.#cleaning;
    await Promise.all([...this.#reading].map(({ done }) => done));
    await this.#clock.external(this.#directory.close({ inDoubt: this.#writer.hasFailed }));
  }

  // ── reading ───────────────────────────────────────────────────────────────────────────────────────

  #entryAt(key: string, head: Head | undefined, revision: number): Entry | undefined {
    const at = this.#headAt(head, revision);
    return at === undefined ? undefined : this.#entry(key, at.position);
  }

  /** Position of the key's last write up to `revision`; undefined if it did not exist. Follows the key's history backwards. */
  #headAt(head: Head | undefined, revision: number): Head | undefined {
    let at = head;
    while (at !== undefined && revisionOf(at.position) > revision) at = this.#before(at);
    return at === undefined || at.deleted ? undefined : at;
  }

  #before({ position }: Head): Head | undefined {
    const previous = this.#disk.record(position)?.previous ?? NO_POSITION;
    if (previous === NO_POSITION) return undefined;
    const record = this.#disk.record(previous);
    if (record !== undefined) return { position: previous, deleted: record.deleted };
    if (revisionOf(previous) <= this.#compactedRevision) return undefined; // A deletion that was cleaned.
    throw damaged(`the record of revision ${revisionOf(previous)} is missing`);
  }

  #entry(key: string, position: number, allocate?: Allocate): Entry {
    return { key, revision: revisionOf(position), value: this.#value(key, position, allocate) };
  }

  #value(key: string, position: number, allocate?: Allocate): Value {
    const bytes = this.#disk.value(position, key, allocate);
    if (bytes === undefined) throw damaged(`the value of ${key} at revision ${revisionOf(position)} is missing`);
    return bytesValue(bytes);
  }

  async #listAt(prefix: string, revision: number, options: ListOptions): Promise<ListResult> {
    const { limit = Infinity, startAfter, countRemaining = true } = options;
    const entries: Entry[] = [];
    const allocate = slabAllocator();
    let remaining = 0;
    const before = afterPrefix(prefix);
    let from: Uint8Array | undefined = firstOf(prefix, startAfter);
    while (from !== undefined) {
      let work = 0;
      let next: string | undefined;
      this.#disk.visitHeads({ from, ...(before === undefined ? {} : { before }) }, (key, head) => {
        const at = this.#headAt(head, revision);
        if (at !== undefined && entries.length < limit) entries.push(this.#entry(key, at.position, allocate));
        else if (at !== undefined) remaining += 1;
        work += entries.length < limit ? 1 / LIST_ENTRIES_PER_TURN : 1 / LIST_COUNTED_PER_TURN;
        if (work >= 1) next = key;
        return work < 1 && (remaining === 0 || countRemaining);
      });
      from = next === undefined || (remaining > 0 && !countRemaining) ? undefined : justAfter(next);
      if (from !== undefined) await new Promise<void>((resolve) => this.#clock.soon(resolve));
    }
    return { entries, revision, remaining };
  }

  #readHistory(prefix: string, after: number, revisions: number): HistoryPiece {
    if (after < this.#compactedRevision) throw compacted(after, this.#compactedRevision);
    const through = Math.min(after + revisions, this.#visibleRevision);
    const found: { readonly key: string; readonly position: number; readonly deleted: boolean }[] = [];
    let last = after;
    this.#disk.visitLog({ from: positionOf(after + 1, 0), before: positionOf(through + 1, 0) }, (position, { key, deleted }) => {
      // Every revision after the compacted one has a record; a gap would be a lost change.
      if (revisionOf(position) > last + 1) return false;
      last = revisionOf(position);
      if (key.startsWith(prefix)) found.push({ key, position, deleted });
      return true;
    });
    if (last !== through) throw damaged(`the record of revision ${last + 1} is missing`);
    return { changes: found.map((write) => this.#changeFromLog(write)), through };
  }

  #changeFromLog({ key, position, deleted }: { readonly key: string; readonly position: number; readonly deleted: boolean }): Change {
    const before = this.#before({ position, deleted });
    const previous = before === undefined || before.deleted ? undefined : this.#entry(key, before.position);
    return change(key, position, deleted ? undefined : this.#value(key, position), previous);
  }

  #revisionToRead(options: ReadOptions): number {
    return revisionToRead(options, { newest: this.#visibleRevision, compacted: this.#compactedRevision });
  }

  // ── writing ───────────────────────────────────────────────────────────────────────────────────────

  #newWriter(revision: number, keys: number): Writer {
    return new Writer({
      disk: this.#disk,
      clock: this.#clock,
      revision,
      keys,
      onWritten: (writes, newest) => this.#show(writes, newest),
      explainFailure: async (error) => {
        const failure = error instanceof StoreError ? error : await explainWriteFailure(error, this.#directory.path);
        this.#log.error("Cannot write to the store", { directory: this.#directory.path, reason: failure.reason, error });
        return failure;
      },
    });
  }

  /** Makes what is on disk visible to readers and watchers. */
  #show(writes: readonly PendingWrite[], newest: number): void {
    this.#visibleRevision = newest;
    const watched = writes.filter(({ key }) => this.#hub.isWatched(key));
    if (watched.length > 0) this.#hub.publish(watched.map((write) => this.#changeFromWrite(write)));
    else this.#hub.advanced();
  }

  #changeFromWrite({ key, position, value, previous, previousWrite, previousValue }: PendingWrite): Change {
    if (previousWrite !== undefined) return change(key, position, value, entryOf(previousWrite));
    if (previous === undefined || previous.deleted) return change(key, position, value, undefined);
    const before = previousValue ?? this.#value(key, previous.position);
    return change(key, position, value, { key, revision: revisionOf(previous.position), value: before });
  }

  // ── compaction ────────────────────────────────────────────────────────────────────────────────────

  async #clean(compactedRevision: number): Promise<void> {
    const older = [...this.#reading].filter(({ revision }) => revision < compactedRevision);
    await Promise.all(older.map(({ done }) => done));
    const isPending = (key: string) => this.#writer.isPending(key);
    const options = { disk: this.#disk, clock: this.#clock, isPending, signal: this.#closing.signal };
    this.#cleanedRevision = await clean(options, this.#cleanedRevision, compactedRevision);
    await this.#returnSpace();
  }

  async #returnSpace(): Promise<void> {
    if (this.#writer.hasFailed || this.#restoring !== undefined) return;
    const before = this.#disk.sizes();
    if (!(await this.#clock.external(this.#directory.shrink(this.#closing.signal)))) return;
    const { sizeBytes } = this.#disk.sizes();
    this.#log.info("Returned free space to the file system", { fromBytes: before.sizeBytes, toBytes: sizeBytes });
  }

  /** One at a time, or the progress of one would hide that of another. */
  #cleanAfterOthers(work: () => Promise<void>): Promise<void> {
    const turn = this.#cleaning.then(work).catch(async (error: unknown) => {
      throw error instanceof StoreError ? error : await explainWriteFailure(error, this.#directory.path);
    });
    this.#cleaning = turn.catch(() => undefined);
    return turn;
  }

  #cleanInBackground(compactedRevision: number): void {
    this.#cleanAfterOthers(() => this.#clean(compactedRevision)).catch((error: unknown) =>
      this.#log.warn("Cannot free the space of compacted revisions; the next compaction retries", { error }),
    );
  }

  #checkWritable(action: string): void {
    this.#checkOpen(action);
    if (this.#restoring !== undefined) throw restoringError(action);
  }

  #checkOpen(action: string): void {
    if (this.#closed !== undefined) throw closed(action);
  }
}

function change(key: string, position: number, value: Value | undefined, previous: Entry | undefined): Change {
  const revision = revisionOf(position);
  if (value !== undefined) return { type: "put", key, revision, value, previous };
  if (previous === undefined) throw new StoreError("Damaged", `Cannot read the previous value of ${key}, deleted at revision ${revision}`);
  return { type: "delete", key, revision, previous };
}

function firstOf(prefix: string, startAfter: string | undefined): Uint8Array {
  const start = Buffer.from(prefix);
  if (startAfter === undefined) return start;
  const after = justAfter(startAfter);
  return Buffer.compare(after, start) > 0 ? after : start;
}

/** The least key after `key`. */
function justAfter(key: string): Uint8Array {
  return Buffer.concat([Buffer.from(key), Buffer.of(0)]);
}

/** The least bytes after all with this prefix; undefined if none exist. */
function afterPrefix(prefix: string): Uint8Array | undefined {
  const bytes = Buffer.from(prefix);
  const end = bytes.findLastIndex((byte) => byte < 0xff);
  if (end < 0) return undefined;
  const after = Buffer.from(bytes.subarray(0, end + 1));
  after[end] = (after[end] ?? 0) + 1;
  return after;
}
