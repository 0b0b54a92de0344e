/**
 * An in-memory store: for tests, `--store=memory` and a browser tab. Loses everything at exit, on purpose. Values are kept as given, so
 * that nothing is serialised unless it is read as bytes.
 *
 * It consists of two copy-on-write maps of immutable records, which is why a fork costs O(1) and why compaction builds new records instead
 * of truncating old ones that a fork may share.
 */
import { SortedMap } from "../../base/sorted-map.ts";
import type { Clock } from "../../base/clock.ts";
import { FIRST_REVISION } from "../store.ts";
import type {
  Change,
  CommitResult,
  Entry,
  FailedPrecondition,
  ForkableStore,
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
import { orderAfterPrefix, orderOf } from "../key.ts";
import { holds, prepareOperations } from "../operations.ts";
import { checkReadOptions, revisionToRead } from "../read-options.ts";
import { restoringError, checkRestored, notEmptyError } from "../restore-checks.ts";
import { closed, compacted, futureRevision } from "../store-error.ts";
import { WatchHub, type HistoryPiece } from "../watch-hub.ts";

/** Revisions that a compaction drops before it yields the event loop: about 20 ms. */
const COMPACTED_PER_TICK = 2_000;

/** One write of one key, linked to its kept predecessors. */
interface Write {
  readonly key: string;
  readonly revision: number;
  /** Undefined: the key was deleted. */
  readonly value: Value | undefined;
  readonly previous: Write | undefined;
}

interface State {
  /** Key order → last record. Deleted keys stay until the deletion is compacted. */
  readonly heads: SortedMap<string, Write>;
  /** Revision → the records of that commit, in the order of its operations. */
  readonly log: SortedMap<number, readonly Write[]>;
  revision: number;
  compactedRevision: number;
  /** Number of existing keys. */
  keys: number;
}

export interface MemoryStore extends ForkableStore, RestorableStore {
  /**
   * `revision`: the copy continues from this revision, which must not be lower than the original's, without history. So clients that know
   * a revision between the two list again instead of missing changes.
   */
  fork(context?: { readonly clock: Clock; readonly revision?: number }): MemoryStore;
}

export function openMemoryStore(context: { readonly clock: Clock }): MemoryStore {
  const state = { heads: new SortedMap<string, Write>(), log: new SortedMap<number, readonly Write[]>() };
  return new Memory(context.clock, { ...state, revision: FIRST_REVISION, compactedRevision: FIRST_REVISION, keys: 0 });
}

class Memory implements MemoryStore {
  readonly capabilities = { progress: true, shared: false, durable: false };
  readonly #clock: Clock;
  readonly #hub: WatchHub;
  #state: State;
  #commits = 0;
  #closed = false;
  #restoring = false;

  constructor(clock: Clock, state: State) {
    this.#clock = clock;
    this.#state = state;
    this.#hub = new WatchHub({
      clock,
      visibleRevision: () => this.#state.revision,
      readHistory: (prefix, after, revisions) => readHistory(this.#state, prefix, after, revisions),
    });
  }

  async get(key: string, options: ReadOptions = {}): Promise<Entry | undefined> {
    this.#checkOpen(`get ${key}`);
    checkReadOptions(options);
    return entryAt(this.#state.heads.get(orderOf(key)), this.#revisionToRead(options));
  }

  async list(prefix: string, options: ListOptions = {}): Promise<ListResult> {
    this.#checkOpen(`list ${prefix}`);
    checkReadOptions(options);
    return listAt(this.#state.heads, prefix, this.#revisionToRead(options), options);
  }

  async currentRevision(): Promise<number> {
    this.#checkOpen("read the revision");
    return this.#state.revision;
  }

  async commit(operations: readonly Operation[], options: { readonly signal?: AbortSignal } = {}): Promise<CommitResult> {
    this.#checkWritable("commit");
    options.signal?.throwIfAborted();
    const prepared = prepareOperations(operations);
    const failed = prepared.flatMap((operation, index) => this.#failure(operation, index));
    if (failed.length > 0) return { committed: false, failed };

    const revision = this.#state.revision + 1;
    const records = prepared.map((operation) => this.#write(operation, revision));
    this.#state.log.set(revision, records);
    this.#state.revision = revision;
    this.#commits += 1;
    const watched = records.filter(({ key }) => this.#hub.isWatched(key));
    if (watched.length > 0) this.#hub.publish(watched.map(changeOf));
    else this.#hub.advanced();
    return { committed: true, revision };
  }

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
    if (revision > this.#state.revision) throw futureRevision(revision, this.#state.revision);
    if (revision <= this.#state.compactedRevision) return;
    this.#state.compactedRevision = revision;
    // In slices: the minute in which a large cluster was created has hundreds of thousands of revisions.
    while (!this.#closed && dropHistory(this.#state, revision, COMPACTED_PER_TICK)) {
      await new Promise<void>((resolve) => this.#clock.soon(resolve));
    }
  }

  async statistics(): Promise<StoreStatistics> {
    this.#checkOpen("read statistics");
    const { revision, compactedRevision, keys } = this.#state;
    const nothingOnDisk = { sizeBytes: 0, usedBytes: 0, syncs: 0 };
    return { driver: "memory", revision, compactedRevision, keys, watches: this.#hub.size, commits: this.#commits, ...nothingOnDisk };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#hub.endAll({ reason: "closed" });
  }

  fork({ clock, revision }: { readonly clock: Clock; readonly revision?: number } = { clock: this.#clock }): MemoryStore {
    this.#checkOpen("fork");
    const state = { ...this.#state, heads: this.#state.heads.clone(), log: this.#state.log.clone() };
    if (revision === undefined) return new Memory(clock, state);
    if (revision < state.revision)
      throw new RangeError(`Cannot fork at revision ${revision}: the store is at ${state.revision}; choose that or a later one`);
    dropHistory(state, state.revision, Infinity);
    return new Memory(clock, { ...state, revision, compactedRevision: revision });
  }

  async restore(entries: AsyncIterable<Entry>, revision: number): Promise<void> {
    this.#checkWritable("restore");
    if (this.#state.revision !== FIRST_REVISION) throw notEmptyError(this.#state.revision);
    this.#restoring = true;
    try {
      const heads = new SortedMap<string, Write>();
      for await (const entry of entries) {
        this.#checkOpen("restore");
        checkRestored(entry, revision);
        heads.set(orderOf(entry.key), { ...entry, previous: undefined });
      }
      this.#checkOpen("restore");
      this.#state = { heads, log: new SortedMap(), revision, compactedRevision: revision, keys: heads.size };
    } finally {
      this.#restoring = false;
    }
    this.#hub.endAll({ reason: "compacted", compactedRevision: revision });
  }

  #failure(operation: Operation, index: number): FailedPrecondition[] {
    const { key, precondition } = operation;
    if (precondition === undefined) return [];
    const found = entryAt(this.#state.heads.get(orderOf(key)), this.#state.revision);
    return holds(precondition, found) ? [] : [{ operation: index, key, found }];
  }

  #write(operation: Operation, revision: number): Write {
    const order = orderOf(operation.key);
    const previous = this.#state.heads.get(order);
    const value = operation.type === "put" ? operation.value : undefined;
    const record: Write = { key: operation.key, revision, value, previous };
    this.#state.heads.set(order, record);
    this.#state.keys += Number(value !== undefined) - Number(previous?.value !== undefined);
    return record;
  }

  #revisionToRead(options: ReadOptions): number {
    return revisionToRead(options, { newest: this.#state.revision, compacted: this.#state.compactedRevision });
  }

  #checkWritable(action: string): void {
    this.#checkOpen(action);
    if (this.#restoring) throw restoringError(action);
  }

  #checkOpen(action: string): void {
    if (this.#closed) throw closed(action);
  }
}

/** The key at `revision`, following its records backwards. */
function entryAt(head: Write | undefined, revision: number): Entry | undefined {
  let record = head;
  while (record !== undefined && record.revision > revision) record = record.previous;
  return record === undefined ? undefined : entryOf(record);
}

function entryOf({ key, revision, value }: Write): Entry | undefined {
  return value === undefined ? undefined : { key, revision, value };
}

function listAt(heads: SortedMap<string, Write>, prefix: string, revision: number, options: ListOptions): ListResult {
  const { limit = Infinity, startAfter, countRemaining = true } = options;
  const entries: Entry[] = [];
  let remaining = 0;
  const before = orderAfterPrefix(prefix);
  const first =
    startAfter !== undefined && orderOf(startAfter) >= orderOf(prefix) ? { after: orderOf(startAfter) } : { from: orderOf(prefix) };
  heads.forEach(
    (_, head) => {
      const entry = entryAt(head, revision);
      if (entry === undefined) return true;
      if (entries.length < limit) entries.push(entry);
      else remaining += 1;
      return remaining === 0 || countRemaining;
    },
    { ...first, ...(before === undefined ? {} : { before }) },
  );
  return { entries, revision, remaining };
}

function changeOf(record: Write): Change {
  const { key, revision, value } = record;
  const previous = record.previous === undefined ? undefined : entryOf(record.previous);
  if (value !== undefined) return { type: "put", key, revision, value, previous };
  return { type: "delete", key, revision, previous: previous as Entry };
}

function readHistory({ log, revision, compactedRevision }: State, prefix: string, after: number, revisions: number): HistoryPiece {
  if (after < compactedRevision) throw compacted(after, compactedRevision);
  const changes: Change[] = [];
  log.forEach(
    (_, records) => {
      for (const record of records) if (record.key.startsWith(prefix)) changes.push(changeOf(record));
    },
    { after, before: after + revisions + 1 },
  );
  return { changes, through: Math.min(after + revisions, revision) };
}

/**
 * Drops the oldest revisions of the log up to `revision`, at most `max`, and of every key written there what precedes its last record up to
 * `revision`. Returns whether more are left.
 */
function dropHistory(state: State, revision: number, max: number): boolean {
  const orders = new Set<string>();
  const dropped: number[] = [];
  state.log.forEach(
    (at, records) => {
      for (const { key } of records) orders.add(orderOf(key));
      dropped.push(at);
      return dropped.length < max;
    },
    { before: revision + 1 },
  );
  for (const at of dropped) state.log.delete(at);
  for (const order of orders) shortenHistory(state, order, revision);
  return dropped.length === max;
}

function shortenHistory(state: State, order: string, revision: number): void {
  const kept: Write[] = []; // Newer than `revision`, newest first.
  let record = state.heads.get(order);
  for (; record !== undefined && record.revision > revision; record = record.previous) kept.push(record);
  if (record === undefined || (record.previous === undefined && record.value !== undefined)) return; // Nothing precedes it.
  // The last record up to `revision` stays as the state at it; a deletion is the same as nothing.
  let shortened: Write | undefined = record.value === undefined ? undefined : { ...record, previous: undefined };
  for (const newer of kept.reverse()) {
    shortened = { ...newer, previous: shortened };
    const replacement: Write = shortened;
    const logged = state.log.get(newer.revision) ?? [];
    state.log.set(
      newer.revision,
      logged.map((each) => (each.key === newer.key ? replacement : each)),
    );
  }
  if (shortened === undefined) state.heads.delete(order);
  else state.heads.set(order, shortened);
}
