import { equal } from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "../../../generated/core/v1.ts";
import { isNodeReady, zoneOf } from "./health.ts";

function aNode(labels: Readonly<Record<string, string>>, ready?: string): Node {
  const conditions = ready === undefined ? [] : [{ type: "Ready", status: ready }];
  return { apiVersion: "v1", kind: "Node", metadata: { name: "n", labels }, status: { conditions } };
}

for (const [labels, zone] of [
  [{}, ":"],
  [{ "topology.kubernetes.io/zone": "a" }, ":a"],
  [{ "topology.kubernetes.io/zone": "a", "topology.kubernetes.io/region": "r" }, "r:a"],
  [{ "topology.kubernetes.io/zone": "a", "failure-domain.beta.kubernetes.io/zone": "old" }, ":old"],
] as const) {
  test(`a Node with labels ${JSON.stringify(labels)} is in zone ${zone}`, () => equal(zoneOf(aNode(labels)), zone));
}

for (const [ready, is] of [
  ["True", true],
  ["False", false],
  ["Unknown", false],
  [undefined, false],
] as const) {
  test(`a Node with the Ready status ${ready} is ${is ? "" : "not "}ready`, () => equal(isNodeReady(aNode({}, ready)), is));
}
