import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { PodSpec, Taint } from "../../api/generated/core/v1.ts";
import { placementsOf, withDaemonTolerations, type Placement } from "./placement.ts";
import { aDaemonSet, aNode, type NodeFacts } from "./testing/daemons.ts";

const taint = (key: string, effect: Taint["effect"]): Taint => ({ key, effect });
const required = (key: string) => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: "Exists" as const }] }] },
  },
});

const CASES: readonly (readonly [title: string, pod: Partial<PodSpec>, node: NodeFacts, placement: Placement])[] = [
  ["runs on any node", {}, {}, "runs"],
  ["runs on nodes of its node selector", { nodeSelector: { disk: "ssd" } }, { labels: { disk: "ssd" } }, "runs"],
  ["stays away from nodes outside of its node selector", { nodeSelector: { disk: "ssd" } }, { labels: { disk: "hdd" } }, "away"],
  ["runs on nodes of its affinity", { affinity: required("gpu") }, { labels: { gpu: "" } }, "runs"],
  ["stays away from nodes outside of its affinity", { affinity: required("gpu") }, {}, "away"],
  ["runs on the node that its template names", { nodeName: "n" }, {}, "runs"],
  ["stays away from nodes that its template does not name", { nodeName: "other" }, {}, "away"],
  ["is not placed on a node with a NoSchedule taint, but keeps its Pod", {}, { taints: [taint("x", "NoSchedule")] }, "stays"],
  ["leaves a node with a NoExecute taint", {}, { taints: [taint("x", "NoExecute")] }, "away"],
  ["ignores a preference", {}, { taints: [taint("x", "PreferNoSchedule")] }, "runs"],
  [
    "runs where its taints are tolerated",
    { tolerations: [{ key: "x", operator: "Exists" }] },
    { taints: [taint("x", "NoExecute")] },
    "runs",
  ],
  ["runs on cordoned nodes", {}, { taints: [taint("node.kubernetes.io/unschedulable", "NoSchedule")] }, "runs"],
  ["runs on lost nodes", {}, { taints: [taint("node.kubernetes.io/unreachable", "NoExecute")] }, "runs"],
  ["waits for the network", {}, { taints: [taint("node.kubernetes.io/network-unavailable", "NoSchedule")] }, "stays"],
  [
    "on the host's network does not wait for the network",
    { hostNetwork: true },
    { taints: [taint("node.kubernetes.io/network-unavailable", "NoSchedule")] },
    "runs",
  ],
];

for (const [title, pod, node, placement] of CASES) {
  test(`a DaemonSet ${title}`, () => equal(placementsOf(aDaemonSet({ pod })).on(aNode("n", node)), placement));
}

test("Pods of a DaemonSet tolerate the conditions of nodes, without a time limit", () => {
  const limited = { key: "node.kubernetes.io/not-ready", operator: "Exists" as const, effect: "NoExecute" as const, tolerationSeconds: 5 };

  const { tolerations } = withDaemonTolerations({ containers: [], tolerations: [{ key: "x", operator: "Exists" }, limited] });

  deepEqual(tolerations, [
    { key: "x", operator: "Exists" },
    { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" },
    { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute" },
    { key: "node.kubernetes.io/disk-pressure", operator: "Exists", effect: "NoSchedule" },
    { key: "node.kubernetes.io/memory-pressure", operator: "Exists", effect: "NoSchedule" },
    { key: "node.kubernetes.io/pid-pressure", operator: "Exists", effect: "NoSchedule" },
    { key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" },
  ]);
});
