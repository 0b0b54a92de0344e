/**
 * Takes commits in, gives each its revision, and writes them down in groups: all commits that arrive while the disk is busy
 * share the next sync. Preconditions are judged against the accepted state, which includes what is not on disk yet;
 * nobody else is told of that, not even by a refusal, before it is on disk.
 *
 * A group that cannot be written takes all that were accepted after it along, since they were judged by it. Then the
 * accepted state is again what is on disk.
 */
import type { Clock } from "../../base/clock.ts";
import type { CommitResult, Entry, FailedPrecondition, Operation, Value } from "../store.ts";
import { holds } from "../operations.ts";
import { StoreError } from "../store-error.ts";
import type { Disk } from "./disk.ts";
import { NO_POSITION, positionOf, revisionOf, type Head } from "./records.ts";
import { roomForValues } from "./room.ts";

/** One sync writes at most about this much, so that the memory of a transaction and the wait of its first commit are bounded. */
const GROUP_BYTES_MAX = 16 * 1_048_576;

/** Commits that wait for the disk. More are refused: they would only wait longer, and each holds memory. */
export const COMMITS_WAITING_MAX = 20_000;

const NO_BYTES = new Uint8Array(0);

/** One accepted write of one key. */
export interface PendingWrite {
  readonly key: string;
  readonly position: number;
  /** Undefined: a deletion. */
  readonly value: Value | undefined;
  readonly previous: Head | undefined;
  /** The write before, if that was not on disk either when this one was accepted. Forgotten when this one is shown, or a key that is written all the time would keep all its values. */
  previousWrite: PendingWrite | undefined;
  readonly commit: PendingCommit;
}

/** Where a key was last written, as far as was accepted. */
interface Place {
  readonly head: Head | undefined;
  /** The write itself, if it is not on disk yet. */
  readonly pending: PendingWrite | undefined;
}

class PendingCommit {
  readonly revision: number;
  readonly writes: PendingWrite[] = [];
  /** Resolves when the commit is on disk, rejects if it never will be. */
  readonly done: Promise<CommitResult>;
  /** Keys that exist after it. */
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
  /** Called when a group is on disk, before its commits are answered. */
  readonly onWritten: (writes: readonly PendingWrite[], revision: number) => void;
  /** What a failed write means: "WriteFailed" if nobody can say what is on disk, else it is as it was before. */
  readonly explainFailure: (error: unknown) => Promise<StoreError>;
}

export class Writer {
  readonly #options: WriterOptions;
  /** Accepted writes that are not on disk yet: the last one of each key. */
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

  /** Keys that exist on disk. */
  get keys(): number {
    return this.#written.keys;
  }

  get commits(): number {
    return this.#commits;
  }

  get syncs(): number {
    return this.#syncs;
  }

  /** Whether a write has failed in a way after which nobody can say what is on disk. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Whether a write of `key` is on its way to the disk. */
  isPending(key: string): boolean {
    return this.#pending.has(key);
  }

  /** `operations` are prepared. `read` gives what is on disk at a position. */
  async commit(operations: readonly Operation[], read: (key: string, head: Head) => Entry): Promise<CommitResult> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#waiting.length >= COMMITS_WAITING_MAX) {
      throw new StoreError("Unavailable", `Cannot commit: ${COMMITS_WAITING_MAX} commits already wait for the disk; try again later`);
    }
    const places = operations.map(({ key }) => this.#place(key));
    const failed: FailedPrecondition[] = [];
    const dependsOn: Promise<unknown>[] = [];
    for (const [index, { key, precondition }] of operations.entries()) {
      const { head, pending } = places[index] as Place;
      // A refusal tells of all keys that were asked about: of those that failed, and that the others did not.
      if (pending !== undefined && precondition !== undefined) dependsOn.push(pending.commit.done);
      const there = head === undefined || head.deleted ? undefined : { revision: revisionOf(head.position) };
      if (holds(precondition, there)) continue;
      const found = pending !== undefined ? entryOf(pending) : head === undefined || head.deleted ? undefined : read(key, head);
      failed.push({ operation: index, key, found });
    }
    if (failed.length === 0) return this.#accept(operations, places);
    await Promise.all(dependsOn);
    return { committed: false, failed };
  }

  /** Resolves when nothing waits for the disk any more. */
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

  /** Waits a turn, so that commits which arrive together go together, then writes groups until none is left. */
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
        roomForValues(valuesOf(group)),
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
