import { deepEqual, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Pod } from "../../../api/generated/core/v1.ts";
import { made, problemsOf, scored } from "../../framework/testing/call-plugin.ts";
import { aNode, aPod, nodeInfo, type NodeParts, type PodParts } from "../../framework/testing/builders.ts";
import { nodeResourcesBalancedAllocation } from "./node-resources-balanced-allocation.ts";

const GPU = "example.com/gpu";
const WITH_GPU = { resources: [{ name: "cpu" }, { name: "memory" }, { name: GPU }] };

interface Row {
  readonly when: string;
  readonly args?: unknown;
  readonly pod: PodParts;
  readonly nodes: readonly (readonly [cpu: string, memory: string, more: NodeParts, used: PodParts])[];
  readonly scores: readonly number[] | "skip";
}

/** Balance before → after, and the resulting score: 50 + (50 + after − before) / 2. */
const ROWS: readonly Row[] = [
  { when: "the Pod has no requests", pod: {}, nodes: [["4", "10000", {}, {}]], scores: "skip" },
  { when: "the Pod requests only resources that are not scored", pod: { storage: "1Gi" }, nodes: [["4", "10000", {}, {}]], scores: "skip" },
  // 100 → 87, 100 → 100
  {
    when: "the nodes are empty",
    pod: { cpu: "3", memory: "5000" },
    nodes: [
      ["4", "10000", {}, {}],
      ["6", "10000", {}, {}],
    ],
    scores: [68, 75],
  },
  // 85 → 82, 97 → 95, 90 → 80
  {
    when: "the nodes are in use",
    pod: { cpu: "3", memory: "5000" },
    nodes: [
      ["10", "20000", {}, { cpu: "3" }],
      ["10", "20000", {}, { cpu: "3", memory: "5000" }],
      ["10", "50000", {}, { cpu: "3", memory: "5000" }],
    ],
    scores: [73, 74, 70],
  },
  // 50 → 100, 100 → 50
  {
    when: "balance is best on one node and worst on another",
    pod: { memory: "5000" },
    nodes: [
      ["3", "5000", {}, { cpu: "3" }],
      ["3", "5000", {}, {}],
    ],
    scores: [100, 50],
  },
  // 75 → 50: more than all counts as all.
  { when: "the Pod requests more than is free", pod: { cpu: "9" }, nodes: [["6", "10000", {}, { cpu: "3" }]], scores: [62] },
  // 69 → 70, 62 → 65
  {
    when: "three resources count",
    args: WITH_GPU,
    pod: { cpu: "0", memory: "0", extended: { [GPU]: "1" } },
    nodes: [
      ["3500m", "40000", { extended: { [GPU]: "8" } }, { cpu: "3", memory: "5000", extended: { [GPU]: "3" } }],
      ["3500m", "40000", { extended: { [GPU]: "8" } }, { cpu: "3", memory: "5000" }],
    ],
    scores: [75, 76],
  },
  // 100 → 63, with or without the device that is not requested.
  {
    when: "the Pod does not request a scored device",
    args: WITH_GPU,
    pod: { cpu: "3", memory: "5000" },
    nodes: [
      ["3500m", "40000", { extended: { [GPU]: "8" } }, {}],
      ["3500m", "40000", {}, {}],
    ],
    scores: [56, 56],
  },
  {
    when: "only one resource counts",
    args: { resources: [{ name: "cpu" }] },
    pod: { cpu: "3" },
    nodes: [["4", "1", {}, {}]],
    scores: [75],
  },
  { when: "the node has none of a resource", pod: { cpu: "3" }, nodes: [["4", "0", {}, {}]], scores: [75] },
  // Containers without requests use nothing here, unlike in NodeResourcesFit.
  { when: "existing Pods have no requests", pod: { cpu: "4", memory: "10000" }, nodes: [["4", "10000", {}, {}]], scores: [75] },
];

for (const { when, args, pod, nodes, scores } of ROWS) {
  test(`NodeResourcesBalancedAllocation.score when ${when}`, () => {
    const plugin = made(nodeResourcesBalancedAllocation, args);
    const infos = nodes.map(([cpu, memory, more, used], index) => nodeInfo(aNode(`n${index}`, { cpu, memory, ...more }), other(used)));
    deepEqual(scored(plugin, aPod("p", pod), infos), scores);
  });
}

test("a score is an integer from 50 to 100", () => {
  const plugin = made(nodeResourcesBalancedAllocation, WITH_GPU);
  const amount = fc.nat(1000).map(String);
  const amounts = fc.record({ cpu: amount, memory: amount, extended: fc.record({ [GPU]: amount }) });
  fc.assert(
    fc.property(amounts, amounts, amounts, (asked, used, has) => {
      const scores = scored(plugin, aPod("p", { ...asked, cpu: "1" }), [nodeInfo(aNode("n", has), other(used))]);
      const [score = Number.NaN] = scores === "skip" ? [] : scores;
      ok(Number.isInteger(score) && score >= 50 && score <= 100, `${score}`);
    }),
  );
});

for (const [what, written, problems] of [
  ["nothing", undefined, []],
  ["resources", WITH_GPU, []],
  ["a weight of zero, which is none", { resources: [{ name: "cpu", weight: 0 }] }, []],
  [
    "another weight and a name twice",
    {
      resources: [
        { name: "cpu", weight: 2 },
        { name: "cpu", weight: 1 },
      ],
    },
    ["resources[0].weight: Invalid value: 2: must be 1", 'resources[1].name: Duplicate value: "cpu"'],
  ],
  ["an unknown field", { weights: [] }, ['unknown field "weights"']],
] as const) {
  test(`NodeResourcesBalancedAllocation's arguments with ${what} are ${problems.length === 0 ? "accepted" : "rejected"}`, () => {
    deepEqual(problemsOf(nodeResourcesBalancedAllocation, written), problems);
  });
}

function other(parts: PodParts): Pod {
  return aPod("other", parts);
}
