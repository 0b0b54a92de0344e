import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import type { Node } from "../../api/generated/core/v1.ts";
import { aNode } from "../shared/service-endpoints/testing/builders.ts";
import { sameShare, zoneShares } from "./zone-shares.ts";

const A = aNode("a", { zone: "a", cpu: "1" });
const B = aNode("b", { zone: "b", cpu: "3000m" });

const rows: readonly { readonly it: string; readonly nodes: readonly Node[]; readonly shares: object | undefined }[] = [
  { it: "by CPUs", nodes: [B, A], shares: { a: 0.25, b: 0.75 } },
  { it: "of all nodes of a zone", nodes: [A, A, A, B], shares: { a: 0.5, b: 0.5 } },
  { it: "without nodes that are not ready", nodes: [A, B, aNode("c", { zone: "c", isReady: false })], shares: { a: 0.25, b: 0.75 } },
  {
    it: "without the control plane, even if it has no zone",
    nodes: [A, B, aNode("c", { labels: { "node-role.kubernetes.io/control-plane": "" } })],
    shares: { a: 0.25, b: 0.75 },
  },
  { it: "not at all if there is one zone", nodes: [A], shares: undefined },
  { it: "not at all if a node has no zone", nodes: [A, B, aNode("c")], shares: undefined },
  { it: "not at all if a node reports no CPUs", nodes: [A, B, aNode("c", { zone: "a", cpu: "0" })], shares: undefined },
];

for (const { it, nodes, shares } of rows) {
  test(`zones share ${it}`, () => {
    const found = zoneShares(nodes);
    deepEqual(found === undefined ? undefined : Object.fromEntries(found), shares);
  });
}

for (const { it, node, same } of [
  { it: "a label", node: aNode("a", { zone: "a", cpu: "1", labels: { x: "y" } }), same: true },
  { it: "its zone", node: aNode("a", { zone: "b", cpu: "1" }), same: false },
  { it: "its CPUs", node: aNode("a", { zone: "a", cpu: "2" }), same: false },
  { it: "being ready", node: aNode("a", { zone: "a", cpu: "1", isReady: false }), same: false },
]) {
  test(`a node that changes ${it} ${same ? "keeps" : "changes"} its share`, () => deepEqual(sameShare(A, node), same));
}
