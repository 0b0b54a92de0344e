import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Namespace, PodAffinityTerm } from "../../../api/generated/core/v1.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import type { Plugin } from "../../framework/plugin.ts";
import type { AffinityTerm, PodInfo } from "../../framework/pod-info.ts";
import { rounds, testSeed } from "../../../testing/rounds.ts";
import { made } from "../../framework/testing/call-plugin.ts";
import { aPod, podInfo, type PodParts } from "../../framework/testing/builders.ts";
import { aClusterView, changes, ChangingCluster, possibilities, steps, verdicts } from "../../framework/testing/changing-cluster.ts";
import { interPodAffinity } from "./inter-pod-affinity.ts";

const NAMESPACES: readonly Namespace[] = ["blue", "red"].map((name) => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, labels: { team: name } },
}));
const cluster = aClusterView({ namespaces: () => NAMESPACES });

function plugin(): Plugin {
  return made(interPodAffinity, undefined, { cluster });
}

const labels = fc.constantFrom<Record<string, string>>({ app: "web" }, { app: "db" }, { app: "web", tier: "front" }, {});
const term: fc.Arbitrary<PodAffinityTerm> = fc.record(
  {
    topologyKey: fc.constantFrom("topology.kubernetes.io/zone", "kubernetes.io/hostname"),
    labelSelector: fc.constantFrom(
      { matchLabels: { app: "web" } },
      { matchExpressions: [{ key: "tier", operator: "Exists" as const }] },
      {},
    ),
    namespaces: fc.constantFrom(["blue"], ["red", "blue"]),
    namespaceSelector: fc.constantFrom({}, { matchLabels: { team: "red" } }),
  },
  { requiredKeys: ["topologyKey"] },
);
const someTerms = fc.array(term, { maxLength: 2 });
const podParts: fc.Arbitrary<PodParts> = fc
  .record({ namespace: fc.constantFrom("blue", "red"), labels, near: someTerms, away: someTerms })
  .map(({ near, away, ...parts }) => ({
    ...parts,
    affinity: {
      podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: near },
      podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: away },
    },
  }));

/** The rules in the simplest form: one Pod and one node at a time. */
function isAllowed(pod: PodInfo, target: NodeInfo, nodes: readonly NodeInfo[]): boolean {
  const others = nodes.flatMap((node) => node.pods.map((other) => ({ other, node })));
  const shares = (node: NodeInfo, key: string): boolean => target.labels[key] !== undefined && target.labels[key] === node.labels[key];
  const friends = others.filter(({ other }) => pod.requiredAffinity.every((some) => covers(some, other)));
  const isFirst = !friends.some(({ node }) => pod.requiredAffinity.some(({ topologyKey }) => node.labels[topologyKey] !== undefined));
  const isNear = pod.requiredAffinity.every(
    ({ topologyKey }) =>
      target.labels[topologyKey] !== undefined &&
      (friends.some(({ node }) => shares(node, topologyKey)) || (isFirst && pod.requiredAffinity.every((some) => covers(some, pod)))),
  );
  return (
    isNear &&
    !others.some(({ other, node }) => pod.requiredAntiAffinity.some((some) => covers(some, other) && shares(node, some.topologyKey))) &&
    !others.some(({ other, node }) => other.requiredAntiAffinity.some((some) => covers(some, pod) && shares(node, some.topologyKey)))
  );
}

function covers({ namespaces, namespaceSelector, selector }: AffinityTerm, { namespace, labels: ofPod }: PodInfo): boolean {
  return (namespaces.has(namespace) || namespaceSelector.matches({ team: namespace })) && selector.matches(ofPod);
}

test("a placement is allowed if and only if it violates no required rule, whatever the cluster's history", () => {
  const property = fc.property(steps(podParts), fc.array(podParts, { minLength: 1, maxLength: 3 }), (all, newcomers) => {
    const kept = plugin();
    const changing = new ChangingCluster();
    for (const step of all) {
      changing.apply(step);
      for (const parts of newcomers) {
        const newcomer = aPod("newcomer", parts);
        const found = verdicts(kept, newcomer, changing.nodes).map((verdict) => verdict === "fits");
        deepEqual(
          found,
          changing.nodes.map((node) => isAllowed(podInfo(newcomer), node, changing.nodes)),
        );
      }
    }
  });
  fc.assert(property, { numRuns: rounds({ quick: 100, full: 2_000 }), seed: testSeed() });
});

test("an incrementally updated state equals a fresh one", () => {
  const property = fc.property(steps(podParts), podParts, changes(podParts), (all, parts, changesMade) => {
    const changing = new ChangingCluster();
    for (const step of all) changing.apply(step);
    const newcomer = aPod("newcomer", parts);

    const possible = possibilities(plugin(), newcomer, changing.nodes, changesMade);

    fc.pre(possible.length > 0);
    for (const { verdicts: found, nodes } of possible) deepEqual(found(), verdicts(plugin(), newcomer, nodes));
  });
  fc.assert(property, { numRuns: rounds({ quick: 200, full: 3_000 }), seed: testSeed() });
});

test("scores from maintained sums equal those of a fresh plugin", () => {
  const wishes = podParts.chain((parts) =>
    fc.tuple(someTerms, someTerms, fc.integer({ min: 1, max: 100 })).map(([near, away, weight]): PodParts => {
      const weighted = (terms: readonly PodAffinityTerm[]) => terms.map((podAffinityTerm) => ({ weight, podAffinityTerm }));
      return {
        ...parts,
        affinity: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution:
              parts.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [],
            preferredDuringSchedulingIgnoredDuringExecution: weighted(near),
          },
          podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: weighted(away) },
        },
      };
    }),
  );
  const property = fc.property(steps(wishes), wishes, (all, parts) => {
    const kept = plugin();
    const changing = new ChangingCluster();
    for (const step of all) {
      changing.apply(step);
      deepEqual(scoresOf(kept, aPod("newcomer", parts), changing.nodes), naiveScores(podInfo(aPod("newcomer", parts)), changing.nodes));
    }
  });
  fc.assert(property, { numRuns: rounds({ quick: 100, full: 2_000 }), seed: testSeed() });
});

/** Before normalisation. */
function scoresOf(kept: Plugin, pod: ReturnType<typeof aPod>, nodes: readonly NodeInfo[]): number[] {
  const info = podInfo(pod);
  const answer = kept.preScore?.(info, nodes, {
    nodes,
    get: () => undefined,
    nodesWithAffinityPods: [],
    nodesWithRequiredAntiAffinityPods: [],
    claimUses: () => 0,
    generation: 0,
  });
  // "+ 0" turns -0, of which deepEqual thinks as another number, into 0.
  return nodes.map((node) => (answer?.is === "ready" ? (kept.score?.(answer.state, info, node) ?? Number.NaN) : 0) + 0);
}

function naiveScores(pod: PodInfo, nodes: readonly NodeInfo[]): number[] {
  return nodes.map((target) => {
    let score = 0;
    for (const node of nodes) {
      const shares = (key: string): boolean => target.labels[key] !== undefined && target.labels[key] === node.labels[key];
      for (const other of node.pods) {
        for (const { term: some, weight } of pod.preferredAffinity) if (covers(some, other) && shares(some.topologyKey)) score += weight;
        for (const { term: some, weight } of pod.preferredAntiAffinity)
          if (covers(some, other) && shares(some.topologyKey)) score -= weight;
        for (const { term: some, weight } of other.preferredAffinity) if (covers(some, pod) && shares(some.topologyKey)) score += weight;
        for (const { term: some, weight } of other.preferredAntiAffinity)
          if (covers(some, pod) && shares(some.topologyKey)) score -= weight;
        for (const some of other.requiredAffinity) if (covers(some, pod) && shares(some.topologyKey)) score += 1;
      }
    }
    return score;
  });
}
