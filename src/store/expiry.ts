/**
 * Deletes keys whose time has come, on every driver alike: by ordinary commits, one key each, so that a watch sees every
 * expiry as a change of its own. (etcd's leases would delete many keys at one revision; the etcd driver attaches
 * them for the case that no API server of ours is left, etcd/expiry-leases.ts.)
 *
 * What is due is found in the records that store/expiry-record.ts describes. Several API servers may do this at the same
 * time: the preconditions let one of them win. Being killed anywhere leaves a record, and the next pass finishes.
 */
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Entry, Operation, Store } from "./store.ts";
import { EXPIRY_PREFIX, parseExpiryRecord } from "./expiry-record.ts";
import { isStoreError } from "./store-error.ts";

/** Deletions under way at the same time: enough to share a sync, few enough to leave room for others. */
const EXPIRY_BATCH = 100;

/** Passes are at least this far apart, so that thousands of keys with times of their own are not a pass each. */
const EXPIRY_PAUSE_MS = 1_000;

/** How long to wait after a failure, e.g. a full disk or an etcd without a leader. */
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
  /** The earliest time of the records that were written since the last pass began to look. */
  #notedMs = Infinity;
  /** While sleeping: until when, and how to be woken by a record that is due before. */
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
        this.#log.warn("Cannot delete what has expired, will try again", { error, retryMs: EXPIRY_RETRY_MS });
        await this.#sleep(EXPIRY_RETRY_MS);
      }
    }
  }

  /** The watch comes before the first look, so that no record is overlooked between the two. */
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
        this.#notedMs = Infinity; // What was noted until now is in the store, so the pass finds it.
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
    await this.#store.commit([forget]); // The key was written again or is gone: only the record is left to forget.
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

/** Waits for all, so that one that fails does not keep the others from being tried; then fails with the first. */
async function allOrFirstError(attempts: readonly Promise<void>[]): Promise<void> {
  for (const attempt of await Promise.allSettled(attempts)) if (attempt.status === "rejected") throw attempt.reason;
}
