/**
 * Back-off for the replacement of failed Pods, per node: a Pod that the kubelet rejects at once would otherwise be deleted and created
 * without a pause. In memory only: after a restart the delays start over.
 */
import type { DaemonSet } from "../../api/generated/apps/v1.ts";
import { exponentialDelayMs } from "../../base/backoff.ts";

/** Upstream's. */
const GROWTH = { minMs: 1_000, maxMs: 15 * 60_000 };
/** A node without failures during this time starts over, as upstream. */
const FORGET_MS = 2 * GROWTH.maxMs;
/** Entries are dropped from this size on, the oldest first: enough for a DaemonSet that fails on every one of 5,000 nodes, and some more. */
const ENTRIES_MAX = 20_000;

interface Entry {
  readonly failures: number;
  readonly atMs: number;
}

export class FailedPods {
  /** Ordered by the time of the last failure. */
  readonly #entries = new Map<string, Entry>();

  get size(): number {
    return this.#entries.size;
  }

  /** Time until a failed Pod on this node may be deleted; 0 if it may be now. */
  delayMs(daemonSet: DaemonSet, node: string, nowMs: number): number {
    const entry = this.#entries.get(keyOf(daemonSet, node));
    if (entry === undefined || nowMs - entry.atMs > FORGET_MS) return 0;
    return Math.max(0, entry.atMs + exponentialDelayMs(GROWTH, entry.failures - 1) - nowMs);
  }

  /** Called when one is deleted: the next one on this node waits longer. */
  replaced(daemonSet: DaemonSet, node: string, nowMs: number): void {
    this.#forget(nowMs);
    const key = keyOf(daemonSet, node);
    const { failures } = this.#entries.get(key) ?? { failures: 0 };
    this.#entries.delete(key);
    this.#entries.set(key, { failures: failures + 1, atMs: nowMs });
  }

  #forget(nowMs: number): void {
    for (const [key, { atMs }] of this.#entries) {
      if (nowMs - atMs <= FORGET_MS && this.#entries.size < ENTRIES_MAX) return;
      this.#entries.delete(key);
    }
  }
}

/** A changed DaemonSet starts over: the change may be the repair. */
function keyOf({ metadata, status }: DaemonSet, node: string): string {
  return `${metadata.uid}/${status?.observedGeneration ?? 0}/${node}`;
}
