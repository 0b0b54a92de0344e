import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimStatus } from "../../../api/generated/core/v1.ts";
import { expandedStatus, expansionDue, failedStatus, mayHaveGrown, wantsAnotherSize } from "./claim-expansion.ts";

function aClaim(status: PersistentVolumeClaimStatus, requested = "2Gi"): PersistentVolumeClaim {
  const spec = { resources: { requests: { storage: requested } } };
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "c" }, spec, status };
}

function aVolume(size: string): PersistentVolume {
  return { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "pv" }, spec: { capacity: { storage: size } } };
}

const SMALL = { capacity: { storage: "1Gi" } };

for (const [title, status, size, due] of [
  ["the volume is larger than the claim's capacity", SMALL, "2Gi", "2Gi"],
  ["both are equal", SMALL, "1024Mi", undefined],
  ["the claim has no capacity yet", {}, "2Gi", undefined],
  [
    "the controller says that it is the node's turn, and how much was allocated",
    { ...SMALL, allocatedResources: { storage: "3Gi" }, allocatedResourceStatuses: { storage: "NodeResizePending" } },
    "2Gi",
    "3Gi",
  ],
  ["it was begun before", { ...SMALL, allocatedResourceStatuses: { storage: "NodeResizeInProgress" } }, "2Gi", "2Gi"],
  ["the controller is still working", { ...SMALL, allocatedResourceStatuses: { storage: "ControllerResizeInProgress" } }, "2Gi", undefined],
  ["it is not possible on the node", { ...SMALL, allocatedResourceStatuses: { storage: "NodeResizeInfeasible" } }, "2Gi", undefined],
] as const) {
  test(`growing on the node is ${due === undefined ? "not " : ""}due if ${title}`, () => {
    equal(expansionDue({ claim: aClaim(status), volume: aVolume(size) }), due);
  });
}

test("only a claim that requests more than it has may have grown", () => {
  deepEqual([mayHaveGrown(aClaim(SMALL)), mayHaveGrown(aClaim(SMALL, "1Gi")), mayHaveGrown(aClaim({}))], [true, false, false]);
});

test("a failed growth is a condition, and a phase only if the size is infeasible; the first failure stays", () => {
  const resizing = { type: "Resizing", status: "True" as const };
  const claim = aClaim({ ...SMALL, allocatedResourceStatuses: { storage: "NodeResizeInProgress" }, conditions: [resizing] });
  const failure = { message: "no space", isInfeasible: false, time: "2030-01-01T00:00:00Z" };
  const condition = {
    type: "NodeResizeError",
    status: "True",
    lastTransitionTime: failure.time,
    message: "failed to expand pvc with no space",
  };

  const once = failedStatus(claim, failure);
  const again = failedStatus({ ...claim, status: once }, { message: "other", isInfeasible: true, time: "2030-01-02T00:00:00Z" });

  deepEqual(once, { ...claim.status, conditions: [resizing, condition] });
  deepEqual(again, { ...once, allocatedResourceStatuses: { storage: "NodeResizeInfeasible" } });
});

test("the user wants another size than the volume has if the request is smaller or larger, however it is written", () => {
  const wants = (requested: string) => wantsAnotherSize({ claim: aClaim(SMALL, requested), volume: aVolume("2Gi") });
  deepEqual([wants("1Gi"), wants("2Gi"), wants("2048Mi"), wants("3Gi")], [true, false, false, true]);
});

test("a grown claim has its new capacity and no condition of the growth", () => {
  const condition = (type: string) => ({ type, status: "True" as const });
  const claim = aClaim({
    ...SMALL,
    phase: "Bound",
    allocatedResourceStatuses: { storage: "NodeResizeInProgress" },
    conditions: [condition("FileSystemResizePending"), condition("Other"), condition("NodeResizeError")],
  });

  deepEqual(expandedStatus(claim, "2Gi"), { phase: "Bound", capacity: { storage: "2Gi" }, conditions: [condition("Other")] });
});
