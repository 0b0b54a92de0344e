import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { Taint, Toleration } from "../../../api/generated/core/v1.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import { checkRetries, filtered, made, nodeEvent, podEvent, scored } from "../../framework/testing/call-plugin.ts";
import { aNode, aPod, nodeInfo } from "../../framework/testing/builders.ts";
import { taintToleration } from "./taint-toleration.ts";

const plugin = made(taintToleration);
const refuses = { reasons: ["node(s) had untolerated taint(s)"], resolvable: false };

const hard: Taint = { key: "dedicated", value: "db", effect: "NoSchedule" };
const evicting: Taint = { key: "broken", effect: "NoExecute" };
const soft: Taint = { key: "slow", value: "yes", effect: "PreferNoSchedule" };
const toleratesHard: Toleration = { key: "dedicated", operator: "Equal", value: "db", effect: "NoSchedule" };
const toleratesSoft: Toleration = { key: "slow", operator: "Exists" };

const FILTERED: readonly (readonly [when: string, tolerations: readonly Toleration[], taints: readonly Taint[], expected: unknown])[] = [
  ["there are no taints", [], [], undefined],
  ["a NoSchedule taint is not tolerated", [], [hard], refuses],
  ["a NoExecute taint is not tolerated", [], [evicting], refuses],
  ["a taint is only a wish", [], [soft], undefined],
  ["a taint is tolerated", [toleratesHard], [hard], undefined],
  ["one of two taints is tolerated", [toleratesHard], [hard, evicting], refuses],
  ["another value is tolerated", [{ ...toleratesHard, value: "web" }], [hard], refuses],
  ["everything is tolerated", [{ operator: "Exists" }], [hard, evicting, soft], undefined],
];

for (const [when, tolerations, taints, expected] of FILTERED) {
  test(`TaintToleration.filter when ${when}`, () => {
    deepEqual(filtered(plugin, aPod("p", { tolerations }), tainted("n1", taints)), expected);
  });
}

const SCORED: readonly (readonly [
  when: string,
  tolerations: readonly Toleration[],
  taints: readonly (readonly Taint[])[],
  scores: unknown,
])[] = [
  ["no node has a PreferNoSchedule taint", [], [[], [hard]], "skip"],
  ["one node has a PreferNoSchedule taint", [], [[], [soft]], [100, 0]],
  ["the Pod tolerates the PreferNoSchedule taint", [toleratesSoft], [[], [soft]], [100, 100]],
  [
    "nodes ask several times",
    [],
    [[soft], [soft, { ...soft, key: "b" }], [soft, { ...soft, key: "b" }, { ...soft, key: "c" }]],
    [67, 34, 0],
  ],
  ["the Pod tolerates it with another effect", [{ key: "slow", operator: "Exists", effect: "NoSchedule" }], [[], [soft]], [100, 0]],
];

for (const [when, tolerations, taints, scores] of SCORED) {
  test(`TaintToleration.score when ${when}`, () => {
    const nodes = taints.map((ofNode, index) => tainted(`n${index}`, ofNode));
    deepEqual(scored(plugin, aPod("p", { tolerations }), nodes), scores);
  });
}

test("TaintToleration reconsiders a Pod when a node is added or loses an untolerated taint", () => {
  const free = aNode("n1");
  const closed = aNode("n1", { taints: [hard] });
  checkRetries(plugin, aPod("p"), [
    ["a node without taints has come", nodeEvent("added", free), true],
    ["a node with a taint has come", nodeEvent("added", closed), false],
    ["a taint was taken off", nodeEvent("taints", free, closed), true],
    ["one taint of two was taken off", nodeEvent("taints", closed, aNode("n1", { taints: [hard, evicting] })), false],
    ["a taint was put on", nodeEvent("taints", closed, free), false],
    ["a wish was put on", nodeEvent("taints", aNode("n1", { taints: [soft] }), free), false],
    ["a node has more to give", nodeEvent("allocatable", free, closed), false],
    ["the Pod tolerates more", podEvent("waiting-pod", "tolerations", aPod("p", { tolerations: [toleratesHard] }), aPod("p")), true],
  ]);
});

function tainted(name: string, taints: readonly Taint[]): NodeInfo {
  return nodeInfo(aNode(name, { taints }));
}
