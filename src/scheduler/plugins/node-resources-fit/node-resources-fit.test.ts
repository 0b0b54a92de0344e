import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { Container, Pod } from "../../../api/generated/core/v1.ts";
import { checkRetries, filtered, made, nodeEvent, podEvent, problemsOf } from "../../framework/testing/call-plugin.ts";
import { aNode, aPod, nodeInfo } from "../../framework/testing/builders.ts";
import { nodeResourcesFit } from "./node-resources-fit.ts";

const plugin = made(nodeResourcesFit);
const GPU = "example.com/gpu";

const FILTERED: readonly (readonly [when: string, pod: Pod, expected: unknown])[] = [
  ["it requests what is free", aPod("p", { cpu: "3", memory: "7Gi" }), undefined],
  ["it requests more than is free", aPod("p", { cpu: "3001m" }), { reasons: ["Insufficient cpu"], resolvable: true }],
  ["it requests more than the node has", aPod("p", { cpu: "4001m" }), { reasons: ["Insufficient cpu"], resolvable: false }],
  [
    "its containers together ask for more",
    aPod("p", { containers: [requesting("2"), requesting("1500m")] }),
    { reasons: ["Insufficient cpu"], resolvable: true },
  ],
  [
    "an init container asks for more",
    aPod("p", { initContainers: [requesting("3500m")] }),
    { reasons: ["Insufficient cpu"], resolvable: true },
  ],
  ["its overhead is too much", aPod("p", { cpu: "3", overhead: { cpu: "1m" } }), { reasons: ["Insufficient cpu"], resolvable: true }],
  [
    "it asks as a whole for more",
    aPod("p", { cpu: "1", spec: { resources: { requests: { cpu: "3500m" } } } }),
    { reasons: ["Insufficient cpu"], resolvable: true },
  ],
  [
    "it asks for huge pages that are not there",
    aPod("p", { extended: { "hugepages-2Mi": "4Mi" } }),
    { reasons: ["Insufficient hugepages-2Mi"], resolvable: false },
  ],
  ["it requests a device that is in use", aPod("p", { extended: { [GPU]: "2" } }), { reasons: [`Insufficient ${GPU}`], resolvable: true }],
];

for (const [when, pod, expected] of FILTERED) {
  test(`NodeResourcesFit.filter when ${when}`, () => {
    const other = aPod("other", { cpu: "1", memory: "1Gi", extended: { [GPU]: "1" }, node: "n1" });
    deepEqual(filtered(plugin, pod, nodeInfo(aNode("n1", { cpu: "4", memory: "8Gi", extended: { [GPU]: "2" } }), other)), expected);
  });
}

for (const [when, args, expected] of [
  [
    "by name",
    { ignoredResources: ["example.com/a"] },
    { reasons: ["Insufficient example.com/b", "Insufficient hugepages-2Mi"], resolvable: false },
  ],
  ["by group", { ignoredResourceGroups: ["example.com"] }, { reasons: ["Insufficient hugepages-2Mi"], resolvable: false }],
  [
    "that is not an extended resource, which is never ignored",
    { ignoredResources: ["hugepages-2Mi"] },
    {
      reasons: ["Insufficient example.com/a", "Insufficient example.com/b", "Insufficient hugepages-2Mi"],
      resolvable: false,
    },
  ],
] as const) {
  test(`NodeResourcesFit ignores a resource ${when}`, () => {
    const pod = aPod("p", { extended: { "example.com/a": "1", "example.com/b": "1", "hugepages-2Mi": "2Mi" } });
    deepEqual(filtered(made(nodeResourcesFit, args), pod, nodeInfo(aNode("n1"))), expected);
  });
}

test("NodeResourcesFit reconsiders a Pod when Pods are deleted or scaled down", () => {
  const here = { node: "n1" };
  checkRetries(plugin, aPod("p", { cpu: "1", extended: { [GPU]: "1" } }), [
    ["a Pod is deleted", podEvent("assigned-pod", "deleted", aPod("other", here)), true],
    ["a Pod has come", podEvent("assigned-pod", "added", aPod("other", here)), false],
    [
      "a Pod needs less CPU",
      podEvent("assigned-pod", "scaled-down", aPod("o", { cpu: "1", ...here }), aPod("o", { cpu: "2", ...here })),
      true,
    ],
    [
      "a Pod needs less memory",
      podEvent("assigned-pod", "scaled-down", aPod("o", { memory: "1", ...here }), aPod("o", { memory: "2", ...here })),
      false,
    ],
    [
      "a Pod has fewer devices",
      podEvent("assigned-pod", "scaled-down", aPod("o", here), aPod("o", { extended: { [GPU]: "1" }, ...here })),
      true,
    ],
    ["the Pod itself needs less", podEvent("waiting-pod", "scaled-down", aPod("p"), aPod("p", { cpu: "1" })), true],
    ["the Pod itself has other labels", podEvent("waiting-pod", "labels", aPod("p"), aPod("p")), false],
  ]);
});

test("NodeResourcesFit reconsiders a Pod when a node is added or grows on which the Pod would fit alone", () => {
  checkRetries(plugin, aPod("p", { cpu: "2" }), [
    ["a node has come that is large enough", nodeEvent("added", aNode("n1", { cpu: "2" })), true],
    ["a node has come that is too small", nodeEvent("added", aNode("n1", { cpu: "1" })), false],
    ["a node has come that takes no Pods", nodeEvent("added", aNode("n1", { pods: "0" })), false],
    ["a node has more of a requested resource", nodeEvent("allocatable", aNode("n1", { cpu: "3" }), aNode("n1", { cpu: "2" })), true],
    ["a node has more, but not enough", nodeEvent("allocatable", aNode("n1", { cpu: "1" }), aNode("n1", { cpu: "500m" })), false],
    ["a node has less", nodeEvent("allocatable", aNode("n1", { cpu: "2" }), aNode("n1", { cpu: "3" })), false],
    ["a node has more of something else", nodeEvent("allocatable", aNode("n1", { memory: "2Gi" }), aNode("n1", { memory: "1Gi" })), false],
    ["a node takes more Pods", nodeEvent("allocatable", aNode("n1", { pods: "2" }), aNode("n1", { pods: "1" })), true],
    ["a node has other labels", nodeEvent("labels", aNode("n1"), aNode("n1", { cpu: "1" })), false],
  ]);
  checkRetries(plugin, aPod("p", { extended: { [GPU]: "1" } }), [
    ["a node has a device now", nodeEvent("allocatable", aNode("n1", { extended: { [GPU]: "1" } }), aNode("n1")), true],
  ]);
  checkRetries(plugin, aPod("p"), [
    ["a node has more, but the Pod has no requests", nodeEvent("allocatable", aNode("n1", { cpu: "3" }), aNode("n1", { cpu: "2" })), false],
  ]);
});

const CURVE = {
  type: "RequestedToCapacityRatio",
  requestedToCapacityRatio: {
    shape: [
      { utilization: 0, score: 0 },
      { utilization: 100, score: 10 },
    ],
  },
};

const ARGUMENTS: readonly (readonly [what: string, written: unknown, problems: readonly string[]])[] = [
  ["nothing", undefined, []],
  ["all strategies: the least", { scoringStrategy: { type: "LeastAllocated", resources: [{ name: "cpu", weight: 100 }] } }, []],
  ["all strategies: the most", { scoringStrategy: { type: "MostAllocated" } }, []],
  ["all strategies: a curve", { scoringStrategy: CURVE }, []],
  ["an unknown field", { scoring: {} }, ['unknown field "scoring"']],
  [
    "a wrong type",
    { ignoredResources: "a" },
    ["json: cannot unmarshal string into Go struct field NodeResourcesFitArgs.ignoredResources of type []string"],
  ],
  [
    "a weight that is too large",
    { scoringStrategy: { type: "MostAllocated", resources: [{ name: "cpu", weight: 101 }] } },
    ["scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu not in valid range (0, 100]"],
  ],
  [
    "a weight below zero",
    { scoringStrategy: { type: "MostAllocated", resources: [{ name: "cpu" }, { name: "memory", weight: -1 }] } },
    ["scoringStrategy.resources[1].weight: Invalid value: -1: resource weight of memory not in valid range (0, 100]"],
  ],
  [
    "an unknown strategy",
    { scoringStrategy: { type: "Best" } },
    ['scoringStrategy.type: Unsupported value: "Best": supported values: "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"'],
  ],
  [
    "no strategy's name",
    { scoringStrategy: {} },
    ['scoringStrategy.type: Unsupported value: "": supported values: "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"'],
  ],
  [
    "a curve for a strategy without",
    { scoringStrategy: { ...CURVE, type: "LeastAllocated" } },
    ["scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type is not RequestedToCapacityRatio"],
  ],
  [
    "no curve",
    { scoringStrategy: { type: "RequestedToCapacityRatio" } },
    ["scoringStrategy.requestedToCapacityRatio: Required value: must be specified when type is RequestedToCapacityRatio"],
  ],
  [
    "an empty curve",
    { scoringStrategy: { ...CURVE, requestedToCapacityRatio: {} } },
    ["scoringStrategy.requestedToCapacityRatio.shape: Required value: at least one point must be specified"],
  ],
  [
    "a curve that is none",
    {
      scoringStrategy: {
        ...CURVE,
        requestedToCapacityRatio: { shape: [{ utilization: -1, score: 11 }, { utilization: 101, score: -1 }, { utilization: 50 }] },
      },
    },
    [
      "scoringStrategy.requestedToCapacityRatio.shape[2].utilization: Invalid value: 50: values must be sorted in increasing order",
      "scoringStrategy.requestedToCapacityRatio.shape[0].utilization: Invalid value: -1: not in valid range [0, 100]",
      "scoringStrategy.requestedToCapacityRatio.shape[0].score: Invalid value: 11: not in valid range [0, 10]",
      "scoringStrategy.requestedToCapacityRatio.shape[1].utilization: Invalid value: 101: not in valid range [0, 100]",
      "scoringStrategy.requestedToCapacityRatio.shape[1].score: Invalid value: -1: not in valid range [0, 10]",
    ],
  ],
  [
    "names that are none",
    { ignoredResources: ["a/b/c"], ignoredResourceGroups: ["example.com/a"] },
    [
      "ignoredResources[0]: Invalid value: \"a/b/c\": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
      "ignoredResourceGroups[0]: Invalid value: \"example.com/a\": resource group name can't contain '/'",
    ],
  ],
];

for (const [what, written, problems] of ARGUMENTS) {
  test(`NodeResourcesFit's arguments with ${what} are ${problems.length === 0 ? "accepted" : "rejected"}`, () => {
    deepEqual(problemsOf(nodeResourcesFit, written), problems);
  });
}

function requesting(cpu: string): Container {
  return { name: "c", image: "web", resources: { requests: { cpu } } };
}
