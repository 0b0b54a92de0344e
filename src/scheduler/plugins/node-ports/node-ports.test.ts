import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { checkRetries, filtered, made, nodeEvent, podEvent } from "../../framework/testing/call-plugin.ts";
import { aNode, aPod, nodeInfo, type PodPort } from "../../framework/testing/builders.ts";
import { nodePorts } from "./node-ports.ts";

const plugin = made(nodePorts);
const refuses = { reasons: ["node(s) didn't have free ports for the requested pod ports"], resolvable: true };

type Ports = readonly (number | PodPort)[];

const ROWS: readonly (readonly [when: string, wanted: Ports, used: Ports, expected: unknown])[] = [
  ["the Pod takes none", [], [80], "skip"],
  ["none is in use", [80], [], undefined],
  ["another is in use", [80], [81], undefined],
  ["it is in use", [80], [80], refuses],
  ["one of two is in use", [80, 81], [82, 81], refuses],
  ["it is in use for another protocol", [{ port: 80, protocol: "UDP" }], [80], undefined],
  ["it is in use at another address", [{ port: 80, ip: "10.0.0.1" }], [{ port: 80, ip: "10.0.0.2" }], undefined],
  ["it is in use at the same address", [{ port: 80, ip: "10.0.0.1" }], [{ port: 80, ip: "10.0.0.1" }], refuses],
  ["it is in use at all addresses", [{ port: 80, ip: "10.0.0.1" }], [{ port: 80, ip: "0.0.0.0" }], refuses],
  ["the Pod requests it at all addresses and it is in use at one", [80], [{ port: 80, ip: "10.0.0.1" }], refuses],
];

for (const [when, wanted, used, expected] of ROWS) {
  test(`NodePorts.filter when ${when}`, () => {
    const node = nodeInfo(aNode("n1"), aPod("other", { ports: used, node: "n1" }));
    deepEqual(filtered(plugin, aPod("p", { ports: wanted }), node), expected);
  });
}

test("NodePorts reconsiders a Pod when a node is added or one of its ports becomes free", () => {
  checkRetries(plugin, aPod("p", { ports: [80] }), [
    ["a node has come", nodeEvent("added", aNode("n2")), true],
    ["a Pod with the port is deleted", podEvent("assigned-pod", "deleted", aPod("other", { ports: [80], node: "n1" })), true],
    ["a Pod with another port is deleted", podEvent("assigned-pod", "deleted", aPod("other", { ports: [81], node: "n1" })), false],
    ["a Pod without ports is deleted", podEvent("assigned-pod", "deleted", aPod("other", { node: "n1" })), false],
    ["a Pod has come", podEvent("assigned-pod", "added", aPod("other", { ports: [80], node: "n1" })), false],
  ]);
});
