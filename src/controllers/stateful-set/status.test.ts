import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { StatefulSetStatus } from "../../api/generated/apps/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { isSameStatus, statefulSetStatus } from "./status.ts";
import { aMember, aSet, type SetFacts } from "./testing/sets.ts";

function statusOf(facts: SetFacts, pods: readonly Pod[], options: { readonly deletedForUpdate?: number } = {}): StatefulSetStatus {
  const set = aSet(facts);
  const availability = { minReadySeconds: set.spec?.minReadySeconds ?? 0, nowMs: Date.parse("2026-01-01T00:00:10Z") };
  return statefulSetStatus({ set, pods, current: "old", update: "new", collisionCount: 0, availability, deletedForUpdate: 0, ...options });
}

const REVISIONS = { observedGeneration: 1, collisionCount: 0, updateRevision: "new" };
const old = { revision: "old" };

const CASES: readonly (readonly [title: string, facts: SetFacts, pods: readonly Pod[], status: StatefulSetStatus])[] = [
  ["a set without Pods", {}, [], { ...REVISIONS, replicas: 0, availableReplicas: 0, currentRevision: "old" }],
  [
    "a set in the middle of an update",
    {},
    [aMember(0, old), aMember(1, { ...old, isReady: false }), aMember(2)],
    { ...REVISIONS, replicas: 3, readyReplicas: 2, availableReplicas: 2, currentReplicas: 2, updatedReplicas: 1, currentRevision: "old" },
  ],
  [
    "a terminating Pod is a replica, of no revision",
    { replicas: 1 },
    [aMember(0, { isTerminating: true })],
    { ...REVISIONS, replicas: 1, readyReplicas: 1, availableReplicas: 1, currentRevision: "old" },
  ],
  [
    "a Pod that is not ready for long enough is not available",
    { minReadySeconds: 60 },
    [aMember(0, old)],
    { ...REVISIONS, replicas: 1, readyReplicas: 1, availableReplicas: 0, currentReplicas: 1, currentRevision: "old" },
  ],
  [
    "the new revision is the current one when all Pods are updated and ready",
    {},
    [aMember(0), aMember(1), aMember(2)],
    { ...REVISIONS, replicas: 3, readyReplicas: 3, availableReplicas: 3, currentReplicas: 3, updatedReplicas: 3, currentRevision: "new" },
  ],
  [
    "with OnDelete the current revision stays",
    { replicas: 1, updateStrategy: { type: "OnDelete" } },
    [aMember(0)],
    { ...REVISIONS, replicas: 1, readyReplicas: 1, availableReplicas: 1, updatedReplicas: 1, currentRevision: "old" },
  ],
];

for (const [title, facts, pods, status] of CASES) test(`status: ${title}`, () => deepEqual(statusOf(facts, pods), status));

test("a Pod that was just deleted for the update no longer counts as current", () => {
  equal(statusOf({}, [aMember(0, old), aMember(1, old)], { deletedForUpdate: 1 }).currentReplicas, 1);
});

test("conditions of other clients stay", () => {
  const conditions = [{ type: "Checked", status: "True" }];

  deepEqual(statusOf({ status: { replicas: 0, conditions } }, []).conditions, conditions);
});

test("a status differs if a count or revision differs, or a newer generation was observed", () => {
  const status = statusOf({}, [aMember(0)]);
  const changes = [
    {},
    { replicas: 2 },
    { currentRevision: "x" },
    { observedGeneration: 2 },
    { observedGeneration: 0 },
    { collisionCount: 1 },
  ];

  const isSame = changes.map((change) => isSameStatus({ ...status, ...change }, status));

  deepEqual(isSame, [true, false, false, false, true, false]);
});
