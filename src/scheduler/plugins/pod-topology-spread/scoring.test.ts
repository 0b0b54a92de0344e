import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { TopologySpreadConstraint } from "../../../api/generated/core/v1.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import type { Plugin } from "../../framework/plugin.ts";
import { made, scored } from "../../framework/testing/call-plugin.ts";
import { aNode, aPod, nodeInfo, podInfo, snapshotOf, type PodParts } from "../../framework/testing/builders.ts";
import { aClusterView } from "../../framework/testing/changing-cluster.ts";
import { podTopologySpread } from "./pod-topology-spread.ts";

const ZONE = "topology.kubernetes.io/zone";
const HOST = "kubernetes.io/hostname";
const web: PodParts = { labels: { app: "web" } };
const service = { apiVersion: "v1" as const, kind: "Service" as const, metadata: { name: "s" }, spec: { selector: { app: "web" } } };

function plugin(args?: unknown): Plugin {
  return made(podTopologySpread, args, { cluster: aClusterView({ services: () => [service] }) });
}

function spread(topologyKey: string, more: Partial<TopologySpreadConstraint> = {}): TopologySpreadConstraint {
  return { topologyKey, maxSkew: 1, whenUnsatisfiable: "ScheduleAnyway", labelSelector: { matchLabels: { app: "web" } }, ...more };
}

let existing = 0;
/** A node with that many matching Pods. */
function node(count: number, zone?: string): NodeInfo {
  const pods = Array.from({ length: count }, () => aPod(`existing${existing++}`, web));
  return nodeInfo(aNode(`n${existing++}`, zone === undefined ? {} : { zone }), ...pods);
}

const ROWS: readonly { readonly when: string; readonly pod: PodParts; readonly nodes: readonly NodeInfo[]; readonly expected: unknown }[] =
  [
    {
      when: "a constraint must hold anyway",
      pod: { ...web, spread: [spread(HOST, { whenUnsatisfiable: "DoNotSchedule" })] },
      nodes: [node(1), node(0)],
      expected: "skip",
    },
    { when: "no such Pod is there", pod: { ...web, spread: [spread(HOST)] }, nodes: [node(0), node(0)], expected: [100, 100] },
    { when: "all nodes hold equally many", pod: { ...web, spread: [spread(HOST)] }, nodes: [node(1), node(1)], expected: [100, 100] },
    {
      when: "nodes hold 2/1/0/3",
      pod: { ...web, spread: [spread(HOST)] },
      nodes: [node(2), node(1), node(0), node(3)],
      expected: [20, 60, 100, 0],
    },
    {
      when: "a skew of 2 is fine",
      pod: { ...web, spread: [spread(HOST, { maxSkew: 2 })] },
      nodes: [node(2), node(1), node(0), node(3)],
      expected: [33, 66, 100, 16],
    },
    {
      when: "a skew of 3 is fine",
      pod: { ...web, spread: [spread(HOST, { maxSkew: 3 })] },
      nodes: [node(4), node(3), node(2), node(1)],
      expected: [44, 66, 77, 100],
    },
    {
      when: "a constraint has no selector",
      pod: { ...web, spread: [{ topologyKey: HOST, maxSkew: 1, whenUnsatisfiable: "ScheduleAnyway" }] },
      nodes: [node(2), node(0)],
      expected: [100, 100],
    },
    {
      when: "a node lacks the label",
      pod: { ...web, spread: [spread(ZONE)] },
      nodes: [node(1, "a"), node(0), node(0, "b")],
      expected: [0, 0, 100],
    },
    {
      when: "minDomains is set, which does not matter",
      pod: { ...web, spread: [spread(HOST, { minDomains: 9 })] },
      nodes: [node(2), node(1), node(0), node(3)],
      expected: [20, 60, 100, 0],
    },
    {
      when: "the Pod states nothing and nodes are in no zone",
      pod: web,
      nodes: [node(4), node(3), node(2), node(1)],
      expected: [44, 66, 77, 100],
    },
    { when: "the Pod states nothing and nothing selects it", pod: { labels: { app: "db" } }, nodes: [node(4), node(3)], expected: "skip" },
  ];

for (const { when, pod, nodes, expected } of ROWS) {
  test(`PodTopologySpread.score when ${when}`, () => deepEqual(scored(plugin(), aPod("newcomer", pod), nodes), expected));
}

test("Pods on infeasible nodes count for their zone, but their zones and nodes not for the weights", () => {
  const [a1, a2, b1, b2] = [node(2, "a"), node(1, "a"), node(2, "b"), node(4, "b")] as const;
  const pod = podInfo(aPod("newcomer", { ...web, spread: [spread(ZONE), spread(HOST)] }));
  const asked = plugin();
  const answer = asked.preScore?.(pod, [a1, b1], snapshotOf(a1, a2, b1, b2));

  const state = answer?.is === "ready" ? answer.state : undefined;
  const scores = Float64Array.from([a1, b1], (some) => asked.score?.(state, pod, some) ?? Number.NaN);
  asked.normalizeScores?.(state, pod, scores, [a1, b1]);

  deepEqual([...scores], [100, 63]);
});

test("with defaults of a list, nodes without a topology key get 0", () => {
  const args = { defaultingType: "List", defaultConstraints: [{ maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: "ScheduleAnyway" }] };

  deepEqual(scored(plugin(args), aPod("newcomer", web), [node(1, "a"), node(0), node(0, "b")]), [0, 0, 100]);
});
