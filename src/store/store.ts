/**
 * The contract of a store: values under keys, one sequence of revisions, history, watches. It has never heard of a Pod.
 *
 * What every driver keeps true (store/testing/store-suite.ts holds each to it):
 * - Every commit that changes something gets the next revision of one growing sequence; the sequence never goes back.
 * - A commit that was answered is as durable as the driver promises, and no reader or watcher sees one that is not.
 * - A watch shows every change after its start once, in order, never merged, or says why it ended.
 *
 * Not here: what keys mean (store/key.ts has their shape), expiry (store/expiry.ts), when to compact (store/compaction.ts),
 * snapshots and hashes (store/snapshot.ts), encryption (store/transform.ts): all of them written over this contract.
 */
import type { Clock } from "../base/clock.ts";

/** The revision of an empty store, as in etcd: 0 means "any" to Kubernetes clients. The first commit gets the next. */
export const FIRST_REVISION = 1;

/** A key's bytes in UTF-8 are at most this many: a Kubernetes group, plural, namespace and name need 640, lmdb holds 1,978. */
export const KEY_BYTES_MAX = 1_024;

/**
 * The object size limit, the same on all drivers: one value, and all values of one commit together, are at most this large.
 * etcd refuses requests over 1.5 MiB by default; the rest is left for keys and framing.
 */
export const OBJECT_BYTES_MAX = 1_500_000;

/** Operations in one commit; etcd's default is 128, of which an expiring put takes two. */
export const COMMIT_OPERATIONS_MAX = 64;

/** Changes that wait for one watch whose listener is still busy. At this many more the watch ends as "slow". */
export const WATCH_BACKLOG_MAX = 1_000;

/**
 * What is stored. Bytes are made on demand, at most once; the memo is whatever the writer would rather have back than
 * bytes (the frozen object). A driver never looks at the memo; it only hands it back, to this process, as long as it can.
 * Neither who reads nor who wrote may change the bytes. Made by the functions of store/value.ts.
 */
export interface Value {
  bytes(): Uint8Array;
  /** The length of `bytes()`, told without making them where the maker of the value can. */
  sizeBytes(): number;
  /** `undefined`: this process has no memo of the value. */
  readonly memo: unknown;
}

/** One key as it was after the commit at `revision`, the last one to change it. */
export interface Entry {
  readonly key: string;
  readonly value: Value;
  readonly revision: number;
}

/** What must be true of a key for a commit to happen. None: no matter what is there. */
export type Precondition = { readonly is: "absent" } | { readonly is: "exists" } | { readonly is: "at"; readonly revision: number };

export interface PutOperation {
  readonly type: "put";
  readonly key: string;
  readonly value: Value;
  readonly precondition?: Precondition;
  /** The key is deleted soon after this moment (milliseconds since the epoch) unless it is written again. See store/expiry.ts. */
  readonly expiresAtMs?: number;
}

/** Deleting needs something to delete, so that every commit has a revision of its own. */
export interface DeleteOperation {
  readonly type: "delete";
  readonly key: string;
  readonly precondition: Exclude<Precondition, { readonly is: "absent" }>;
}

export type Operation = PutOperation | DeleteOperation;

/** A precondition that did not hold: which operation (by its index), and what is there instead. */
export interface FailedPrecondition {
  readonly operation: number;
  readonly key: string;
  readonly found: Entry | undefined;
}

export type CommitResult =
  | { readonly committed: true; readonly revision: number }
  | { readonly committed: false; readonly failed: readonly FailedPrecondition[] };

export interface ReadOptions {
  /** Read what was true right after this revision. Default: the newest. Older than kept: "Compacted"; not reached yet: "FutureRevision". */
  readonly revision?: number;
}

export interface ListOptions extends ReadOptions {
  /** At most this many entries. Default: all. */
  readonly limit?: number;
  /** Only keys after this one, in the order of their UTF-8 bytes. */
  readonly startAfter?: string;
  /** False: the caller does not need to know how many more there are, which may cost as much as listing them. Default: true. */
  readonly countRemaining?: boolean;
}

export interface ListResult {
  /** In the order of the keys' UTF-8 bytes. */
  readonly entries: readonly Entry[];
  /** What the list shows was true right after this revision. Ask for the next page at it, and all pages show one moment. */
  readonly revision: number;
  /** Exactly how many more entries of the prefix come after the last one returned; without `countRemaining`, 0 if none and at least 1 otherwise. */
  readonly remaining: number;
}

/** One change of one key. A put without `previous` created the key. */
export type Change =
  | { readonly type: "put"; readonly key: string; readonly revision: number; readonly value: Value; readonly previous: Entry | undefined }
  | { readonly type: "delete"; readonly key: string; readonly revision: number; readonly previous: Entry };

export type WatchEnd =
  /** The watch or the store was closed by this process. */
  | { readonly reason: "closed" }
  /** Changes after the wanted revision are no longer kept: list again and watch from there. */
  | { readonly reason: "compacted"; readonly compactedRevision: number }
  /** The listener was busy while more than `WATCH_BACKLOG_MAX` changes came: list again and watch from there. */
  | { readonly reason: "slow" }
  /** The driver cannot go on, or the listener threw. */
  | { readonly reason: "failed"; readonly error: unknown };

export interface WatchListener {
  /**
   * Changes of the watched prefix, at least one, in order. On drivers that own their data (memory, embedded) a listener
   * that returns nothing has seen a commit of this process before the commit is answered. A listener that returns a
   * promise gets nothing more until it is fulfilled. Throwing (or rejecting) ends the watch as "failed".
   */
  changes(changes: readonly Change[]): void | Promise<void>;
  /**
   * All changes up to and including `revision` have been handed over. Comes after `requestProgress`, and whenever the driver
   * knows. Throwing ends the watch as "failed".
   */
  progress?(revision: number): void;
  /** Called exactly once, last. */
  ended(end: WatchEnd): void;
}

export interface Watch {
  /** Asks for a `progress` note. May be answered once for several requests. Does nothing where `capabilities.progress` is false. */
  requestProgress(): void;
  /** Ends the watch with "closed", at once. A second call does nothing. */
  close(): void;
}

export interface StoreCapabilities {
  /** Whether `requestProgress` is answered, and can be trusted. */
  readonly progress: boolean;
  /** Whether other processes write to the same data. */
  readonly shared: boolean;
  /** Whether what was acknowledged is there when the store is opened again. */
  readonly durable: boolean;
}

export interface StoreStatistics {
  readonly driver: string;
  /** The newest revision that readers see. */
  readonly revision: number;
  /** Reads and watches older than this get "Compacted". */
  readonly compactedRevision: number;
  /** Keys that exist at `revision`. */
  readonly keys: number;
  /** What the data takes on disk, free pages included; 0 where there is no disk. */
  readonly sizeBytes: number;
  /** The part of `sizeBytes` that holds data; the rest is reused by later writes. */
  readonly usedBytes: number;
  /** Open watches of this process. */
  readonly watches: number;
  /** Commits of this process that changed something. */
  readonly commits: number;
  /** How often this process waited for the disk (or quorum) to make commits durable; commits that share one count once. */
  readonly syncs: number;
}

export interface Store {
  readonly capabilities: StoreCapabilities;

  get(key: string, options?: ReadOptions): Promise<Entry | undefined>;

  /** All entries whose key begins with `prefix` (any string; "" is everything). */
  list(prefix: string, options?: ListOptions): Promise<ListResult>;

  /** The newest revision, no older than the newest acknowledged anywhere when this was called. Calls that overlap share one look. */
  currentRevision(): Promise<number>;

  /**
   * All operations or none. At most one operation per resource prefix (store/key.ts), so that no two changes of one watch
   * share a revision. The signal cancels only a commit that has not been accepted yet.
   * Rejects with "Uncertain" if nobody can say whether it happened.
   */
  commit(operations: readonly Operation[], options?: { readonly signal?: AbortSignal }): Promise<CommitResult>;

  /**
   * Every change after revision `after` of the keys that begin with `prefix`, which is a resource prefix or longer.
   * Never calls the listener before it returned. A revision not reached yet is waited for.
   */
  watch(prefix: string, options: { readonly after: number }, listener: WatchListener): Watch;

  /** Forgets what happened before `revision`; reads at it and watches after it still work. An older or equal revision than the last does nothing. */
  compact(revision: number): Promise<void>;

  statistics(): Promise<StoreStatistics>;

  /** Waits for accepted commits, ends the watches, lets go of everything. A second call does nothing. */
  close(): Promise<void>;
}

/** A store that can be copied in O(1); the two then go their own ways. The copy has the same history and no watches. */
export interface ForkableStore extends Store {
  /** The copy goes by `clock`; default: that of the original. */
  fork(context?: { readonly clock: Clock }): ForkableStore;
}

/** A store that can take over a snapshot with its revisions. */
export interface RestorableStore extends Store {
  /**
   * Fills a store that has never been written to. `entries` come in the order of their keys, each at most at `revision`,
   * which becomes the newest and the compacted revision. All or nothing, also if the process dies on the way. Commits and
   * compactions are refused meanwhile; open watches end as "compacted", since what was restored is no change.
   */
  restore(entries: AsyncIterable<Entry>, revision: number): Promise<void>;
}
