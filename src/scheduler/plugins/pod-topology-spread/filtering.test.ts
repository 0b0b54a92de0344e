import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { TopologySpreadConstraint } from "../../../api/generated/core/v1.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import type { ClusterView } from "../../framework/plugin.ts";
import { filtered, made } from "../../framework/testing/call-plugin.ts";
import { aNode, aPod, nodeInfo, type NodeParts, type PodParts } from "../../framework/testing/builders.ts";
import { aClusterView, verdicts } from "../../framework/testing/changing-cluster.ts";
import { podTopologySpread } from "./pod-topology-spread.ts";

const AHEAD = "node(s) didn't match pod topology spread constraints";
const NO_LABEL = "node(s) didn't match pod topology spread constraints (missing required label)";
const fits = "fits";

const ZONE = "topology.kubernetes.io/zone";
const HOST = "kubernetes.io/hostname";

function spread(topologyKey: string, more: Partial<TopologySpreadConstraint> = {}): TopologySpreadConstraint {
  return { topologyKey, maxSkew: 1, whenUnsatisfiable: "DoNotSchedule", labelSelector: { matchLabels: { app: "web" } }, ...more };
}

const web: PodParts = { labels: { app: "web" } };
const db: PodParts = { labels: { app: "db" } };

interface OnNode extends NodeParts {
  readonly on?: readonly PodParts[];
}

let existing = 0;
function nodes(all: readonly OnNode[]): readonly NodeInfo[] {
  return all.map(({ on = [], ...parts }, index) =>
    nodeInfo(aNode(`n${index}`, parts), ...on.map((pod) => aPod(`existing${existing++}`, pod))),
  );
}

function times(count: number, pod: PodParts = web): readonly PodParts[] {
  return Array.from({ length: count }, () => pod);
}

/** Nodes with that many Pods each, each in its own zone by default. */
function withPods(...counts: readonly number[]): readonly OnNode[] {
  return counts.map((count, index) => ({ zone: `z${index}`, on: times(count) }));
}

interface Row {
  readonly when: string;
  readonly args?: unknown;
  readonly cluster?: Partial<ClusterView>;
  readonly pod: PodParts;
  readonly nodes: readonly OnNode[];
  readonly expected: readonly string[];
}

const ssd = { labels: { disk: "ssd" } };
const dedicated = { taints: [{ key: "dedicated", effect: "NoSchedule" as const }] };
const service = { apiVersion: "v1" as const, kind: "Service" as const, metadata: { name: "s" }, spec: { selector: { app: "web" } } };
const hardZones = { defaultingType: "List", defaultConstraints: [{ maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: "DoNotSchedule" }] };

const ROWS: readonly Row[] = [
  { when: "no Pod matches yet", pod: { ...web, spread: [spread(ZONE)] }, nodes: withPods(0, 0), expected: [fits, fits] },
  { when: "a zone is ahead", pod: { ...web, spread: [spread(ZONE)] }, nodes: withPods(1, 0), expected: [AHEAD, fits] },
  {
    when: "a zone may be ahead by two",
    pod: { ...web, spread: [spread(ZONE, { maxSkew: 2 })] },
    nodes: withPods(2, 1, 0),
    expected: [AHEAD, fits, fits],
  },
  {
    when: "nodes hold 2/1/0/3",
    pod: { ...web, spread: [spread(HOST)] },
    nodes: withPods(2, 1, 0, 3),
    expected: [AHEAD, AHEAD, fits, AHEAD],
  },
  {
    when: "the Pod does not match its own selector",
    pod: { ...db, spread: [spread(HOST)] },
    nodes: withPods(2, 1, 0, 3),
    expected: [AHEAD, fits, fits, AHEAD],
  },
  {
    when: "Pods of a zone are on several nodes",
    pod: { ...web, spread: [spread(ZONE)] },
    nodes: [
      { zone: "a", on: [web] },
      { zone: "a", on: [web] },
      { zone: "b", on: [web] },
    ],
    expected: [AHEAD, AHEAD, fits],
  },
  {
    when: "Pods of another namespace are there",
    pod: { ...web, spread: [spread(ZONE)] },
    nodes: [{ zone: "a", on: times(3, { ...web, namespace: "other" }) }, { zone: "b" }],
    expected: [fits, fits],
  },
  {
    when: "matching Pods are terminating",
    pod: { ...web, spread: [spread(ZONE)] },
    nodes: [{ zone: "a", on: times(3, { ...web, deletedAt: "2026-01-01T00:00:00Z" }) }, { zone: "b" }],
    expected: [fits, fits],
  },
  {
    when: "a constraint has no selector, which matches nothing",
    pod: { ...web, spread: [{ topologyKey: ZONE, maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" }] },
    nodes: withPods(3, 0),
    expected: [fits, fits],
  },
  {
    when: "a selector is empty, which matches nothing",
    pod: { ...web, spread: [spread(ZONE, { labelSelector: {} })] },
    nodes: withPods(3, 0),
    expected: [fits, fits],
  },
  {
    when: "a node lacks the label",
    pod: { ...web, spread: [spread(ZONE)] },
    nodes: [{ zone: "a", on: [web] }, {}, { zone: "b" }],
    expected: [AHEAD, NO_LABEL, fits],
  },
  { when: "all nodes lack the label", pod: { ...web, spread: [spread("rack")] }, nodes: withPods(0, 0), expected: [NO_LABEL, NO_LABEL] },
  {
    when: "a node that lacks one of two labels does not count for the other",
    pod: { ...web, spread: [spread(ZONE), spread(HOST)] },
    nodes: [{ zone: "a", on: [web] }, { on: [] }, { zone: "b", on: [web] }],
    expected: [fits, NO_LABEL, fits],
  },
  {
    when: "two constraints hold and refuse different nodes",
    pod: { ...web, spread: [spread(ZONE), spread(HOST)] },
    nodes: [{ zone: "a", on: times(2) }, { zone: "a", on: [web] }, { zone: "b" }, { zone: "b", on: times(3) }],
    expected: [AHEAD, AHEAD, fits, AHEAD],
  },
  {
    when: "a constraint is soft",
    pod: { ...web, spread: [spread(ZONE, { whenUnsatisfiable: "ScheduleAnyway" })] },
    nodes: withPods(3, 0),
    expected: [fits, fits],
  },
  {
    when: "there are fewer domains than minDomains",
    pod: { ...web, spread: [spread(ZONE, { maxSkew: 2, minDomains: 4 })] },
    nodes: withPods(2, 2, 1),
    expected: [AHEAD, AHEAD, fits],
  },
  {
    when: "there are as many domains as minDomains",
    pod: { ...web, spread: [spread(ZONE, { maxSkew: 2, minDomains: 3 })] },
    nodes: withPods(2, 2, 1),
    expected: [fits, fits, fits],
  },
  {
    when: "a node that its node selector excludes does not count",
    pod: { ...web, nodeSelector: { disk: "ssd" }, spread: [spread(ZONE)] },
    nodes: [{ ...ssd, zone: "a", on: times(1) }, { ...ssd, zone: "b", on: times(1) }, { zone: "c" }],
    expected: [fits, fits, fits],
  },
  {
    when: "nodeAffinityPolicy is Ignore, and a node that its node selector excludes counts",
    pod: { ...web, nodeSelector: { disk: "ssd" }, spread: [spread(ZONE, { nodeAffinityPolicy: "Ignore" })] },
    nodes: [{ ...ssd, zone: "a", on: times(1) }, { ...ssd, zone: "b", on: times(1) }, { zone: "c" }],
    expected: [AHEAD, AHEAD, fits],
  },
  {
    when: "a node that its node affinity excludes does not count",
    pod: {
      ...web,
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: "disk", operator: "Exists" }] }],
          },
        },
      },
      spread: [spread(ZONE)],
    },
    nodes: [{ ...ssd, zone: "a", on: times(1) }, { zone: "c" }],
    expected: [fits, fits],
  },
  {
    when: "a node with a taint counts",
    pod: { ...web, spread: [spread(ZONE)] },
    nodes: [
      { zone: "a", on: [web] },
      { ...dedicated, zone: "b" },
    ],
    expected: [AHEAD, fits],
  },
  {
    when: "nodeTaintsPolicy is Honor, and a node with a taint does not count",
    pod: { ...web, spread: [spread(ZONE, { nodeTaintsPolicy: "Honor" })] },
    nodes: [
      { zone: "a", on: [web] },
      { ...dedicated, zone: "b" },
    ],
    expected: [fits, fits],
  },
  {
    when: "a node with a taint that it tolerates counts",
    pod: { ...web, tolerations: [{ key: "dedicated", operator: "Exists" }], spread: [spread(ZONE, { nodeTaintsPolicy: "Honor" })] },
    nodes: [
      { zone: "a", on: [web] },
      { ...dedicated, zone: "b" },
    ],
    expected: [AHEAD, fits],
  },
  {
    when: "a taint is PreferNoSchedule",
    pod: { ...web, spread: [spread(ZONE, { nodeTaintsPolicy: "Honor" })] },
    nodes: [
      { zone: "a", on: [web] },
      { taints: [{ key: "slow", effect: "PreferNoSchedule" }], zone: "b" },
    ],
    expected: [AHEAD, fits],
  },
  {
    when: "only Pods of its revision count",
    pod: { labels: { app: "web", rev: "2" }, spread: [spread(ZONE, { matchLabelKeys: ["rev", "absent"] })] },
    nodes: [
      { zone: "a", on: times(3) },
      { zone: "b", on: [{ labels: { app: "web", rev: "2" } }] },
    ],
    expected: [fits, AHEAD],
  },
  {
    when: "a default applies and a Service selects the Pod",
    args: hardZones,
    cluster: { services: () => [service] },
    pod: web,
    nodes: withPods(1, 0),
    expected: [AHEAD, fits],
  },
  { when: "a default applies and nothing selects the Pod", args: hardZones, pod: web, nodes: withPods(1, 0), expected: [fits, fits] },
  {
    when: "a default applies, but the Pod has its own",
    args: hardZones,
    cluster: { services: () => [service] },
    pod: { ...web, spread: [spread(ZONE, { maxSkew: 3 })] },
    nodes: withPods(1, 0),
    expected: [fits, fits],
  },
];

for (const { when, args, cluster, pod, nodes: all, expected } of ROWS) {
  test(`PodTopologySpread.filter when ${when}`, () => {
    const plugin = made(podTopologySpread, args, { cluster: aClusterView(cluster) });

    deepEqual(verdicts(plugin, aPod("newcomer", pod), nodes(all)), expected);
  });
}

test("removing Pods from a node may resolve skew, never a missing label", () => {
  const plugin = made(podTopologySpread, undefined, { cluster: aClusterView() });
  const [ahead] = nodes([{ zone: "a", on: [web] }]) as [NodeInfo];
  const [unlabelled] = nodes([{}]) as [NodeInfo];
  const pod = aPod("newcomer", { ...web, spread: [spread(ZONE, { minDomains: 2 })] });

  deepEqual(
    [filtered(plugin, pod, ahead), filtered(plugin, pod, unlabelled)],
    [
      { reasons: [AHEAD], resolvable: true },
      { reasons: [NO_LABEL], resolvable: false },
    ],
  );
});

test("the filter skips a Pod without hard constraints", () => {
  const plugin = made(podTopologySpread, undefined, { cluster: aClusterView({ services: () => [service] }) });

  deepEqual(filtered(plugin, aPod("newcomer", web), nodes(withPods(3))[0] as NodeInfo), "skip");
});
