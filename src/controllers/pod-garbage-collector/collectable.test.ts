import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Node, Pod, PodStatus } from "../../api/generated/core/v1.ts";
import { endedStatus, isOutOfService, surplusOf } from "./collectable.ts";
import { buildPod } from "../../api/testing/pod.ts";

function aPod(name: string, status: PodStatus, creationTimestamp = "2026-01-01T00:00:00Z"): Pod {
  return buildPod({ metadata: { name, creationTimestamp, generation: 2 }, status });
}

test("of too many terminated Pods evicted ones are deleted first, then the oldest, then by name", () => {
  const ended = [
    aPod("young", { phase: "Succeeded" }, "2026-01-03T00:00:00Z"),
    aPod("b", { phase: "Failed" }),
    aPod("a", { phase: "Succeeded" }),
    aPod("evicted", { phase: "Failed", reason: "Evicted" }, "2026-01-04T00:00:00Z"),
  ];

  const names = (threshold: number): readonly string[] => surplusOf(ended, threshold).map(({ metadata }) => metadata.name);
  deepEqual(names(1), ["evicted", "a", "b"]);
  deepEqual(names(4), []);
  deepEqual(names(0), []);
});

test("an orphaned Pod is marked as failed, with DisruptionTarget if the cluster is the cause", () => {
  const nowMs = Date.parse("2026-01-02T00:00:00Z");
  deepEqual(endedStatus(aPod("p", { phase: "Running" }), { nowMs }), { phase: "Failed", observedGeneration: 2 });
  deepEqual(endedStatus(aPod("p", { phase: "Running" }), { nowMs, because: { reason: "R", message: "m" } }), {
    phase: "Failed",
    observedGeneration: 2,
    conditions: [
      {
        type: "DisruptionTarget",
        status: "True",
        reason: "R",
        message: "m",
        observedGeneration: 2,
        lastTransitionTime: "2026-01-02T00:00:00Z",
      },
    ],
  });
  equal(endedStatus(aPod("p", { phase: "Succeeded" }), { nowMs, because: { reason: "R", message: "m" } }), undefined);
});

for (const [ready, key, is] of [
  ["False", "node.kubernetes.io/out-of-service", true],
  ["True", "node.kubernetes.io/out-of-service", false],
  ["False", "node.kubernetes.io/unreachable", false],
] as const) {
  test(`a Node with ready ${ready} and taint ${key} is ${is ? "" : "not "}out of service`, () => {
    const node: Node = {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "n" },
      spec: { taints: [{ key, effect: "NoExecute" }] },
      status: { conditions: [{ type: "Ready", status: ready }] },
    };
    equal(isOutOfService(node), is);
  });
}
