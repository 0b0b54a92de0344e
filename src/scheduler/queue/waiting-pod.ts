/**
 * An unassigned Pod, with the queue's state across attempts. Only the queue and its parts change it; others see `TakenPod` or `PodInQueue`.
 */
import type { HeapEntry } from "../../base/heap.ts";
import type { ClusterEvent } from "../framework/cluster-event.ts";
import type { QueuedPod } from "../framework/plugin.ts";
import type { PodInfo } from "../framework/pod-info.ts";

/**
 * Place of a Pod. "gated": rejected by a preEnqueue. "backoff": retried after a delay. "unschedulable": waits for an event. "in-flight":
 * popped and not yet requeued or done.
 */
export type Place = "active" | "backoff" | "unschedulable" | "gated" | "in-flight";

/** A popped Pod. */
export interface TakenPod extends QueuedPod {
  /** The newest version known to the queue, also while in flight. */
  readonly info: PodInfo;
  /** Number of attempts, this one included. */
  readonly attempts: number;
  /** When it first became ready, in milliseconds of the monotonic clock. */
  readonly firstActiveAtMs: number;
}

/** Outcome of an attempt that did not bind the Pod. */
export type Failure =
  /**
   * Rejected by plugins: at a node, for all nodes, at reserve or at permit. It waits until one of them may decide otherwise; those of
   * `pendingOn` wait for something already in progress, so that their event ends the backoff too. No plugin at all: an error.
   */
  | { readonly is: "refused"; readonly by: ReadonlySet<string>; readonly pendingOn?: ReadonlySet<string> }
  /** A failure unrelated to the Pod, such as a binding that could not be written. Retried after a backoff. */
  | { readonly is: "error" };

/** What is visible of a Pod in the queue. */
export interface PodInQueue {
  readonly place: Place;
  readonly info: PodInfo;
  readonly attempts: number;
  /** When it was added, or last requeued, in milliseconds of the monotonic clock. */
  readonly queuedAtMs: number;
  /** The plugins that rejected it at its last attempt; empty if there was none, or it failed with an error. */
  readonly refusedBy: ReadonlySet<string>;
  readonly pendingOn: ReadonlySet<string>;
  /** The gating plugin. */
  readonly gatedBy?: string;
  /** Deadline of its retry, in milliseconds of the monotonic clock; only in "backoff" and "unschedulable". */
  readonly retriedAtMs?: number;
}

const NO_PLUGINS: ReadonlySet<string> = new Set();

export class WaitingPod implements TakenPod {
  info: PodInfo;
  place: Place | "nowhere" = "nowhere";
  queuedAtMs: number;
  /** Sequence of adding and requeueing: breaks ties. */
  sequence: number;
  firstActiveAtMs = Number.POSITIVE_INFINITY;

  attempts = 0;
  /** Rejected attempts. Backoff grows with them: the price of a wasted cycle. */
  refusals = 0;
  /** Errors since the last rejection. They have their own backoff, which protects the API server. */
  errorsInARow = 0;
  refusedBy: ReadonlySet<string> = NO_PLUGINS;
  pendingOn: ReadonlySet<string> = NO_PLUGINS;
  gatedBy: string | undefined = undefined;

  /** Its entry in the heap of its place, if that has one. */
  seat: HeapEntry<WaitingPod> | undefined = undefined;
  /** In backoff: the window in which its delay ends. */
  lastWindow = 0;
  /** In flight: position in the event log at which the attempt began. */
  takenAt = 0;
  /** In flight: changes of the Pod itself. */
  ownEvents: Extract<ClusterEvent, { readonly of: "waiting-pod" }>[] = [];
  /** In flight: it was activated, so that it is retried whatever the outcome. */
  isWanted = false;

  constructor(info: PodInfo, queuedAtMs: number, sequence: number) {
    this.info = info;
    this.queuedAtMs = queuedAtMs;
    this.sequence = sequence;
  }

  get schedulerName(): string {
    return this.info.pod.spec?.schedulerName ?? "default-scheduler";
  }

  /** Whether the last attempt failed with an error. */
  get hasFailed(): boolean {
    return this.errorsInARow > 0;
  }

  /** All plugins of which one must change its answer. */
  refusers(): readonly string[] {
    return [...new Set([...this.refusedBy, ...this.pendingOn])];
  }

  /** An attempt begins, with nothing missed yet. */
  take(takenAt: number): void {
    this.place = "in-flight";
    this.attempts++;
    this.takenAt = takenAt;
    this.ownEvents = [];
    this.isWanted = false;
  }

  /** The outcome of the attempt. */
  recordFailure(failure: Failure): void {
    this.refusedBy = failure.is === "refused" ? failure.by : NO_PLUGINS;
    this.pendingOn = (failure.is === "refused" ? failure.pendingOn : undefined) ?? NO_PLUGINS;
    const isError = this.refusedBy.size === 0 && this.pendingOn.size === 0;
    if (!isError) this.refusals++;
    this.errorsInARow = isError ? this.errorsInARow + 1 : 0;
  }
}
