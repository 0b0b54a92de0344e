import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { checkRetries, filtered, made, nodeEvent } from "../../framework/testing/call-plugin.ts";
import { aNode, aPod, nodeInfo } from "../../framework/testing/builders.ts";
import { nodeName } from "./node-name.ts";

const plugin = made(nodeName);
const refuses = { reasons: ["node(s) didn't match the requested node name"], resolvable: false };

for (const [when, pod, expected] of [
  ["the Pod names no node", aPod("p"), "skip"],
  ["the Pod names this node", aPod("p", { node: "n1" }), undefined],
  ["the Pod names another node", aPod("p", { node: "n2" }), refuses],
] as const) {
  test(`NodeName.filter when ${when}`, () => deepEqual(filtered(plugin, pod, nodeInfo(aNode("n1"))), expected));
}

test("NodeName reconsiders a Pod only when a node is added", () => {
  checkRetries(plugin, aPod("p"), [
    ["a node has come", nodeEvent("added", aNode("n2")), true],
    ["a node has other labels", nodeEvent("labels", aNode("n2"), aNode("n2")), false],
  ]);
});
