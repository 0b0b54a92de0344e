/**
 * The contract of a store: values under keys, one sequence of revisions, history, watches. It knows no API kinds.
 *
 * Every driver guarantees (store/testing/store-suite.ts verifies it):
 * - Every commit with an effect gets the next revision of one increasing sequence.
 * - An acknowledged commit is as durable as the driver promises, and no reader or watcher sees one that is not.
 * - A watch delivers every change after its start once, in order, never merged, or reports why it ended.
 *
 * Not here: the meaning of keys (store/key.ts has their shape), expiry (store/expiry.ts), when to compact (store/compaction.ts), snapshots
 * and hashes (store/snapshot.ts), encryption (store/transform.ts): all of them are written over this contract.
 */
import type { CancelSignal } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";

/** The revision of an empty store, as in etcd: 0 means "any" to Kubernetes clients. The first commit gets the next. */
export const FIRST_REVISION = 1;

/** Maximum length of a key in UTF-8 bytes: a Kubernetes group, plural, namespace and name need 640, lmdb holds 1,978. */
export const KEY_BYTES_MAX = 1_024;

/**
 * Object size limit, the same on all drivers: maximum of one value, and of all values of one commit together. etcd rejects requests over
 * 1.5 MiB by default; the rest is left for keys and framing.
 */
export const OBJECT_BYTES_MAX = 1_500_000;

/** Maximum operations in one commit; etcd's default is 128, of which an expiring put takes two. */
export const COMMIT_OPERATIONS_MAX = 64;

/** Maximum changes queued for one watch whose listener is busy. One more ends the watch as "slow". */
export const WATCH_BACKLOG_MAX = 1_000;

/**
 * A stored value. Bytes are encoded on demand, at most once; the memo is whatever the writer prefers to get back instead of bytes (the
 * frozen object). A driver never inspects the memo; it only returns it, to this process, as long as it can. The bytes must not be modified
 * by readers or the writer. Created by the functions of store/value.ts.
 */
export interface Value {
  bytes(): Uint8Array;
  /** The length of `bytes()`, without encoding them where possible. */
  sizeBytes(): number;
  /** `undefined`: this process has no memo of the value. */
  readonly memo: unknown;
}

/** One key as of the commit at `revision`, the last one to change it. */
export interface Entry {
  readonly key: string;
  readonly value: Value;
  readonly revision: number;
}

/** Condition on a key for a commit to happen. Absent: unconditional. */
export type Precondition =
  | { readonly is: "absent" }
  | { readonly is: "exists" }
  /** `value`: that of the key at this revision, if the writer has it. A driver may deliver it to watches instead of reading it again. */
  | { readonly is: "at"; readonly revision: number; readonly value?: Value };

export interface PutOperation {
  readonly type: "put";
  readonly key: string;
  readonly value: Value;
  readonly precondition?: Precondition;
  /** The key is deleted soon after this timestamp (milliseconds since the epoch) unless it is written again. See store/expiry.ts. */
  readonly expiresAtMs?: number;
}

/** Deleting requires an existing key, so that every commit has its own revision. */
export interface DeleteOperation {
  readonly type: "delete";
  readonly key: string;
  readonly precondition: Exclude<Precondition, { readonly is: "absent" }>;
}

export type Operation = PutOperation | DeleteOperation;

/** A failed precondition: the operation (by index), and the current entry. */
export interface FailedPrecondition {
  readonly operation: number;
  readonly key: string;
  readonly found: Entry | undefined;
}

export type CommitResult =
  | { readonly committed: true; readonly revision: number }
  | { readonly committed: false; readonly failed: readonly FailedPrecondition[] };

export interface ReadOptions {
  /** Reads the state right after this revision. Default: the newest. Older than kept: "Compacted"; not reached yet: "FutureRevision". */
  readonly revision?: number;
}

export interface ListOptions extends ReadOptions {
  /** Maximum number of entries. Default: all. */
  readonly limit?: number;
  /** Only keys after this one, in the order of their UTF-8 bytes. */
  readonly startAfter?: string;
  /** False: the number of remaining entries is not needed, which may cost as much as listing them. Default: true. */
  readonly countRemaining?: boolean;
}

export interface ListResult {
  /** Ordered by the keys' UTF-8 bytes. */
  readonly entries: readonly Entry[];
  /** The list is the state right after this revision. Request the next pages at it for a consistent list. */
  readonly revision: number;
  /** Exact number of entries of the prefix after the last one returned; without `countRemaining`, 0 if none and at least 1 otherwise. */
  readonly remaining: number;
}

/** One change of one key. A put without `previous` created the key. */
export type Change =
  | { readonly type: "put"; readonly key: string; readonly revision: number; readonly value: Value; readonly previous: Entry | undefined }
  | { readonly type: "delete"; readonly key: string; readonly revision: number; readonly previous: Entry };

export type WatchEnd =
  /** The watch or the store was closed by this process. */
  | { readonly reason: "closed" }
  /** Changes after the requested revision are no longer kept: list again and watch from there. */
  | { readonly reason: "compacted"; readonly compactedRevision: number }
  /** The listener was busy while more than `WATCH_BACKLOG_MAX` changes came: list again and watch from there. */
  | { readonly reason: "slow" }
  /** The driver cannot continue, or the listener threw. */
  | { readonly reason: "failed"; readonly error: unknown };

export interface WatchListener {
  /**
   * Changes of the watched prefix, at least one, in order. On drivers that own their data (memory, embedded) a listener that returns
   * nothing has received a commit of this process before the commit is acknowledged. A listener that returns a promise receives nothing
   * more until it resolves. Throwing (or rejecting) ends the watch as "failed".
   */
  changes(changes: readonly Change[]): void | Promise<void>;
  /**
   * All changes up to and including `revision` have been delivered. Comes after `requestProgress`, and whenever the driver knows. Throwing
   * ends the watch as "failed".
   */
  progress?(revision: number): void;
  /** Called exactly once, last. */
  ended(end: WatchEnd): void;
}

export interface Watch {
  /** Requests a `progress` notification. Several requests may be answered once. Does nothing where `capabilities.progress` is false. */
  requestProgress(): void;
  /** Ends the watch with "closed", at once. Idempotent. */
  close(): void;
}

export interface StoreCapabilities {
  /** Whether `requestProgress` is answered, and reliable. */
  readonly progress: boolean;
  /** Whether `currentRevision` reports progress to the watches that are up to date before it resolves. Default: false. */
  readonly revisionReportsProgress?: boolean;
  /** Whether other processes write to the same data. */
  readonly shared: boolean;
  /** Whether acknowledged commits survive reopening. */
  readonly durable: boolean;
}

export interface StoreStatistics {
  readonly driver: string;
  /** The newest visible revision. */
  readonly revision: number;
  /** Reads and watches older than this fail with "Compacted". */
  readonly compactedRevision: number;
  /** Number of keys at `revision`. */
  readonly keys: number;
  /** Size on disk, free pages included; 0 without a disk. */
  readonly sizeBytes: number;
  /** The part of `sizeBytes` that holds data; the rest is reused by later writes. */
  readonly usedBytes: number;
  /** Open watches of this process. */
  readonly watches: number;
  /** Commits of this process with an effect. */
  readonly commits: number;
  /** How often this process waited for the disk (or quorum) to make commits durable; commits that share one count once. */
  readonly syncs: number;
}

export interface Store {
  readonly capabilities: StoreCapabilities;

  get(key: string, options?: ReadOptions): Promise<Entry | undefined>;

  /** All entries whose key begins with `prefix` (any string; "" is everything). */
  list(prefix: string, options?: ListOptions): Promise<ListResult>;

  /** The newest revision, no older than the newest acknowledged anywhere when this was called. Concurrent calls share one read. */
  currentRevision(): Promise<number>;

  /**
   * All operations or none. At most one operation per resource prefix (store/key.ts), so that no two changes of one watch share a revision.
   * The signal cancels only a commit that has not been accepted yet. Rejects with "Uncertain" if its outcome is unknown.
   */
  commit(operations: readonly Operation[], options?: { readonly signal?: CancelSignal }): Promise<CommitResult>;

  /**
   * Every change after revision `after` of the keys with `prefix`, which is a resource prefix or longer. Never calls the listener before it
   * returned. A revision not reached yet is waited for.
   */
  watch(prefix: string, options: { readonly after: number }, listener: WatchListener): Watch;

  /**
   * Calls the listener whenever a newer revision has become visible, in the same event-loop tick, after its changes were delivered to the
   * watches. Only of drivers that own their data. Returns a function that ends it.
   */
  onVisible?(listener: (revision: number) => void): () => void;

  /**
   * Drops history before `revision`; reads at it and watches after it still work. Does nothing if `revision` is not newer than the last.
   */
  compact(revision: number): Promise<void>;

  statistics(): Promise<StoreStatistics>;

  /** Waits for accepted commits, ends the watches, releases all resources. Idempotent. */
  close(): Promise<void>;
}

/** A store that can be copied in O(1); the two are then independent. The copy has the same history and no watches. */
export interface ForkableStore extends Store {
  /** The copy uses `clock`; default: that of the original. */
  fork(context?: { readonly clock: Clock }): ForkableStore;
}

/** A store that can be restored from a snapshot with its revisions. */
export interface RestorableStore extends Store {
  /**
   * Fills a store that has never been written to. `entries` are ordered by key, each at most at `revision`, which becomes the newest and
   * the compacted revision. Atomic, also if the process dies on the way. Commits and compactions are rejected meanwhile; open watches end
   * as "compacted", since restored entries are not changes.
   */
  restore(entries: AsyncIterable<Entry>, revision: number): Promise<void>;
}
