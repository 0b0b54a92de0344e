import { test } from "node:test";
import { equal } from "node:assert/strict";
import { nodesToFind } from "./sample.ts";

for (const { nodes, percentage, found } of [
  { nodes: 10, percentage: 0, found: 10 },
  { nodes: 10, percentage: 40, found: 10 },
  { nodes: 99, percentage: 10, found: 99 },
  { nodes: 100, percentage: 0, found: 100 },
  { nodes: 1_000, percentage: 0, found: 420 },
  { nodes: 1_000, percentage: 40, found: 400 },
  { nodes: 1_000, percentage: 5, found: 100 },
  { nodes: 5_000, percentage: 0, found: 500 },
  { nodes: 6_000, percentage: 0, found: 300 },
  { nodes: 6_000, percentage: 40, found: 2_400 },
  { nodes: 6_000, percentage: 100, found: 6_000 },
]) {
  test(`of ${nodes} nodes at ${percentage} %, ${found} feasible ones suffice`, () => equal(nodesToFind({ nodes, percentage }), found));
}
