import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Pod } from "../../../api/generated/core/v1.ts";
import { made, scored } from "../../framework/testing/call-plugin.ts";
import { aNode, aPod, nodeInfo, type NodeParts } from "../../framework/testing/builders.ts";
import { nodeResourcesFit } from "./node-resources-fit.ts";

const FOO = "example.com/foo";
const CPU_1_MEMORY_2 = [
  { name: "cpu", weight: 1 },
  { name: "memory", weight: 2 },
];

interface Row {
  readonly when: string;
  readonly strategy: unknown;
  readonly pod: Pod;
  readonly nodes: readonly (readonly [parts: NodeParts, ...pods: Pod[]])[];
  readonly scores: readonly number[];
}

const SMALL: NodeParts = { cpu: "4", memory: "10000" };
const LARGE: NodeParts = { cpu: "6", memory: "10000" };
const ASKING = aPod("p", { cpu: "3", memory: "5000" });
const least = (resources?: unknown): unknown => ({ type: "LeastAllocated", resources });
const most = (resources?: unknown): unknown => ({ type: "MostAllocated", resources });
const curve = (shape: readonly (readonly [number, number])[], resources?: unknown): unknown => ({
  type: "RequestedToCapacityRatio",
  resources,
  requestedToCapacityRatio: { shape: shape.map(([utilization, score]) => ({ utilization, score })) },
});
const FALLING = [
  [0, 10],
  [100, 0],
] as const;
const RISING = [
  [0, 0],
  [100, 1],
] as const;

const ROWS: readonly Row[] = [
  { when: "the nodes are empty", strategy: least(), pod: ASKING, nodes: [[SMALL], [LARGE]], scores: [37, 50] },
  { when: "memory counts twice", strategy: least(CPU_1_MEMORY_2), pod: ASKING, nodes: [[SMALL], [LARGE]], scores: [41, 50] },
  { when: "a resource would be over its capacity", strategy: least(), pod: ASKING, nodes: [[SMALL, using("3", "0")]], scores: [25] },
  { when: "a node has neither CPU nor memory", strategy: least(), pod: ASKING, nodes: [[{ cpu: "0", memory: "0" }]], scores: [0] },
  // 100m and 200 MiB for each container without requests, of existing Pods as of the incoming one.
  {
    when: "no container has requests",
    strategy: least(),
    pod: aPod("p"),
    nodes: [[{ cpu: "1", memory: "1000Mi" }, aPod("a")]],
    scores: [70],
  },
  {
    when: "the Pod does not request a scored extended resource",
    strategy: least([{ name: "cpu" }, { name: FOO }]),
    pod: ASKING,
    nodes: [[{ ...LARGE, extended: { [FOO]: "4" } }]],
    scores: [50],
  },
  {
    when: "the Pod requests a scored extended resource",
    strategy: least([{ name: "cpu" }, { name: FOO }]),
    pod: aPod("p", { cpu: "3", extended: { [FOO]: "1" } }),
    nodes: [[{ ...LARGE, extended: { [FOO]: "4" } }], [LARGE]],
    scores: [62, 50],
  },
  {
    when: "storage counts",
    strategy: least([{ name: "ephemeral-storage" }]),
    pod: aPod("p", { storage: "10Gi" }),
    nodes: [[{ storage: "40Gi" }, aPod("a", { storage: "10Gi" })]],
    scores: [50],
  },
  {
    when: "the Pod has Pod-level requests: only its containers count",
    strategy: least([{ name: "cpu" }]),
    pod: aPod("p", { cpu: "1", spec: { resources: { requests: { cpu: "3" } } } }),
    nodes: [[SMALL]],
    scores: [75],
  },
  { when: "the nodes are empty", strategy: most(), pod: ASKING, nodes: [[SMALL], [LARGE]], scores: [62, 50] },
  { when: "memory counts twice", strategy: most(CPU_1_MEMORY_2), pod: ASKING, nodes: [[SMALL], [LARGE]], scores: [58, 50] },
  { when: "a resource would be over its capacity", strategy: most(), pod: ASKING, nodes: [[SMALL, using("3", "0")]], scores: [75] },
  {
    when: "the emptier is better: rounded, not cut off",
    strategy: curve(FALLING),
    pod: ASKING,
    nodes: [[SMALL], [LARGE]],
    scores: [38, 50],
  },
  // 2 of 8 and 2 of 4, at a tenth of the slope.
  {
    when: "a device counts alone",
    strategy: curve(RISING, [{ name: FOO }]),
    pod: aPod("p", { extended: { [FOO]: "2" } }),
    nodes: [[devices("8")], [devices("4")]],
    scores: [2, 5],
  },
  {
    when: "a device is used already",
    strategy: curve(RISING, [{ name: FOO }]),
    pod: aPod("p", { extended: { [FOO]: "2" } }),
    nodes: [[devices("4"), aPod("a", { extended: { [FOO]: "2" } })]],
    scores: [10],
  },
  {
    when: "the Pod does not request the scored device",
    strategy: curve(RISING, [{ name: FOO }]),
    pod: aPod("p"),
    nodes: [[devices("4")]],
    scores: [0],
  },
  // CPU at 100 % gets 0, and does not count: only memory at 50 % does.
  {
    when: "a resource is at the bottom of the curve",
    strategy: curve(FALLING),
    pod: aPod("p", { cpu: "4", memory: "5000" }),
    nodes: [[SMALL]],
    scores: [50],
  },
  // 75 %: half way down from 100 to 30 (utilization 50 to 100) is 65; 50 % is at the top.
  {
    when: "the curve has a corner",
    strategy: curve([
      [0, 0],
      [50, 10],
      [100, 3],
    ]),
    pod: ASKING,
    nodes: [[SMALL]],
    scores: [83],
  },
  {
    when: "the curve begins and ends level",
    strategy: curve([
      [80, 2],
      [90, 9],
    ]),
    pod: ASKING,
    nodes: [[SMALL]],
    scores: [20],
  },
];

for (const { when, strategy, pod, nodes, scores } of ROWS) {
  test(`${(strategy as { type: string }).type} when ${when}`, () => {
    const infos = nodes.map(([parts, ...pods], index) => nodeInfo(aNode(`n${index}`, parts), ...pods));
    deepEqual(scored(made(nodeResourcesFit, { scoringStrategy: strategy }), pod, infos), scores);
  });
}

test("the score uses integer arithmetic, however large the numbers", () => {
  const CAPACITY_MAX = 80 * 2 ** 40;
  const plugin = made(nodeResourcesFit, { scoringStrategy: least([{ name: "memory" }]) });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: CAPACITY_MAX }), fc.integer({ min: 1, max: CAPACITY_MAX }), (capacity, request) => {
      const free = BigInt(Math.max(capacity - request, 0));
      const expected = Number((free * 100n) / BigInt(capacity));
      const found = scored(plugin, aPod("p", { memory: `${request}` }), [nodeInfo(aNode("n", { memory: `${capacity}` }))]);
      equal(found[0], expected);
    }),
  );
});

function using(cpu: string, memory: string): Pod {
  return aPod("other", { cpu, memory });
}

function devices(count: string): NodeParts {
  return { extended: { [FOO]: count } };
}
