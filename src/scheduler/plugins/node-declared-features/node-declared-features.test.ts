import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { Container, Node } from "../../../api/generated/core/v1.ts";
import { aNode, aPod, nodeInfo } from "../../framework/testing/builders.ts";
import { checkRetries, filtered, made, nodeEvent, podEvent } from "../../framework/testing/call-plugin.ts";
import { nodeDeclaredFeatures } from "./node-declared-features.ts";

const MISSING = { reasons: ["node(s) didn't match Pod's required features"], resolvable: false };
const plugin = made(nodeDeclaredFeatures);
const restarting: Container = {
  name: "c",
  restartPolicy: "Never",
  restartPolicyRules: [{ action: "RestartAllContainers", exitCodes: { operator: "In", values: [3] } }],
};

function declaring(...declaredFeatures: readonly string[]): Node {
  const node = aNode("n");
  return { ...node, status: { ...node.status, declaredFeatures } };
}

test("NodeDeclaredFeatures accepts nodes that declare what the Pod needs", () => {
  const pods = {
    RestartAllContainersOnContainerExits: aPod("p", { containers: [restarting] }),
    UserNamespacesHostNetworkSupport: aPod("p", { spec: { hostNetwork: true, hostUsers: false } }),
  };
  for (const [feature, pod] of Object.entries(pods)) {
    deepEqual(filtered(plugin, pod, nodeInfo(declaring("Another", feature))), undefined);
    deepEqual(filtered(plugin, pod, nodeInfo(declaring("Another"))), MISSING);
    deepEqual(filtered(plugin, pod, nodeInfo(aNode("n"))), MISSING);
  }
  deepEqual(filtered(plugin, aPod("p", { initContainers: [restarting] }), nodeInfo(aNode("n"))), MISSING);
  deepEqual(filtered(plugin, aPod("p", { spec: { hostNetwork: true } }), nodeInfo(aNode("n"))), "skip");
});

test("NodeDeclaredFeatures reconsiders a Pod when features of a node change", () => {
  const pod = aPod("p", { containers: [restarting] });
  checkRetries(plugin, pod, [
    ["a node", nodeEvent("added", aNode("n")), true],
    ["other features", nodeEvent("declared-features", declaring("A"), aNode("n")), true],
    ["labels of a node", nodeEvent("labels", aNode("n"), aNode("n")), false],
    ["the Pod needs the same", podEvent("waiting-pod", "other", pod, pod), false],
    ["the Pod needs something else", podEvent("waiting-pod", "other", aPod("p"), pod), true],
  ]);
});
