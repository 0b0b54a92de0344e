import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Node, NodeCondition, Pod } from "../../api/generated/core/v1.ts";
import { lostConditions, podsToTakeBack, withoutReadiness } from "./lost-node.ts";
import { buildPod } from "../../api/testing/pod.ts";

const NOW = "2026-01-01T00:01:00Z";
const NOW_MS = Date.parse(NOW);
const BORN = "2026-01-01T00:00:00Z";

function aNode(...conditions: readonly NodeCondition[]): Node {
  return { apiVersion: "v1", kind: "Node", metadata: { name: "n", creationTimestamp: BORN }, status: { conditions } };
}

function aPod(name: string, status: string, since: string): Pod {
  return buildPod({
    metadata: { name },
    status: {
      conditions: [
        { type: "Ready", status, lastTransitionTime: since },
        { type: "Initialized", status: "True" },
      ],
    },
  });
}

test("a lost Node's conditions become Unknown: stopped posting, or never posted", () => {
  const network = { type: "NetworkUnavailable", status: "False" };
  const disk = { type: "DiskPressure", status: "Unknown", reason: "Mine" };
  const ready = { type: "Ready", status: "True", reason: "KubeletReady", message: "ok", lastHeartbeatTime: BORN, lastTransitionTime: BORN };
  const never = {
    status: "Unknown",
    reason: "NodeStatusNeverUpdated",
    message: "Kubelet never posted node status.",
    lastHeartbeatTime: BORN,
    lastTransitionTime: NOW,
  };

  deepEqual(lostConditions(aNode(network, disk, ready), NOW_MS), [
    network,
    disk,
    {
      type: "Ready",
      status: "Unknown",
      reason: "NodeStatusUnknown",
      message: "Kubelet stopped posting node status.",
      lastHeartbeatTime: BORN,
      lastTransitionTime: NOW,
    },
    { type: "MemoryPressure", ...never },
    { type: "PIDPressure", ...never },
  ]);
});

test("a Node already marked as lost is unchanged", () =>
  equal(lostConditions(aNode({ type: "Ready", status: "Unknown" }), NOW_MS), undefined));

test("all ready Pods of a silent Node become not ready", () => {
  const node = aNode({ type: "Ready", status: "Unknown", lastTransitionTime: BORN });
  const [before, since, not] = [aPod("before", "True", "2025-12-31T23:00:00Z"), aPod("since", "True", NOW), aPod("not", "False", BORN)];

  deepEqual(podsToTakeBack(node, [before, since, not], { isSilent: true }), [before, since]);
  deepEqual(podsToTakeBack(node, [before, since, not], { isSilent: false }), [before]);
});

test("Pods of a Node that posts status belong to its kubelet", () => {
  deepEqual(podsToTakeBack(aNode({ type: "Ready", status: "False" }), [aPod("p", "True", BORN)], { isSilent: false }), []);
});

test("a Pod that becomes not ready keeps its other conditions", () => {
  deepEqual(withoutReadiness(aPod("p", "True", BORN), NOW_MS), aPod("p", "False", NOW));
});
