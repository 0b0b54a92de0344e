import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { checkRetries, filtered, made, nodeEvent, podEvent } from "../../framework/testing/call-plugin.ts";
import { aNode, aPod, nodeInfo } from "../../framework/testing/builders.ts";
import { nodeUnschedulable } from "./node-unschedulable.ts";

const plugin = made(nodeUnschedulable);
const refuses = { reasons: ["node(s) were unschedulable"], resolvable: false };
const open = aNode("n1");
const cordoned = aNode("n1", { unschedulable: true });
const tolerant = aPod("p", { tolerations: [{ key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" }] });
const otherwiseTolerant = aPod("p", { tolerations: [{ key: "node.kubernetes.io/not-ready", operator: "Exists" }] });

for (const [when, pod, node, expected] of [
  ["the node is open", aPod("p"), open, undefined],
  ["the node has unschedulable: false", aPod("p"), aNode("n1", { unschedulable: false }), undefined],
  ["the node is cordoned", aPod("p"), cordoned, refuses],
  ["the node is cordoned and the Pod tolerates something else", otherwiseTolerant, cordoned, refuses],
  ["the node is cordoned and the Pod tolerates it", tolerant, cordoned, "skip"],
] as const) {
  test(`NodeUnschedulable.filter when ${when}`, () => deepEqual(filtered(plugin, pod, nodeInfo(node)), expected));
}

test("NodeUnschedulable reconsiders a Pod when a node is uncordoned, or the Pod tolerates cordoned ones", () => {
  checkRetries(plugin, aPod("p"), [
    ["an open node has come", nodeEvent("added", open), true],
    ["a cordoned node has come", nodeEvent("added", cordoned), false],
    ["a node was uncordoned", nodeEvent("unschedulable", open, cordoned), true],
    ["a node was cordoned", nodeEvent("unschedulable", cordoned, open), false],
    ["a node was open before", nodeEvent("unschedulable", open, open), false],
    ["a node has other labels", nodeEvent("labels", open, cordoned), false],
    ["the Pod tolerates it now", podEvent("waiting-pod", "tolerations", tolerant, aPod("p")), true],
    ["the Pod tolerates something else now", podEvent("waiting-pod", "tolerations", otherwiseTolerant, aPod("p")), false],
  ]);
});
