import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { Node, Taint } from "../../api/generated/core/v1.ts";
import { plannedLabels, plannedTaints, type EvictionLeave } from "./node-marks.ts";

const NOW_MS = Date.parse("2026-01-01T00:00:00Z");
const LEAVE: EvictionLeave = { isGranted: true, isStopped: false };
const NO_LEAVE: EvictionLeave = { isGranted: false, isStopped: false };
const STOPPED: EvictionLeave = { isGranted: true, isStopped: true };

/** "unreachable:NoExecute" is short for the taint of that name. */
function taintOf(text: string): Taint {
  const [key = "", effect] = text.split(":");
  return { key: key.includes("/") ? key : `node.kubernetes.io/${key}`, effect: effect as Taint["effect"] };
}

function aNode(conditions: Readonly<Record<string, string>>, taints: readonly string[], unschedulable = false): Node {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n" },
    spec: { taints: taints.map(taintOf), ...(unschedulable ? { unschedulable } : {}) },
    status: { conditions: Object.entries(conditions).map(([type, status]) => ({ type, status })) },
  };
}

function textOf({ key, effect }: Taint): string {
  return `${key.replace("node.kubernetes.io/", "")}:${effect}`;
}

const CASES: readonly {
  readonly it: string;
  readonly conditions: Readonly<Record<string, string>>;
  readonly has?: readonly string[];
  readonly leave?: EvictionLeave;
  readonly unschedulable?: true;
  /** Undefined: no change. */
  readonly gets: readonly string[] | undefined;
}[] = [
  { it: "that is well has none", conditions: { Ready: "True", MemoryPressure: "False" }, gets: undefined },
  {
    it: "under pressure keeps Pods away",
    conditions: { Ready: "True", MemoryPressure: "True", DiskPressure: "True", PIDPressure: "True" },
    gets: ["memory-pressure:NoSchedule", "disk-pressure:NoSchedule", "pid-pressure:NoSchedule"],
  },
  { it: "without a network keeps Pods away", conditions: { NetworkUnavailable: "True" }, gets: ["network-unavailable:NoSchedule"] },
  { it: "that is unschedulable keeps Pods away", conditions: {}, unschedulable: true, gets: ["unschedulable:NoSchedule"] },
  { it: "that is usable again does not", conditions: {}, has: ["unschedulable:NoSchedule"], gets: [] },
  {
    it: "that is not ready drives Pods out if it has leave",
    conditions: { Ready: "False" },
    gets: ["not-ready:NoSchedule", "not-ready:NoExecute"],
  },
  {
    it: "that is lost drives Pods out if it has leave",
    conditions: { Ready: "Unknown" },
    gets: ["unreachable:NoSchedule", "unreachable:NoExecute"],
  },
  {
    it: "that is lost only keeps Pods away without leave",
    conditions: { Ready: "Unknown" },
    leave: NO_LEAVE,
    gets: ["unreachable:NoSchedule"],
  },
  {
    it: "changes its trouble without leave",
    conditions: { Ready: "False" },
    leave: NO_LEAVE,
    has: ["unreachable:NoSchedule", "unreachable:NoExecute"],
    gets: ["not-ready:NoSchedule", "not-ready:NoExecute"],
  },
  {
    it: "keeps its trouble without leave",
    conditions: { Ready: "False" },
    leave: NO_LEAVE,
    has: ["not-ready:NoSchedule", "not-ready:NoExecute"],
    gets: undefined,
  },
  { it: "that is back has none", conditions: { Ready: "True" }, has: ["unreachable:NoSchedule", "unreachable:NoExecute"], gets: [] },
  {
    it: "keeps its Pods while everything is lost",
    conditions: { Ready: "Unknown" },
    leave: STOPPED,
    has: ["unreachable:NoSchedule", "unreachable:NoExecute"],
    gets: ["unreachable:NoSchedule"],
  },
  {
    it: "of which nothing is known yet takes Pods, and keeps what drives them out",
    conditions: {},
    has: ["not-ready:NoSchedule", "not-ready:NoExecute"],
    gets: ["not-ready:NoExecute"],
  },
  {
    it: "keeps what others put there",
    conditions: { Ready: "Unknown" },
    leave: NO_LEAVE,
    has: ["x/y:NoExecute", "not-ready:PreferNoSchedule"],
    gets: ["x/y:NoExecute", "not-ready:PreferNoSchedule", "unreachable:NoSchedule"],
  },
];

for (const { it, conditions, has = [], leave = LEAVE, unschedulable, gets } of CASES) {
  test(`a Node ${it}`, () => {
    deepEqual(plannedTaints(aNode(conditions, has, unschedulable), leave, NOW_MS)?.map(textOf), gets);
  });
}

test("a new taint has timeAdded, and existing ones keep theirs", () => {
  const old = { key: "a/b", effect: "NoExecute", timeAdded: "2025-01-01T00:00:00Z" } as const;
  const node = aNode({ Ready: "Unknown" }, []);
  deepEqual(plannedTaints({ ...node, spec: { taints: [old] } }, NO_LEAVE, NOW_MS), [
    old,
    { key: "node.kubernetes.io/unreachable", effect: "NoSchedule", timeAdded: "2026-01-01T00:00:00Z" },
  ]);
});

for (const [it, labels, planned] of [
  [
    "are added",
    { "kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64" },
    { "beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "arm64" },
  ],
  ["are corrected", { "kubernetes.io/os": "linux", "beta.kubernetes.io/os": "windows" }, { "beta.kubernetes.io/os": "linux" }],
  ["stay if the new ones are not there", { "beta.kubernetes.io/os": "windows" }, undefined],
  ["stay if they are right", { "kubernetes.io/os": "linux", "beta.kubernetes.io/os": "linux" }, undefined],
] as const) {
  test(`the deprecated labels of a Node ${it}`, () => {
    deepEqual(plannedLabels({ apiVersion: "v1", kind: "Node", metadata: { name: "n", labels } }), planned);
  });
}
