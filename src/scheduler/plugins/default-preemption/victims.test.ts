import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { PodDisruptionBudget } from "../../../api/generated/policy/v1.ts";
import { seededRandom } from "../../../base/random.ts";
import { rounds, testSeed } from "../../../testing/rounds.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import { aNode, aPod, nodeInfo, podInfo } from "../../framework/testing/builders.ts";
import { DisruptionBudgets } from "./disruption-budgets.ts";
import { findCandidate, type Found } from "./find-candidate.ts";
import { Rankings } from "./importance.ts";
import { aBudget } from "./testing/preemption.ts";
import { refusalOf, whatIfOf } from "./testing/what-if.ts";
import { selectVictims, type Candidate } from "./victims.ts";

interface World {
  readonly pod: PodInfo;
  readonly nodes: readonly NodeInfo[];
  readonly budgets: readonly PodDisruptionBudget[];
}

const APPS = ["web", "cache"];

const aWorld: fc.Arbitrary<World> = fc
  .record({
    priority: fc.integer({ min: -2, max: 3 }),
    cpu: fc.integer({ min: 1, max: 4 }),
    nodes: fc.array(
      fc.array(
        fc.record({
          cpu: fc.integer({ min: 0, max: 3 }),
          priority: fc.integer({ min: -3, max: 3 }),
          app: fc.constantFrom(...APPS, undefined),
          second: fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }),
        }),
        { maxLength: 7 },
      ),
      { minLength: 1, maxLength: 5 },
    ),
    allowed: fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 2 })),
  })
  .map(({ priority, cpu, nodes, allowed }) => ({
    pod: podInfo(aPod("high", { priority, cpu: `${cpu}` })),
    nodes: nodes.map((pods, index) => nodeInfo(aNode(`n${index}`), ...pods.map((parts, place) => podOf(`p${index}-${place}`, parts)))),
    budgets: APPS.map((app, index) => aBudget(app, allowed[index] ?? 0, { app })),
  }));

function podOf(
  name: string,
  { cpu, priority, app, second }: { cpu: number; priority: number; app: string | undefined; second: number | undefined },
): Pod {
  const labels = app === undefined ? {} : { labels: { app } };
  const startedAt = second === undefined ? {} : { startedAt: `2026-01-01T00:00:0${second}Z` };
  return aPod(name, { cpu: `${cpu}`, priority, ...labels, ...startedAt });
}

function find({ pod, nodes, budgets }: World): Found {
  const whatIf = whatIfOf(pod, ...nodes);
  const search = { pod, whatIf, base: whatIf.base(), rankings: new Rankings(), budgets: budgetsOf(budgets) };
  return findCandidate(search, { args: { minCandidateNodesPercentage: 100, minCandidateNodesAbsolute: 1 }, random: seededRandom(1) });
}

function budgetsOf(budgets: readonly PodDisruptionBudget[]): DisruptionBudgets {
  return new DisruptionBudgets({ podDisruptionBudgets: () => budgets });
}

/** Each node by itself, examined completely. */
function candidates({ pod, nodes, budgets }: World): readonly Candidate[] {
  const whatIf = whatIfOf(pod, ...nodes);
  const search = { pod, whatIf, base: whatIf.base(), rankings: new Rankings(), budgets: budgetsOf(budgets) };
  return whatIf.resolvableNodes.flatMap((node) => {
    const answer = selectVictims(search, node, undefined);
    return answer.is === "candidate" ? [answer.candidate] : [];
  });
}

function forAllWorlds(claim: (world: World, found: Candidate | undefined) => void): void {
  const property = fc.property(aWorld, (world) => {
    const found = find(world);
    claim(world, found.is === "candidate" ? found.candidate : undefined);
  });
  fc.assert(property, { seed: testSeed(), numRuns: rounds({ quick: 300, full: 20_000 }) });
}

test("no victim has the same or a higher priority, the Pod fits without them, and would not if any of them stayed", () => {
  let found = 0;
  forAllWorlds(({ pod, nodes }, candidate) => {
    if (candidate === undefined) return;
    found++;
    const node = nodes.find(({ name }) => name === candidate.nodeName) as NodeInfo;
    const cleared = node.withoutPods(candidate.victims);
    ok(candidate.victims.every(({ priority }) => priority < pod.priority));
    ok(candidate.victims.every((victim) => node.pods.includes(victim)));
    equal(refusalOf(pod, cleared), undefined);
    for (const victim of candidate.victims) ok(refusalOf(pod, cleared.withPod(victim)) !== undefined, `${victim.key} could have stayed`);
  });
  ok(found > 50, "there were worlds to speak of");
});

test("if the Pod would fit on any node without its less important Pods, preemption succeeds", () => {
  forAllWorlds(({ pod, nodes }, candidate) => {
    const areFree = nodes.some((node) => refusalOf(pod, node) === undefined);
    const isPossible = nodes.some(
      (node) => refusalOf(pod, node.withoutPods(node.pods.filter(({ priority }) => priority < pod.priority))) === undefined,
    );
    if (!areFree) equal(candidate !== undefined, isPossible);
  });
});

test("no budget is violated if a node can do without, and early skipping changes no choice", () => {
  let kept = 0;
  forAllWorlds((world, chosen) => {
    const all = candidates(world);
    if (all.some(({ cost }) => cost.violations === 0)) {
      kept++;
      equal(chosen?.cost.violations, 0);
    }
    ok(!all.some(({ cost }) => chosen !== undefined && cost.isBelow(chosen.cost)), "another node would have cost less");
    const same = all.find(({ nodeName }) => nodeName === chosen?.nodeName);
    deepEqual(
      chosen?.victims.map(({ key }) => key),
      same?.victims.map(({ key }) => key),
    );
  });
  ok(kept > 50, "there were worlds to speak of");
});

test("victims are ordered by importance", () => {
  forAllWorlds((world, candidate) => {
    if (candidate === undefined) return;
    const node = world.nodes.find(({ name }) => name === candidate.nodeName) as NodeInfo;
    const ranked = new Rankings().below(world.pod.priority, node);
    deepEqual(
      candidate.victims,
      ranked.filter((pod) => candidate.victims.includes(pod)),
    );
  });
});
