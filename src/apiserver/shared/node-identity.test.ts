import assert from "node:assert/strict";
import test from "node:test";
import { nodeNameOf } from "./node-identity.ts";

const USERS: readonly [name: string, groups: readonly string[], node: string | undefined][] = [
  ["system:node:n1", ["system:nodes"], "n1"],
  ["system:node:n1", ["x", "system:nodes", "system:authenticated"], "n1"],
  ["system:node:", ["system:nodes"], ""],
  ["system:node:a:b", ["system:nodes"], "a:b"],
  ["system:node:n1", [], undefined],
  ["system:node:n1", ["system:node", "system:nodes:x"], undefined],
  ["system:nodes:n1", ["system:nodes"], undefined],
  ["System:node:n1", ["system:nodes"], undefined],
  [" system:node:n1", ["system:nodes"], undefined],
  ["n1", ["system:nodes"], undefined],
];

for (const [name, groups, node] of USERS) {
  test(`"${name}" of [${groups.join(", ")}] is ${node === undefined ? "not a node" : `the node "${node}"`}`, () => {
    assert.equal(nodeNameOf({ name, groups }), node);
  });
}
