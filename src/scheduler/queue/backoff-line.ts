/**
 * Pods in backoff: each failure doubles the delay. As upstream, delays end at whole seconds, so that within the same second the more
 * important Pod comes first. If the active queue is empty, a rejected Pod is popped early; one that failed with an error is not, since its
 * delay protects the API server.
 */
import { exponentialDelayMs } from "../../base/backoff.ts";
import { Heap } from "../../base/heap.ts";
import type { WaitingPod } from "./waiting-pod.ts";

/** Upstream's podInitialBackoffSeconds and podMaxBackoffSeconds. */
export const INITIAL_BACKOFF_MS_DEFAULT = 1_000;
export const MAX_BACKOFF_MS_DEFAULT = 10_000;

/** Within one window Pods are ordered by importance. Upstream's backoffQOrderingWindowDuration. */
const WINDOW_MS = 1_000;

/** Window 0 begins when the clock does, so this is before any. */
const NO_WINDOW = -1;

export interface BackoffOptions {
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
  /** The order of ready Pods. */
  readonly compare: (a: WaitingPod, b: WaitingPod) => number;
}

export class BackoffLine {
  readonly #growth: { readonly minMs: number; readonly maxMs: number };
  readonly #refused: Heap<WaitingPod>;
  readonly #failed: Heap<WaitingPod>;

  constructor({ initialBackoffMs, maxBackoffMs, compare }: BackoffOptions) {
    this.#growth = { minMs: initialBackoffMs, maxMs: maxBackoffMs };
    const byWindow = (a: WaitingPod, b: WaitingPod) => a.lastWindow - b.lastWindow || compare(a, b);
    this.#refused = new Heap(byWindow);
    this.#failed = new Heap(byWindow);
  }

  get size(): number {
    return this.#refused.size + this.#failed.size;
  }

  /** Whether `popEarly` would return one. */
  get hasEarly(): boolean {
    return this.#refused.size > 0;
  }

  /** Whether the Pod's backoff, counted from its last requeue, has not expired. */
  isWaiting(pod: WaitingPod, nowMs: number): boolean {
    return nowMs < this.endsAtMs(pod);
  }

  /** When its backoff expires; in the past if it has none. */
  endsAtMs(pod: WaitingPod): number {
    return (this.#lastWindow(pod) + 1) * WINDOW_MS;
  }

  push(pod: WaitingPod): void {
    pod.lastWindow = this.#lastWindow(pod);
    pod.seat = this.#heapOf(pod).push(pod);
  }

  remove(pod: WaitingPod): void {
    if (pod.seat !== undefined) this.#heapOf(pod).remove(pod.seat);
  }

  /** The first of the rejected ones, before its time. */
  popEarly(): WaitingPod | undefined {
    return this.#refused.pop();
  }

  /** Removes one whose backoff has expired. */
  popDue(nowMs: number): WaitingPod | undefined {
    return this.#popDue(this.#refused, nowMs) ?? this.#popDue(this.#failed, nowMs);
  }

  /** When the next backoff expires; Infinity if none exists. */
  nextEndMs(): number {
    return Math.min(this.#firstEndMs(this.#refused), this.#firstEndMs(this.#failed));
  }

  #popDue(heap: Heap<WaitingPod>, nowMs: number): WaitingPod | undefined {
    return this.#firstEndMs(heap) <= nowMs ? heap.pop() : undefined;
  }

  #firstEndMs(heap: Heap<WaitingPod>): number {
    const first = heap.peek();
    return first === undefined ? Number.POSITIVE_INFINITY : (first.lastWindow + 1) * WINDOW_MS;
  }

  #heapOf(pod: WaitingPod): Heap<WaitingPod> {
    return pod.hasFailed ? this.#failed : this.#refused;
  }

  /** The window in which the backoff ends. All of it counts as backoff. */
  #lastWindow({ errorsInARow, refusals, queuedAtMs }: WaitingPod): number {
    const failures = errorsInARow > 0 ? errorsInARow : refusals;
    if (failures === 0) return NO_WINDOW;
    return Math.floor((queuedAtMs + exponentialDelayMs(this.#growth, failures - 1)) / WINDOW_MS);
  }
}
