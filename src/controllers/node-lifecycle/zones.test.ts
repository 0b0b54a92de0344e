import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "../../api/generated/core/v1.ts";
import { NODE_LIFECYCLE_DEFAULTS } from "./settings.ts";
import { evictionRate, planZones, zoneFacts, zoneState, type ZoneMemory } from "./zones.ts";

interface NodeParts {
  readonly ready?: "True" | "False" | "Unknown";
  readonly zone?: string;
  readonly since?: string;
  readonly evicts?: boolean;
  readonly excluded?: boolean;
}

function aNode(name: string, { ready, zone = "a", since = "2026-01-01T00:00:00Z", evicts, excluded }: NodeParts): Node {
  const labels = { "topology.kubernetes.io/zone": zone, ...(excluded === true ? { "node.kubernetes.io/exclude-disruption": "" } : {}) };
  const taints = evicts === true ? [{ key: "node.kubernetes.io/unreachable", effect: "NoExecute" as const }] : [];
  const conditions = ready === undefined ? [] : [{ type: "Ready", status: ready, lastTransitionTime: since }];
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels }, spec: { taints }, status: { conditions } };
}

function some(count: number, parts: NodeParts): readonly Node[] {
  return Array.from({ length: count }, (_, index) => aNode(`${parts.zone ?? "a"}-${parts.ready}-${index}`, parts));
}

const NOTHING: ZoneMemory = { lastGrantMs: new Map(), granted: new Set() };

function plan(nodes: readonly Node[], memory: Partial<ZoneMemory> = {}, nowMs = 100_000) {
  return planZones(nodes, NODE_LIFECYCLE_DEFAULTS, { ...NOTHING, ...memory }, nowMs);
}

for (const [ready, lost, state, rate] of [
  [3, 0, "Normal", 0.1],
  [0, 0, "Normal", 0.1],
  [1, 2, "Normal", 0.1],
  [3, 3, "Normal", 0.1],
  [2, 3, "PartialDisruption", 0],
  [22, 28, "PartialDisruption", 0],
  [22, 29, "PartialDisruption", 0.01],
  [0, 1, "FullDisruption", 0.1],
] as const) {
  test(`a zone with ${ready} ready and ${lost} lost Nodes is ${state} and evicted at ${rate} Nodes per second`, () => {
    const count = { ready, lost };
    equal(zoneState(count, NODE_LIFECYCLE_DEFAULTS), state);
    equal(evictionRate(state, count, NODE_LIFECYCLE_DEFAULTS), rate);
  });
}

test("the Node lost first gets the first eviction turn, and the next 10 s later", () => {
  const nodes = [
    ...some(3, { ready: "True" }),
    aNode("late", { ready: "Unknown", since: "2026-01-01T00:00:09Z" }),
    aNode("early", { ready: "False" }),
  ];

  deepEqual(plan(nodes), { isStopped: false, grants: [{ zone: ":a", node: "early" }], nextMs: 110_000 });
  const memory = { lastGrantMs: new Map([[":a", 100_000]]), granted: new Set(["early"]) };
  deepEqual(plan(nodes, memory, 105_000), { isStopped: false, grants: [], nextMs: 110_000 });
  deepEqual(plan(nodes, memory, 110_000), { isStopped: false, grants: [{ zone: ":a", node: "late" }], nextMs: undefined });
});

test("a Node that already has a NoExecute taint, or no status yet, waits for no turn", () => {
  const nodes = [...some(3, { ready: "True" }), aNode("done", { ready: "Unknown", evicts: true }), aNode("new", {})];
  deepEqual(plan(nodes), { isStopped: false, grants: [], nextMs: undefined });
});

test("zones are independent", () => {
  const nodes = ["a", "b"].flatMap((zone) => [...some(2, { zone, ready: "True" }), ...some(1, { zone, ready: "Unknown" })]);
  deepEqual(
    plan(nodes).grants.map(({ node }) => node),
    ["a-Unknown-0", "b-Unknown-0"],
  );
});

test("a zone lost as a whole is evicted while others are healthy, and nothing is if all are lost", () => {
  const lost = some(2, { zone: "a", ready: "Unknown" });
  equal(plan([...lost, ...some(1, { zone: "b", ready: "True" })]).grants.length, 1);
  deepEqual(plan([...lost, ...some(1, { zone: "b", ready: "False" })]), { isStopped: true, grants: [], nextMs: undefined });
});

test("a small zone that is mostly lost is not evicted", () => {
  deepEqual(plan([...some(2, { ready: "True" }), ...some(3, { ready: "Unknown" })]).grants, []);
});

test("excluded Nodes do not count for their zone", () => {
  const lost = some(3, { ready: "Unknown", excluded: true });
  equal(plan(lost).isStopped, false);
  equal(plan([...lost, ...some(1, { ready: "True" })]).grants.length, 1);
});

test("a heartbeat does not re-evaluate zones, and every relevant change does", () => {
  const node = aNode("n", { ready: "True" });
  const heartbeat = { ...node, status: { conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: "2026-01-01T00:00:10Z" }] } };
  equal(zoneFacts(heartbeat), zoneFacts(node));
  for (const parts of [
    { ready: "False" },
    { ready: "True", zone: "b" },
    { ready: "True", excluded: true },
    { ready: "True", evicts: true },
  ]) {
    equal(zoneFacts(aNode("n", parts as NodeParts)) === zoneFacts(node), false);
  }
});
