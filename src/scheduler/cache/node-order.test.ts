import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Node } from "../../api/generated/core/v1.ts";
import { rounds, testSeed } from "../../testing/rounds.ts";
import { aNode } from "../framework/testing/builders.ts";
import { NodeOrder } from "./node-order.ts";

/** "zone/name" */
function nodeIn(text: string): Node {
  const [zone = "", name = ""] = text.split("/");
  return aNode(name, zone === "" ? {} : { zone });
}

function put(order: NodeOrder<string>, node: Node, previous?: Node): boolean {
  return order.put(node.metadata.name, node, previous);
}

function orderOf(...texts: readonly string[]): NodeOrder<string> {
  const order = new NodeOrder<string>();
  for (const text of texts) put(order, nodeIn(text));
  return order;
}

test("zones alternate, in order of appearance", () => {
  assert.deepEqual(orderOf("x/a", "x/b", "x/c", "y/d", "z/e", "z/f").list(), ["a", "d", "e", "b", "f", "c"]);
});

test("nodes without a zone form one zone", () => {
  assert.deepEqual(orderOf("/a", "/b", "x/c").list(), ["a", "c", "b"]);
});

test("equal zone names of two regions are two zones", () => {
  const order = new NodeOrder<string>();
  for (const [name, region] of [
    ["a", "r"],
    ["b", "r"],
    ["c", "s"],
  ] as const)
    put(order, aNode(name, { zone: "x", region }));

  assert.deepEqual(order.list(), ["a", "c", "b"]);
});

test("the deprecated zone and region labels take precedence", () => {
  const order = new NodeOrder<string>();
  const old = { "failure-domain.beta.kubernetes.io/zone": "x", "failure-domain.beta.kubernetes.io/region": "r" };
  put(order, aNode("a", { zone: "x", region: "r" }));
  put(order, aNode("b", { zone: "y", region: "s", labels: old }));
  put(order, aNode("c", { zone: "y", region: "s" }));

  assert.deepEqual(order.list(), ["a", "c", "b"]);
});

test("a node that changes its zone is last in the new one; other changes keep the order", () => {
  const order = orderOf("x/a", "x/b", "y/c", "y/d");

  assert.equal(put(order, aNode("a", { zone: "x", cpu: "8" }), nodeIn("x/a")), false);
  assert.equal(put(order, nodeIn("y/a"), nodeIn("x/a")), true);

  assert.deepEqual(order.list(), ["b", "c", "d", "a"]);
});

test("a zone whose last node is removed is dropped, and comes last when it reappears", () => {
  const order = orderOf("x/a", "y/b");

  order.remove("a", nodeIn("x/a"));
  assert.deepEqual(order.list(), ["b"]);

  put(order, nodeIn("x/a"));
  assert.deepEqual(order.list(), ["b", "a"]);
});

test("every node is listed once, and zones are represented evenly", () => {
  const zones = fc.array(fc.constantFrom("x", "y", "z", "u"), { maxLength: 40 });
  fc.assert(
    fc.property(zones, (all) => {
      const texts = all.map((zone, index) => `${zone}/${index}`);

      const listed = orderOf(...texts).list();

      assert.deepEqual(listed.toSorted(), texts.map((text) => text.slice(2)).toSorted());
      const counts = [...new Set(all)].map((zone) => all.filter((other) => other === zone).length);
      const turns = counts.length === 0 ? 0 : Math.min(...counts);
      const first = listed.slice(0, turns * counts.length).map((name) => all[Number(name)]);
      for (const zone of new Set(all)) assert.equal(first.filter((other) => other === zone).length, turns);
    }),
    { numRuns: rounds({ quick: 100, full: 1_000 }), seed: testSeed() },
  );
});
