import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { TopologySpreadConstraint } from "../../../api/generated/core/v1.ts";
import { labelSelectorFromObject } from "../../../api/machinery/selectors/label-selector.ts";
import { rounds, testSeed } from "../../../testing/rounds.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import type { Plugin } from "../../framework/plugin.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import { made } from "../../framework/testing/call-plugin.ts";
import { aNode, aPod, nodeInfo, podInfo, type PodParts } from "../../framework/testing/builders.ts";
import { aClusterView, changes, ChangingCluster, possibilities, steps, verdicts } from "../../framework/testing/changing-cluster.ts";
import { podTopologySpread } from "./pod-topology-spread.ts";

function plugin(): Plugin {
  return made(podTopologySpread, undefined, { cluster: aClusterView() });
}

const podParts: fc.Arbitrary<PodParts> = fc
  .record({
    namespace: fc.constantFrom("blue", "blue", "blue", "red"),
    labels: fc.constantFrom<Record<string, string>>({ app: "web" }, { app: "web", tier: "front" }, { app: "db" }),
    isLeaving: fc.constantFrom(false, false, false, true),
  })
  .map(({ isLeaving, ...parts }) => ({ ...parts, ...(isLeaving && { deletedAt: "2026-01-01T00:00:00Z" }) }));
const constraint: fc.Arbitrary<TopologySpreadConstraint> = fc.record(
  {
    topologyKey: fc.constantFrom("topology.kubernetes.io/zone", "kubernetes.io/hostname"),
    whenUnsatisfiable: fc.constant("DoNotSchedule"),
    maxSkew: fc.integer({ min: 1, max: 2 }),
    labelSelector: fc.constantFrom(
      { matchLabels: { app: "web" } },
      { matchExpressions: [{ key: "tier", operator: "Exists" as const }] },
      {},
    ),
    minDomains: fc.integer({ min: 1, max: 3 }),
    nodeAffinityPolicy: fc.constantFrom("Honor", "Ignore"),
  },
  { requiredKeys: ["topologyKey", "whenUnsatisfiable", "maxSkew", "labelSelector"] },
);
const newcomerParts: fc.Arbitrary<PodParts> = fc
  .record({ parts: podParts, spread: fc.array(constraint, { minLength: 1, maxLength: 2 }), zone: fc.constantFrom(undefined, "zone1") })
  .map(({ parts: { namespace = "", labels = {} }, spread, zone }) => ({
    namespace,
    labels,
    spread,
    ...(zone !== undefined && { nodeSelector: { "topology.kubernetes.io/zone": zone } }),
  }));

/** The rule in the simplest form: one node at a time. */
function isAllowed(pod: PodInfo, target: NodeInfo, nodes: readonly NodeInfo[]): boolean {
  const constraints = pod.pod.spec?.topologySpreadConstraints ?? [];
  const hasAll = (node: NodeInfo): boolean => constraints.every(({ topologyKey }) => node.labels[topologyKey] !== undefined);
  const isSelected = (node: NodeInfo): boolean =>
    Object.entries(pod.pod.spec?.nodeSelector ?? {}).every(([key, value]) => node.labels[key] === value);
  return constraints.every(({ topologyKey, maxSkew, labelSelector, minDomains = 1, nodeAffinityPolicy = "Honor" }) => {
    const selector = labelSelectorFromObject(labelSelector);
    const isCounted = ({ pod: { metadata }, namespace, labels }: PodInfo): boolean =>
      namespace === pod.namespace && metadata.deletionTimestamp === undefined && !selector.isEverything && selector.matches(labels);
    const counted = nodes.filter((node) => hasAll(node) && (nodeAffinityPolicy === "Ignore" || isSelected(node)));
    const podsIn = (domain: string | undefined): number =>
      counted.filter(({ labels }) => labels[topologyKey] === domain).flatMap((node) => node.pods.filter(isCounted)).length;
    const domains = new Set(counted.map(({ labels }) => labels[topologyKey]));
    const lowest = domains.size < minDomains ? 0 : Math.min(...[...domains].map(podsIn));
    const own = target.labels[topologyKey];
    return own !== undefined && podsIn(own) + (selector.matches(pod.labels) ? 1 : 0) - lowest <= maxSkew;
  });
}

test("a placement is allowed if and only if no domain exceeds maxSkew, whatever the cluster's history", () => {
  const property = fc.property(steps(podParts), fc.array(newcomerParts, { minLength: 1, maxLength: 3 }), (all, newcomers) => {
    const kept = plugin();
    const changing = new ChangingCluster();
    for (const step of all) {
      changing.apply(step);
      for (const parts of newcomers) {
        const newcomer = aPod("newcomer", parts);
        deepEqual(
          verdicts(kept, newcomer, changing.nodes).map((verdict) => verdict === "fits"),
          changing.nodes.map((node) => isAllowed(podInfo(newcomer), node, changing.nodes)),
        );
      }
    }
  });
  fc.assert(property, { numRuns: rounds({ quick: 200, full: 5_000 }), seed: testSeed() });
});

test("an incrementally updated state equals a fresh one", () => {
  const property = fc.property(steps(podParts), newcomerParts, changes(podParts), (all, parts, changesMade) => {
    const changing = new ChangingCluster();
    for (const step of all) changing.apply(step);
    const newcomer = aPod("newcomer", parts);

    const possible = possibilities(plugin(), newcomer, changing.nodes, changesMade);

    fc.pre(possible.length > 0);
    for (const { verdicts: found, nodes } of possible) deepEqual(found(), verdicts(plugin(), newcomer, nodes));
  });
  fc.assert(property, { numRuns: rounds({ quick: 200, full: 3_000 }), seed: testSeed() });
});

test("Pods whose constraints differ in another key do not share counts: other nodes are eligible for them", () => {
  const [hosts, zones] = ["kubernetes.io/hostname", "topology.kubernetes.io/zone"].map((topologyKey): TopologySpreadConstraint => ({
    topologyKey,
    maxSkew: 1,
    whenUnsatisfiable: "DoNotSchedule",
    labelSelector: { matchLabels: { app: "web" } },
  })) as [TopologySpreadConstraint, TopologySpreadConstraint];
  const web = { labels: { app: "web" } };
  const nodes = [nodeInfo(aNode("n1", { zone: "a" }), aPod("p", web)), nodeInfo(aNode("n2"))];
  const kept = plugin();
  const areAllowed = (...spread: readonly TopologySpreadConstraint[]): boolean[] =>
    verdicts(kept, aPod("newcomer", { ...web, spread }), nodes).map((verdict) => verdict === "fits");

  deepEqual(
    [areAllowed(hosts), areAllowed(hosts, zones), areAllowed(hosts)],
    [
      [false, true],
      [true, false],
      [false, true],
    ],
  );
});

test("scores from maintained counts equal those of a fresh plugin", () => {
  const wishes = newcomerParts.map((parts) => ({
    ...parts,
    spread: (parts.spread ?? []).map((some) => ({ ...some, whenUnsatisfiable: "ScheduleAnyway" as const })),
  }));
  const property = fc.property(steps(podParts), wishes, (all, parts) => {
    const kept = plugin();
    const changing = new ChangingCluster();
    for (const step of all) {
      changing.apply(step);
      deepEqual(scoresOf(kept, aPod("newcomer", parts), changing.nodes), scoresOf(plugin(), aPod("newcomer", parts), changing.nodes));
    }
  });
  fc.assert(property, { numRuns: rounds({ quick: 100, full: 1_000 }), seed: testSeed() });
});

/** Before normalisation. */
function scoresOf(asked: Plugin, pod: ReturnType<typeof aPod>, nodes: readonly NodeInfo[]): readonly number[] {
  const info = podInfo(pod);
  const snapshot = {
    nodes,
    get: () => undefined,
    nodesWithAffinityPods: [],
    nodesWithRequiredAntiAffinityPods: [],
    claimUses: () => 0,
    generation: 0,
  };
  const answer = asked.preScore?.(info, nodes, snapshot);
  return nodes.map((node) => (answer?.is === "ready" ? (asked.score?.(answer.state, info, node) ?? Number.NaN) : 0));
}
