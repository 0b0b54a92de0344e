/**
 * A Pod that has no node yet, with what the queue remembers of it from one attempt to the next. Only the queue and its parts change it;
 * everybody else sees `TakenPod` or `PodInQueue`.
 */
import type { HeapEntry } from "../../base/heap.ts";
import type { ClusterEvent } from "../framework/cluster-event.ts";
import type { QueuedPod } from "../framework/plugin.ts";
import type { PodInfo } from "../framework/pod-info.ts";

/**
 * Where a Pod is. "gated": a preEnqueue refuses it. "backoff": worth another try, but not yet. "unschedulable": waits for something to
 * happen. "in-flight": taken out by `pop` and not yet put back or done.
 */
export type Place = "active" | "backoff" | "unschedulable" | "gated" | "in-flight";

/** A Pod in the hands of whoever popped it. */
export interface TakenPod extends QueuedPod {
  /** The newest version that the queue was told of, also while it is in flight. */
  readonly info: PodInfo;
  /** How often it was taken out, this time included. */
  readonly attempts: number;
  /** When it was first ready to be tried, in milliseconds of the monotonic clock. */
  readonly firstActiveAtMs: number;
}

/** How an attempt ended that did not bind the Pod. */
export type Failure =
  /**
   * Plugins said no: at a node, for all nodes, at reserve or at permit. It waits until one of them may think otherwise; those of
   * `pendingOn` wait for something that is under way already, so what they wait for ends the backoff too. No plugin at all: an error.
   */
  | { readonly is: "refused"; readonly by: ReadonlySet<string>; readonly pendingOn?: ReadonlySet<string> }
  /** Something went wrong that has nothing to do with the Pod, as a binding that could not be written. It is tried again after a while. */
  | { readonly is: "error" };

/** What can be told about a Pod in the queue. */
export interface PodInQueue {
  readonly place: Place;
  readonly info: PodInfo;
  readonly attempts: number;
  /** When it was added, or last put back, in milliseconds of the monotonic clock. */
  readonly queuedAtMs: number;
  /** The plugins that refused it at its last attempt; empty if it was not tried, or failed with an error. */
  readonly refusedBy: ReadonlySet<string>;
  readonly pendingOn: ReadonlySet<string>;
  /** The plugin whose preEnqueue keeps it out. */
  readonly gatedBy?: string;
  /** When it is tried again at the latest, in milliseconds of the monotonic clock; only in "backoff" and "unschedulable". */
  readonly retriedAtMs?: number;
}

const NO_PLUGINS: ReadonlySet<string> = new Set();

export class WaitingPod implements TakenPod {
  info: PodInfo;
  place: Place | "nowhere" = "nowhere";
  queuedAtMs: number;
  /** The order of adding and putting back: decides between Pods that compare as equal. */
  sequence: number;
  firstActiveAtMs = Number.POSITIVE_INFINITY;

  attempts = 0;
  /** Attempts that ended with a "no". Backoff grows with them: it is the price of a wasted cycle. */
  refusals = 0;
  /** Errors since the last "no". They have a backoff of their own, which protects the API server. */
  errorsInARow = 0;
  refusedBy: ReadonlySet<string> = NO_PLUGINS;
  pendingOn: ReadonlySet<string> = NO_PLUGINS;
  gatedBy: string | undefined = undefined;

  /** Its seat in the heap of its place, if that has one. */
  seat: HeapEntry<WaitingPod> | undefined = undefined;
  /** In backoff: the window of time in which its wait ends. */
  lastWindow = 0;
  /** In flight: where in the log of events the attempt began. */
  takenAt = 0;
  /** In flight: what changed of the Pod itself. */
  ownEvents: Extract<ClusterEvent, { readonly of: "waiting-pod" }>[] = [];
  /** In flight: somebody asked for it to be tried again, whatever comes out. */
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

  /** All plugins of whom one must change its mind. */
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

  /** How the attempt ended. */
  remember(failure: Failure): void {
    this.refusedBy = failure.is === "refused" ? failure.by : NO_PLUGINS;
    this.pendingOn = (failure.is === "refused" ? failure.pendingOn : undefined) ?? NO_PLUGINS;
    const isError = this.refusedBy.size === 0 && this.pendingOn.size === 0;
    if (!isError) this.refusals++;
    this.errorsInARow = isError ? this.errorsInARow + 1 : 0;
  }
}
