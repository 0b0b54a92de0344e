/**
 * The state of a Pod worker and its transitions, as a pure function. Two parts change independently: how far the Pod is in its life on
 * this node (`lifecycle`), and what the worker's sync loop is doing (`sync`).
 *
 *     lifecycle   starting → admitted → terminating → orphaned → removed
 *     sync        idle → queued → observing ⇄ acting → idle, or back to queued if an event came in between; stopped from anywhere
 *
 * Not here: what a Pod needs next (plan/), and the phase that is reported (status/pod-phase.ts).
 */
import { assert, unreachable } from "../../base/assert.ts";

export type PodLifecycle =
  /** In the API and not yet accepted by the node; a rejected Pod stays here with a terminal phase. */
  | { readonly is: "starting" }
  /** Accepted: counts against the node's resources until its phase is terminal. */
  | { readonly is: "admitted" }
  /** Has a deletion timestamp. */
  | { readonly is: "terminating"; readonly wasAdmitted: boolean }
  /** No longer in the API, while the runtime or the machine may still hold something of it. */
  | { readonly is: "orphaned" }
  /** Nothing is left of it on this node. */
  | { readonly is: "removed" };

export type PodSync =
  | { readonly is: "idle" }
  /** A pass is due and has not begun. */
  | { readonly is: "queued" }
  /** Reads the runtime and plans, or waits for slow actions. `isDirty`: an event came since the pass began, so another pass follows. */
  | { readonly is: "observing"; readonly isDirty: boolean }
  /** Performs the actions of a plan. */
  | { readonly is: "acting"; readonly isDirty: boolean }
  /** The kubelet shuts down or the Pod is removed: nothing more is begun, and containers keep running. */
  | { readonly is: "stopped" };

export interface PodWorkerState {
  readonly lifecycle: PodLifecycle;
  readonly sync: PodSync;
}

export type LifecycleEvent = "admitted" | "deletion-requested" | "deleted" | "cleaned-up";
export type SyncEvent = "woken" | "pass-started" | "actions-started" | "actions-finished" | "pass-finished" | "stopped";
export type PodWorkerEvent = LifecycleEvent | SyncEvent;

/** `isInApi` is false for a Pod that the runtime holds and the API server does not have. */
export function initialState({ isInApi, isDeleting }: { readonly isInApi: boolean; readonly isDeleting: boolean }): PodWorkerState {
  const sync = { is: "idle" } as const;
  if (!isInApi) return { lifecycle: { is: "orphaned" }, sync };
  return { lifecycle: isDeleting ? { is: "terminating", wasAdmitted: false } : { is: "starting" }, sync };
}

/** Returns the same object if the event changes nothing. Asserts that the event is possible in this state. */
export function transition(state: PodWorkerState, event: PodWorkerEvent): PodWorkerState {
  switch (event) {
    case "admitted":
    case "deletion-requested":
    case "deleted":
      return withLifecycle(state, nextLifecycle(state.lifecycle, event));
    case "cleaned-up":
      return { lifecycle: nextLifecycle(state.lifecycle, event), sync: { is: "stopped" } };
    case "woken":
    case "pass-started":
    case "actions-started":
    case "actions-finished":
    case "pass-finished":
    case "stopped":
      return withSync(state, nextSync(state.sync, event));
    default:
      return unreachable(event);
  }
}

function withLifecycle(state: PodWorkerState, lifecycle: PodLifecycle): PodWorkerState {
  return lifecycle === state.lifecycle ? state : { ...state, lifecycle };
}

function withSync(state: PodWorkerState, sync: PodSync): PodWorkerState {
  return sync === state.sync ? state : { ...state, sync };
}

function nextLifecycle(lifecycle: PodLifecycle, event: LifecycleEvent): PodLifecycle {
  switch (event) {
    case "admitted":
      assert(lifecycle.is === "starting", "only a starting Pod is admitted");
      return { is: "admitted" };
    case "deletion-requested":
      if (lifecycle.is !== "starting" && lifecycle.is !== "admitted") return lifecycle;
      return { is: "terminating", wasAdmitted: lifecycle.is === "admitted" };
    case "deleted":
      return lifecycle.is === "orphaned" || lifecycle.is === "removed" ? lifecycle : { is: "orphaned" };
    case "cleaned-up":
      assert(lifecycle.is === "orphaned", "only a Pod that left the API is removed");
      return { is: "removed" };
    default:
      return unreachable(event);
  }
}

function nextSync(sync: PodSync, event: SyncEvent): PodSync {
  // Calls that were under way when the worker was stopped still report their end.
  if (sync.is === "stopped") return sync;
  switch (event) {
    case "woken":
      return wokenSync(sync);
    case "pass-started":
      assert(sync.is === "queued", "a pass starts only when it is queued");
      return { is: "observing", isDirty: false };
    case "actions-started":
      assert(sync.is === "observing", "actions follow an observation");
      return { is: "acting", isDirty: sync.isDirty };
    case "actions-finished":
      assert(sync.is === "acting", "only actions that were started finish");
      return { is: "observing", isDirty: sync.isDirty };
    case "pass-finished":
      assert(sync.is === "observing", "a pass finishes after its actions");
      return { is: sync.isDirty ? "queued" : "idle" };
    case "stopped":
      return { is: "stopped" };
    default:
      return unreachable(event);
  }
}

function wokenSync(sync: Exclude<PodSync, { readonly is: "stopped" }>): PodSync {
  switch (sync.is) {
    case "idle":
      return { is: "queued" };
    case "queued":
      return sync;
    case "observing":
    case "acting":
      return sync.isDirty ? sync : { ...sync, isDirty: true };
    default:
      return unreachable(sync);
  }
}

/** True while the Pod was accepted by the node and is in the API: it counts against the node's resources, unless its phase is terminal. */
export function isAdmitted({ lifecycle }: PodWorkerState): boolean {
  switch (lifecycle.is) {
    case "admitted":
      return true;
    case "terminating":
      return lifecycle.wasAdmitted;
    case "starting":
    case "orphaned":
    case "removed":
      return false;
    default:
      return unreachable(lifecycle);
  }
}

/** True if the Pod is to run: it is in the API and not being deleted. */
export function isDesired({ lifecycle }: PodWorkerState): boolean {
  return lifecycle.is === "starting" || lifecycle.is === "admitted";
}

export function isInApi({ lifecycle }: PodWorkerState): boolean {
  return lifecycle.is !== "orphaned" && lifecycle.is !== "removed";
}

/** True if an event came since the current pass began. */
export function isDirty({ sync }: PodWorkerState): boolean {
  return (sync.is === "observing" || sync.is === "acting") && sync.isDirty;
}
