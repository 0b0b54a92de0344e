/**
 * Deletes expired keys, on every driver alike: by ordinary commits, one key each, so that a watch delivers every expiry as its own change.
 * (etcd's leases would delete many keys at one revision; the etcd driver attaches them for the case that no k8ts API server is left,
 * etcd/expiry-leases.ts.)
 *
 * Due keys are found in the records of store/expiry-record.ts. Several API servers may do this concurrently: the preconditions let one of
 * them win. A crash at any point leaves a record, and the next pass finishes.
 */
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Entry, Operation, Store } from "./store.ts";
import { EXPIRY_PREFIX, parseExpiryRecord } from "./expiry-record.ts";
import { isStoreError } from "./store-error.ts";

/** Maximum concurrent deletions: enough to share a sync, few enough for other commits. */
const EXPIRY_BATCH = 100;

/** Minimum interval between passes, so that thousands of keys with different times are not a pass each. */
const EXPIRY_PAUSE_MS = 1_000;

/** Backoff after a failure, e.g. a full disk or an etcd without a leader. */
const EXPIRY_RETRY_MS = 10_000;

export interface Running {
  /** Resolves when nothing more will be written. */
  stop(): Promise<void>;
}

export function startExpiry(store: Store, context: { readonly clock: Clock; readonly log: Logger }): Running {
  const abort = new AbortController();
  const running = new Expiry(store, context, abort.signal).run();
  return {
    stop: async () => {
      abort.abort();
      await running;
    },
  };
}

class Expiry {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #signal: AbortSignal;
  /** The earliest time of the records written since the last pass began to read. */
  #notedMs = Infinity;
  /** While sleeping: until when, and how to be woken by an earlier record. */
  #sleeping: { readonly untilMs: number; readonly wake: AbortController } | undefined;

  constructor(store: Store, { clock, log }: { readonly clock: Clock; readonly log: Logger }, signal: AbortSignal) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log.with({ part: "expiry" });
    this.#signal = signal;
  }

  async run(): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        await this.#runUntilWatchEnds();
      } catch (error) {
        if (this.#signal.aborted || isStoreError(error, "Closed")) return;
        this.#log.warn("Cannot delete expired keys; retrying", { error, retryMs: EXPIRY_RETRY_MS });
        await this.#sleep(EXPIRY_RETRY_MS);
      }
    }
  }

  /** The watch starts before the first read, so that no record is missed between the two. */
  async #runUntilWatchEnds(): Promise<void> {
    let ended = false;
    const watch = this.#store.watch(
      EXPIRY_PREFIX,
      { after: await this.#store.currentRevision() },
      {
        changes: (changes) => changes.forEach(({ type, key }) => type === "put" && this.#noteRecord(key)),
        ended: () => {
          ended = true;
          this.#sleeping?.wake.abort();
        },
      },
    );
    try {
      while (!ended && !this.#signal.aborted) {
        this.#notedMs = Infinity; // What was noted until now is in the store, so that the pass finds it.
        const nextMs = await this.#deleteWhatIsDue();
        await this.#sleep(EXPIRY_PAUSE_MS);
        if (!ended) await this.#sleepUntil(Math.min(nextMs, this.#notedMs));
      }
    } finally {
      watch.close();
    }
  }

  /** Returns when the next record is due. */
  async #deleteWhatIsDue(): Promise<number> {
    for (;;) {
      const { entries } = await this.#store.list(EXPIRY_PREFIX, { limit: EXPIRY_BATCH, countRemaining: false });
      const nowMs = this.#clock.now();
      const due = entries.filter(({ key }) => (parseExpiryRecord(key)?.expiresAtMs ?? 0) <= nowMs);
      await allOrFirstError(due.map((record) => this.#expire(record)));
      const next = entries[due.length];
      if (next !== undefined) return parseExpiryRecord(next.key)?.expiresAtMs ?? nowMs;
      if (entries.length < EXPIRY_BATCH || this.#signal.aborted) return Infinity;
    }
  }

  async #expire(record: Entry): Promise<void> {
    const expired = parseExpiryRecord(record.key);
    const at = { is: "at", revision: record.revision } as const;
    const forget: Operation = { type: "delete", key: record.key, precondition: at };
    if (expired !== undefined) {
      const result = await this.#store.commit([{ type: "delete", key: expired.key, precondition: at }, forget]);
      if (result.committed) return;
    }
    await this.#store.commit([forget]); // The key was written again or deleted: only the record is left to remove.
  }

  #noteRecord(recordKey: string): void {
    const dueMs = parseExpiryRecord(recordKey)?.expiresAtMs ?? Infinity;
    this.#notedMs = Math.min(this.#notedMs, dueMs);
    if (this.#sleeping !== undefined && dueMs < this.#sleeping.untilMs) this.#sleeping.wake.abort();
  }

  async #sleepUntil(untilMs: number): Promise<void> {
    const wake = new AbortController();
    this.#sleeping = { untilMs, wake };
    await this.#sleep(Math.max(0, untilMs - this.#clock.now()), wake.signal);
    this.#sleeping = undefined;
  }

  /** Returns early, without an error, when woken or stopped. */
  async #sleep(durationMs: number, wake?: AbortSignal): Promise<void> {
    const signal = wake === undefined ? this.#signal : AbortSignal.any([this.#signal, wake]);
    await this.#clock.sleep(durationMs, signal).catch(() => undefined);
  }
}

/** Waits for all, so that one failure does not prevent the others; then throws the first. */
async function allOrFirstError(attempts: readonly Promise<void>[]): Promise<void> {
  for (const attempt of await Promise.allSettled(attempts)) if (attempt.status === "rejected") throw attempt.reason;
}
