import { deepEqual, equal, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import {
  initialState,
  isAdmitted,
  isDesired,
  isDirty,
  isInApi,
  transition,
  type LifecycleEvent,
  type PodLifecycle,
  type PodSync,
  type SyncEvent,
} from "./pod-worker-state.ts";

const [STARTING, ADMITTED, ORPHANED, REMOVED] = [{ is: "starting" }, { is: "admitted" }, { is: "orphaned" }, { is: "removed" }] as const;
const TERMINATING = { is: "terminating", wasAdmitted: false } as const;
const TERMINATING_ADMITTED = { is: "terminating", wasAdmitted: true } as const;
const [IDLE, QUEUED, STOPPED] = [{ is: "idle" }, { is: "queued" }, { is: "stopped" }] as const;
const [OBSERVING, OBSERVING_DIRTY] = [{ is: "observing", isDirty: false } as const, { is: "observing", isDirty: true } as const];
const [ACTING, ACTING_DIRTY] = [{ is: "acting", isDirty: false } as const, { is: "acting", isDirty: true } as const];

/** "impossible": the transition asserts. */
const LIFECYCLES: readonly (readonly [from: PodLifecycle, event: LifecycleEvent, to: PodLifecycle | "impossible"])[] = [
  [STARTING, "admitted", ADMITTED],
  [STARTING, "deletion-requested", TERMINATING],
  [STARTING, "deleted", ORPHANED],
  [STARTING, "cleaned-up", "impossible"],
  [ADMITTED, "admitted", "impossible"],
  [ADMITTED, "deletion-requested", TERMINATING_ADMITTED],
  [ADMITTED, "deleted", ORPHANED],
  [ADMITTED, "cleaned-up", "impossible"],
  [TERMINATING, "admitted", "impossible"],
  [TERMINATING, "deletion-requested", TERMINATING],
  [TERMINATING_ADMITTED, "deletion-requested", TERMINATING_ADMITTED],
  [TERMINATING_ADMITTED, "deleted", ORPHANED],
  [TERMINATING, "cleaned-up", "impossible"],
  [ORPHANED, "admitted", "impossible"],
  [ORPHANED, "deletion-requested", ORPHANED],
  [ORPHANED, "deleted", ORPHANED],
  [ORPHANED, "cleaned-up", REMOVED],
  [REMOVED, "deletion-requested", REMOVED],
  [REMOVED, "deleted", REMOVED],
];

describe("lifecycle of a Pod on its node", () => {
  for (const [from, event, to] of LIFECYCLES) {
    test(`${JSON.stringify(from)} on ${event} becomes ${JSON.stringify(to)}`, () => {
      const state = { lifecycle: from, sync: QUEUED };
      if (to === "impossible") throws(() => transition(state, event));
      else deepEqual(transition(state, event), { lifecycle: to, sync: event === "cleaned-up" ? STOPPED : QUEUED });
    });
  }
});

const SYNCS: readonly (readonly [from: PodSync, event: SyncEvent, to: PodSync | "impossible"])[] = [
  [IDLE, "woken", QUEUED],
  [IDLE, "pass-started", "impossible"],
  [IDLE, "pass-finished", "impossible"],
  [IDLE, "stopped", STOPPED],
  [QUEUED, "woken", QUEUED],
  [QUEUED, "pass-started", OBSERVING],
  [QUEUED, "actions-started", "impossible"],
  [QUEUED, "stopped", STOPPED],
  [OBSERVING, "woken", OBSERVING_DIRTY],
  [OBSERVING, "pass-started", "impossible"],
  [OBSERVING, "actions-started", ACTING],
  [OBSERVING_DIRTY, "actions-started", ACTING_DIRTY],
  [OBSERVING, "actions-finished", "impossible"],
  [OBSERVING, "pass-finished", IDLE],
  [OBSERVING_DIRTY, "pass-finished", QUEUED],
  [OBSERVING, "stopped", STOPPED],
  [ACTING, "woken", ACTING_DIRTY],
  [ACTING_DIRTY, "woken", ACTING_DIRTY],
  [ACTING, "actions-started", "impossible"],
  [ACTING, "actions-finished", OBSERVING],
  [ACTING_DIRTY, "actions-finished", OBSERVING_DIRTY],
  [ACTING, "pass-finished", "impossible"],
  [ACTING, "stopped", STOPPED],
  [STOPPED, "woken", STOPPED],
  [STOPPED, "pass-started", STOPPED],
  [STOPPED, "actions-started", STOPPED],
  [STOPPED, "actions-finished", STOPPED],
  [STOPPED, "pass-finished", STOPPED],
  [STOPPED, "stopped", STOPPED],
];

describe("sync loop of a Pod worker", () => {
  for (const [from, event, to] of SYNCS) {
    test(`${JSON.stringify(from)} on ${event} becomes ${JSON.stringify(to)}`, () => {
      const state = { lifecycle: ADMITTED, sync: from };
      if (to === "impossible") throws(() => transition(state, event));
      else deepEqual(transition(state, event), { lifecycle: ADMITTED, sync: to });
    });
  }

  test("an event that changes nothing returns the same state", () => {
    const state = { lifecycle: TERMINATING, sync: QUEUED };
    equal(transition(state, "woken"), state);
    equal(transition(state, "deletion-requested"), state);
  });
});

for (const [lifecycle, expected] of [
  [STARTING, { isAdmitted: false, isDesired: true, isInApi: true }],
  [ADMITTED, { isAdmitted: true, isDesired: true, isInApi: true }],
  [TERMINATING, { isAdmitted: false, isDesired: false, isInApi: true }],
  [TERMINATING_ADMITTED, { isAdmitted: true, isDesired: false, isInApi: true }],
  [ORPHANED, { isAdmitted: false, isDesired: false, isInApi: false }],
  [REMOVED, { isAdmitted: false, isDesired: false, isInApi: false }],
] as const) {
  test(`${JSON.stringify(lifecycle)} is ${JSON.stringify(expected)}`, () => {
    const state = { lifecycle, sync: IDLE };
    deepEqual({ isAdmitted: isAdmitted(state), isDesired: isDesired(state), isInApi: isInApi(state) }, expected);
  });
}

test("a pass is dirty after an event that came since it began", () => {
  const dirty = [IDLE, QUEUED, OBSERVING, OBSERVING_DIRTY, ACTING, ACTING_DIRTY, STOPPED].map((sync) =>
    isDirty({ lifecycle: ADMITTED, sync }),
  );
  deepEqual(dirty, [false, false, false, true, false, true, false]);
});

test("a worker begins by what the API has of the Pod", () => {
  deepEqual(initialState({ isInApi: true, isDeleting: false }).lifecycle, STARTING);
  deepEqual(initialState({ isInApi: true, isDeleting: true }).lifecycle, TERMINATING);
  deepEqual(initialState({ isInApi: false, isDeleting: true }).lifecycle, ORPHANED);
});
