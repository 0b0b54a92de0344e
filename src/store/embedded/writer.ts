/**
 * Accepts commits, assigns revisions, and writes them in batches (group commit): all commits that arrive while the disk is busy share the
 * next sync. Preconditions are checked against the accepted state, which includes what is not on disk yet; that state is visible to no
 * other caller, not even by a rejection, before it is on disk.
 *
 * A batch that cannot be written takes along all commits accepted after it, since they were checked against it. Then the accepted state is
 * again what is on disk.
 */
import type { Clock } from "../../base/clock.ts";
import type { CommitResult, Entry, FailedPrecondition, Operation, Value } from "../store.ts";
import { holds } from "../operations.ts";
import { StoreError } from "../store-error.ts";
import type { Disk } from "./disk.ts";
import { NO_POSITION, positionOf, revisionOf, type Head } from "./records.ts";
import { spaceForValues } from "./disk-space.ts";

/** Maximum bytes per sync, approximately, so that the memory of a transaction and the delay of its first commit are bounded. */
const GROUP_BYTES_MAX = 16 * 1_048_576;

/** Maximum number of queued commits. More are rejected: they would only wait longer, and each holds memory. */
export const COMMITS_WAITING_MAX = 20_000;

const NO_BYTES = new Uint8Array(0);

/** One accepted write of one key. */
export interface PendingWrite {
  readonly key: string;
  readonly position: number;
  /** Undefined: a deletion. */
  readonly value: Value | undefined;
  readonly previous: Head | undefined;
  /**
   * The preceding write, if that was not on disk either when this one was accepted. Dropped when this one becomes visible, or a key under
   * constant writes would keep all its values.
   */
  previousWrite: PendingWrite | undefined;
  /** The preceding value, if the writer of this commit passed it: then it is not read from disk for watches. */
  readonly previousValue: Value | undefined;
  readonly commit: PendingCommit;
}

/** The last accepted write of a key. */
interface Place {
  readonly head: Head | undefined;
  /** The write itself, if it is in flight. */
  readonly pending: PendingWrite | undefined;
}

class PendingCommit {
  readonly revision: number;
  readonly writes: PendingWrite[] = [];
  /** Resolves when the commit is on disk, rejects if it never will be. */
  readonly done: Promise<CommitResult>;
  /** Number of keys after it. */
  keys: number;
  sizeBytes = 0;
  resolve: (result: CommitResult) => void = () => undefined;
  reject: (error: StoreError) => void = () => undefined;

  constructor(revision: number, keysBefore: number) {
    this.revision = revision;
    this.keys = keysBefore;
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  add(write: PendingWrite): void {
    this.writes.push(write);
    this.sizeBytes += write.value?.bytes().length ?? 0;
    this.keys += Number(write.value !== undefined) - Number(write.previous !== undefined && !write.previous.deleted);
  }
}

export interface WriterOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly revision: number;
  readonly keys: number;
  /** Called when a batch is on disk, before its commits are acknowledged. */
  readonly onWritten: (writes: readonly PendingWrite[], revision: number) => void;
  /** Meaning of a failed write: "WriteFailed" if the content of the disk is unknown, else it is unchanged. */
  readonly explainFailure: (error: unknown) => Promise<StoreError>;
}

export class Writer {
  readonly #options: WriterOptions;
  /** Accepted writes in flight: the last one of each key. */
  readonly #pending = new Map<string, PendingWrite>();
  #waiting: PendingCommit[] = [];
  #accepted: { readonly revision: number; readonly keys: number };
  #written: { readonly revision: number; readonly keys: number };
  #flushing: Promise<void> | undefined;
  #failure: StoreError | undefined;
  #commits = 0;
  #syncs = 0;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#accepted = this.#written = { revision: options.revision, keys: options.keys };
  }

  /** Number of keys on disk. */
  get keys(): number {
    return this.#written.keys;
  }

  get commits(): number {
    return this.#commits;
  }

  get syncs(): number {
    return this.#syncs;
  }

  /** Whether a write has failed so that the content of the disk is unknown. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Whether a write of `key` is in flight. */
  isPending(key: string): boolean {
    return this.#pending.has(key);
  }

  /** `operations` are prepared. `read` returns what is on disk at a position. Hot path: not async, as in embedded-store.ts. */
  commit(operations: readonly Operation[], read: (key: string, head: Head) => Entry): Promise<CommitResult> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#waiting.length >= COMMITS_WAITING_MAX) {
      const problem = `Cannot commit: ${COMMITS_WAITING_MAX} commits already wait for the disk; try again later`;
      return Promise.reject(new StoreError("Unavailable", problem));
    }
    const places = operations.map(({ key }) => this.#place(key));
    const failed: FailedPrecondition[] = [];
    const dependsOn: Promise<unknown>[] = [];
    for (const [index, { key, precondition }] of operations.entries()) {
      const { head, pending } = places[index] as Place;
      // A rejection reveals the state of all its keys: of those that failed, and that the others did not.
      if (pending !== undefined && precondition !== undefined) dependsOn.push(pending.commit.done);
      const there = head === undefined || head.deleted ? undefined : { revision: revisionOf(head.position) };
      if (holds(precondition, there)) continue;
      const found = pending !== undefined ? entryOf(pending) : head === undefined || head.deleted ? undefined : read(key, head);
      failed.push({ operation: index, key, found });
    }
    if (failed.length === 0) return this.#accept(operations, places);
    return Promise.all(dependsOn).then(() => ({ committed: false, failed }));
  }

  /** Resolves when nothing is queued or in flight. */
  async idle(): Promise<void> {
    while (this.#flushing !== undefined) await this.#flushing;
  }

  #place(key: string): Place {
    const pending = this.#pending.get(key);
    if (pending === undefined) return { head: this.#options.disk.head(key), pending };
    return { head: { position: pending.position, deleted: pending.value === undefined }, pending };
  }

  #accept(operations: readonly Operation[], places: readonly Place[]): Promise<CommitResult> {
    const commit = new PendingCommit(this.#accepted.revision + 1, this.#accepted.keys);
    for (const [index, operation] of operations.entries()) {
      const { head, pending } = places[index] as Place;
      const write: PendingWrite = {
        key: operation.key,
        position: positionOf(commit.revision, index),
        value: operation.type === "put" ? operation.value : undefined,
        previous: head,
        previousWrite: pending,
        previousValue: operation.precondition?.is === "at" ? operation.precondition.value : undefined,
        commit,
      };
      commit.add(write);
      this.#pending.set(write.key, write);
    }
    this.#accepted = { revision: commit.revision, keys: commit.keys };
    this.#waiting.push(commit);
    this.#flushing ??= this.#flushSoon();
    return commit.done;
  }

  /** Waits a tick, so that concurrent commits share a batch, then writes batches until none is left. */
  async #flushSoon(): Promise<void> {
    await new Promise<void>((resolve) => this.#options.clock.soon(resolve));
    while (this.#waiting.length > 0) await this.#flushGroup(this.#takeGroup());
    this.#flushing = undefined;
  }

  #takeGroup(): PendingCommit[] {
    let sizeBytes = 0;
    let count = 0;
    for (const commit of this.#waiting) {
      sizeBytes += commit.sizeBytes;
      if (count > 0 && sizeBytes > GROUP_BYTES_MAX) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  async #flushGroup(group: readonly PendingCommit[]): Promise<void> {
    const { disk, clock, onWritten } = this.#options;
    const last = group.at(-1) as PendingCommit;
    try {
      const written = disk.write(
        () => {
          for (const { writes } of group) for (const write of writes) putWrite(disk, write);
        },
        spaceForValues(valuesOf(group)),
      );
      await clock.external(written);
    } catch (error) {
      return this.#giveUp(group, error);
    }
    this.#syncs += 1;
    this.#commits += group.length;
    this.#written = { revision: last.revision, keys: last.keys };
    const writes = group.flatMap((commit) => commit.writes);
    for (const write of writes) if (this.#pending.get(write.key) === write) this.#pending.delete(write.key);
    onWritten(writes, last.revision);
    for (const write of writes) write.previousWrite = undefined;
    for (const commit of group) commit.resolve({ committed: true, revision: commit.revision });
  }

  async #giveUp(group: readonly PendingCommit[], error: unknown): Promise<void> {
    const failure = await this.#options.explainFailure(error);
    const alsoRejected = this.#waiting;
    this.#waiting = [];
    this.#pending.clear();
    this.#accepted = this.#written;
    if (failure.reason !== "Full") this.#failure = failure;
    const ofGroup =
      failure.reason !== "WriteFailed"
        ? failure
        : new StoreError("Uncertain", "Cannot say whether the commit is on disk: writing failed half way; start again and look", {
            cause: error,
          });
    for (const commit of group) commit.reject(ofGroup);
    for (const commit of alsoRejected) commit.reject(failure);
  }
}

function* valuesOf(group: readonly PendingCommit[]): Generator<Uint8Array | undefined> {
  for (const { writes } of group) for (const { value } of writes) yield value?.bytes();
}

export function entryOf({ key, position, value }: PendingWrite): Entry | undefined {
  return value === undefined ? undefined : { key, revision: revisionOf(position), value };
}

function putWrite(disk: Disk, { key, position, value, previous, commit }: PendingWrite): void {
  const record = { key, deleted: value === undefined, previous: previous?.position ?? NO_POSITION, keys: commit.keys };
  disk.putRecord(position, record, value?.bytes() ?? NO_BYTES);
}
