import assert from "node:assert/strict";
import test from "node:test";
import { builtInPriorityClasses } from "./built-in.ts";

test("the built-in PriorityClasses are upstream's", () => {
  assert.deepEqual(builtInPriorityClasses, [
    {
      apiVersion: "scheduling.k8s.io/v1",
      kind: "PriorityClass",
      metadata: { name: "system-node-critical" },
      value: 2000001000,
      description: "Used for system critical pods that must not be moved from their current node.",
      preemptionPolicy: "PreemptLowerPriority",
    },
    {
      apiVersion: "scheduling.k8s.io/v1",
      kind: "PriorityClass",
      metadata: { name: "system-cluster-critical" },
      value: 2000000000,
      description: "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
      preemptionPolicy: "PreemptLowerPriority",
    },
  ]);
});
