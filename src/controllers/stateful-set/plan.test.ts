import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { PersistentVolumeClaim, Pod } from "../../api/generated/core/v1.ts";
import { planPods, type Step } from "./plan.ts";
import { aClaim, aMember, aSet, aTemplate, BY_SET, byPod, type SetFacts } from "./testing/sets.ts";

const CURRENT = { name: "old", template: aTemplate("app:1") };
const UPDATE = { name: "new", template: aTemplate("app:2") };
const old = { revision: "old" };

/** "create web-0 at new", "delete web-2 (update)"; phases are separated by "then". */
function planned(facts: SetFacts, pods: readonly Pod[], claims: readonly PersistentVolumeClaim[] = []): readonly string[] {
  const set = aSet(facts);
  const claimOf = (name: string) => claims.find(({ metadata }) => metadata.name === name);
  const availability = { minReadySeconds: set.spec?.minReadySeconds ?? 0, nowMs: Date.parse("2026-01-01T00:00:10Z") };
  const plan = planPods({ set, current: CURRENT, update: UPDATE, pods, claimOf, availability });
  return plan.flatMap((phase, index) => [...(index === 0 ? [] : ["then"]), ...phase.map(textOf)]);
}

function textOf(step: Step): string {
  if (step.does === "create") return `create web-${step.ordinal} at ${step.revision.name}`;
  const because = step.does === "delete" ? ` (${step.because})` : "";
  return `${step.does} ${step.pod.metadata.name}${because}`;
}

const PARALLEL: SetFacts = { podManagementPolicy: "Parallel" };
const ON_DELETE: SetFacts = { updateStrategy: { type: "OnDelete" } };
const atATime = (maxUnavailable: number | string, partition = 0): SetFacts => ({
  replicas: 5,
  updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition, maxUnavailable } },
});
const allOld = [0, 1, 2, 3, 4].map((ordinal) => aMember(ordinal, old));
const ready = (...ordinals: readonly number[]) => ordinals.map((ordinal) => aMember(ordinal));

const CASES: readonly (readonly [title: string, facts: SetFacts, pods: readonly Pod[], plan: readonly string[]])[] = [
  ["an OrderedReady set creates its first Pod only", {}, [], ["create web-0 at new"]],
  ["an OrderedReady set creates the next Pod when the last one is ready", {}, ready(0), ["create web-1 at new"]],
  ["an OrderedReady set waits for a Pod that is not ready", {}, [aMember(0, { isReady: false })], []],
  ["an OrderedReady set waits for a Pod that is pending", {}, [aMember(0, { phase: "Pending" })], []],
  ["an OrderedReady set waits for a terminating Pod", {}, [aMember(0, { isTerminating: true }), ...ready(1, 2)], []],
  ["an OrderedReady set waits for a Pod that is not ready for long enough", { minReadySeconds: 11 }, ready(0), []],
  ["an OrderedReady set continues when a Pod is ready for long enough", { minReadySeconds: 10 }, ready(0), ["create web-1 at new"]],
  ["an OrderedReady set recreates a missing Pod before it creates others", {}, ready(0, 2), ["create web-1 at new"]],
  ["a complete set does nothing", {}, ready(0, 1, 2), []],
  ["ordinals begin with ordinals.start", { ordinals: { start: 5 }, replicas: 1 }, [], ["create web-5 at new"]],
  ["Pods below ordinals.start are deleted", { ordinals: { start: 1 }, replicas: 1 }, ready(0, 1), ["delete web-0 (scale-down)"]],

  ["a failed Pod is deleted, and nothing after it is created", {}, [aMember(0, { phase: "Failed" })], ["delete web-0 (it ended)"]],
  ["a succeeded Pod is deleted, too", {}, [aMember(0, { phase: "Succeeded" })], ["delete web-0 (it ended)"]],
  ["a failed Pod that is terminating is waited for", {}, [aMember(0, { phase: "Failed", isTerminating: true })], []],

  [
    "an OrderedReady set is scaled down from the highest ordinal, one by one",
    { replicas: 1 },
    ready(0, 1, 2),
    ["delete web-2 (scale-down)"],
  ],
  ["a scale-down waits for a terminating Pod", { replicas: 1 }, [...ready(0, 1), aMember(2, { isTerminating: true })], []],
  ["a scale-down waits while a remaining Pod is not ready", { replicas: 1 }, [aMember(0, { isReady: false }), ...ready(1)], []],
  [
    "a scale-down waits while a lower Pod than the one to delete is not ready, too",
    { replicas: 0 },
    [aMember(0, { isReady: false }), aMember(1, { isReady: false })],
    [],
  ],
  [
    "a scale-down deletes the only Pod that is not ready",
    { replicas: 1 },
    [...ready(0), aMember(1, { isReady: false })],
    ["delete web-1 (scale-down)"],
  ],

  ["an update deletes the highest old Pod", {}, [aMember(0, old), aMember(1, old), aMember(2, old)], ["delete web-2 (update)"]],
  [
    "an update continues with the next Pod when the last one is ready",
    {},
    [aMember(0, old), aMember(1, old), aMember(2)],
    ["delete web-1 (update)"],
  ],
  ["an update waits for the updated Pod", {}, [aMember(0, old), aMember(1, old), aMember(2, { isReady: false })], []],
  ["an update leaves Pods below the partition", { partition: 2 }, [aMember(0, old), aMember(1, old), aMember(2)], []],
  ["a partition above the replicas updates nothing", { partition: 4 }, [aMember(0, old), aMember(1, old), aMember(2, old)], []],
  [
    "a Pod below the partition is recreated at the current revision",
    { partition: 2 },
    [aMember(0, old), aMember(2)],
    ["create web-1 at old"],
  ],
  ["a Pod above the partition is recreated at the new revision", { partition: 1 }, [aMember(0, old), aMember(2)], ["create web-1 at new"]],
  ["a broken old Pod stops an ordered update, as upstream", {}, [aMember(0, old), aMember(1, { ...old, isReady: false }), aMember(2)], []],
  ["with OnDelete old Pods stay", ON_DELETE, [aMember(0, old), aMember(1, old), aMember(2)], []],
  ["with OnDelete a deleted Pod is recreated at the new revision", ON_DELETE, [aMember(0, old), aMember(2)], ["create web-1 at new"]],
  [
    "without a partition a Pod that the update has not reached is recreated at the current revision",
    { updateStrategy: { type: "RollingUpdate" }, status: { replicas: 3, currentReplicas: 2 } },
    [aMember(0, old), aMember(2)],
    ["create web-1 at old"],
  ],

  ["a Parallel set creates all Pods at once", PARALLEL, [], ["create web-0 at new", "create web-1 at new", "create web-2 at new"]],
  [
    "a Parallel set does not wait for readiness",
    PARALLEL,
    [aMember(1, { isReady: false })],
    ["create web-0 at new", "create web-2 at new"],
  ],
  [
    "a Parallel set is scaled down at once",
    { ...PARALLEL, replicas: 1 },
    ready(0, 1, 2),
    ["delete web-2 (scale-down)", "delete web-1 (scale-down)"],
  ],
  ["a Parallel set is updated one by one", PARALLEL, [aMember(0, old), aMember(1, old), aMember(2, old)], ["delete web-2 (update)"]],
  [
    "a Parallel set updates past a broken old Pod",
    PARALLEL,
    [aMember(0, old), aMember(1, { ...old, isReady: false }), aMember(2)],
    ["delete web-1 (update)"],
  ],
  ["an update of a Parallel set waits for the updated Pod", PARALLEL, [aMember(0, old), aMember(1, { isReady: false }), aMember(2)], []],
  [
    "a Parallel set replaces a failed Pod, and creates others meanwhile",
    PARALLEL,
    [aMember(0, { phase: "Failed" }), ...ready(1)],
    ["delete web-0 (it ended)", "create web-2 at new"],
  ],
  [
    "scaling of a Parallel set and its update are independent",
    { ...PARALLEL, replicas: 1 },
    [aMember(0, old), aMember(1, old)],
    ["delete web-1 (scale-down)", "then", "delete web-0 (update)"],
  ],

  ["maxUnavailable Pods are updated at a time", atATime(2), allOld, ["delete web-4 (update)", "delete web-3 (update)"]],
  ["a percentage of maxUnavailable is rounded down", atATime("59%"), allOld, ["delete web-4 (update)", "delete web-3 (update)"]],
  ["a percentage of less than one Pod is one Pod", atATime("1%"), allOld, ["delete web-4 (update)"]],
  ["maxUnavailable leaves Pods below the partition", atATime(3, 4), allOld, ["delete web-4 (update)"]],
  [
    "an OrderedReady set with maxUnavailable recreates Pods in order before it continues",
    atATime(2),
    [...allOld.slice(0, 3), aMember(4, { ...old, isTerminating: true })],
    ["create web-3 at new"],
  ],
  [
    "a Parallel set with maxUnavailable counts all unavailable Pods, also missing ones and those below the partition",
    { ...PARALLEL, ...atATime(3, 1) },
    [aMember(0, { ...old, isReady: false }), ...allOld.slice(1, 4)],
    ["create web-4 at new", "then", "delete web-3 (update)"],
  ],
  [
    "a Parallel set waits while maxUnavailable Pods are unavailable",
    { ...PARALLEL, ...atATime(1) },
    [aMember(0, { ...old, isReady: false }), ...allOld.slice(1)],
    [],
  ],

  [
    "an adopted Pod without the name label is corrected",
    { replicas: 1 },
    [aMember(0, { labels: { "statefulset.kubernetes.io/pod-name": "x" } })],
    ["correct web-0"],
  ],
];

for (const [title, facts, pods, plan] of CASES) test(title, () => deepEqual(planned(facts, pods), plan));

const DELETE_SCALED = { whenDeleted: "Retain", whenScaled: "Delete" };
const DELETE_BOTH = { whenDeleted: "Delete", whenScaled: "Delete" };

const CLAIM_CASES: readonly (readonly [
  title: string,
  facts: SetFacts,
  pods: readonly Pod[],
  claims: readonly PersistentVolumeClaim[],
  plan: readonly string[],
])[] = [
  ["a pending Pod gets a missing claim again", { replicas: 1 }, [aMember(0, { phase: "Pending" })], [], ["supply claims web-0"]],
  ["a pending Pod that has its claims is waited for", { replicas: 1 }, [aMember(0, { phase: "Pending" })], [aClaim(0)], []],
  ["a running Pod does not get a missing claim again", { replicas: 1 }, ready(0), [], []],
  ["a Pod whose claim has the wrong owner is corrected", { replicas: 1, retain: DELETE_BOTH }, ready(0), [aClaim(0)], ["correct web-0"]],
  ["a Pod whose claim has the right owner is left alone", { replicas: 1, retain: DELETE_BOTH }, ready(0), [aClaim(0, BY_SET)], []],
  [
    "claims are handed over to a Pod before it is scaled down",
    { replicas: 1, retain: DELETE_SCALED },
    ready(0, 1),
    [aClaim(0), aClaim(1)],
    ["hand over claims web-1", "delete web-1 (scale-down)"],
  ],
  [
    "a Pod is not created while a claim belongs to its predecessor",
    { replicas: 1, retain: DELETE_SCALED },
    [],
    [aClaim(0, byPod(0, "former"))],
    [],
  ],
  ["a Pod is created with a retained claim", { replicas: 1 }, [], [aClaim(0)], ["create web-0 at new"]],
];

for (const [title, facts, pods, claims, plan] of CLAIM_CASES) {
  test(title, () => deepEqual(planned({ claims: true, ...facts }, pods, claims), plan));
}
