import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import type { Plugin } from "../framework/plugin.ts";
import { type Decision, decide } from "./decide.ts";
import { fakeCycleInput, fakePod, fakeProfile, fakeTurns, narrowing, nodeNames, refusing, rejection } from "./testing/fakes.ts";

const flat: Plugin = { name: "Flat", score: () => 1 };

function placement(decision: Decision): string | undefined {
  return decision.is === "placed" ? decision.nodeName : undefined;
}

function diagnosis(decision: Decision) {
  ok(decision.is === "unschedulable");
  return decision.diagnosis;
}

test("the best feasible node is chosen, and the rejections of the others are recorded", () => {
  const likes: Plugin = { name: "Likes", score: (_state, _pod, node) => (node.name === "n2" ? 90 : 10) };
  const profile = fakeProfile([refusing("Fit", "full", "n0", "n3"), likes], { weights: { Likes: 2 } });

  const decision = decide(profile, fakePod("p"), fakeCycleInput(4), fakeTurns());

  deepEqual(decision, {
    is: "placed",
    nodeName: "n2",
    evaluated: 4,
    feasible: 2,
    refused: [{ plugin: "Fit", reason: "full", nodes: 2, examples: ["n0", "n3"] }],
    scores: [
      { nodeName: "n2", total: 180, byPlugin: [{ plugin: "Likes", score: 180 }] },
      { nodeName: "n1", total: 20, byPlugin: [{ plugin: "Likes", score: 20 }] },
    ],
  });
});

test("a single feasible node is chosen without scoring", () => {
  const never: Plugin = { name: "Never", score: () => Number.NaN };
  const decision = decide(fakeProfile([refusing("Fit", "full", "n0"), never]), fakePod("p"), fakeCycleInput(2), fakeTurns());
  deepEqual([placement(decision), decision.is === "placed" && decision.scores], ["n1", []]);
});

test("without nodes a Pod waits for any event", () => {
  const decision = decide(fakeProfile([flat]), fakePod("p"), fakeCycleInput(0), fakeTurns());
  deepEqual(decision, {
    is: "unschedulable",
    diagnosis: { nodeCount: 0, preFilterMessage: "", refused: [], unschedulablePlugins: new Set() },
    whatIf: undefined,
  });
});

test("when no node is feasible, reasons are counted and every rejecting plugin is named", () => {
  const profile = fakeProfile([refusing("Taints", "tainted", "n0"), refusing("Fit", "full", "n0", "n1", "n2"), flat]);
  const decision = decide(profile, fakePod("p"), fakeCycleInput(3), fakeTurns());
  deepEqual(diagnosis(decision), {
    nodeCount: 3,
    preFilterMessage: "",
    refused: [
      { plugin: "Taints", reason: "tainted", nodes: 1, examples: ["n0"] },
      { plugin: "Fit", reason: "full", nodes: 2, examples: ["n1", "n2"] },
    ],
    unschedulablePlugins: new Set(["Taints", "Fit"]),
  });
});

test("nodes excluded by a preFilter are not examined, and counted as such", () => {
  const profile = fakeProfile([narrowing("NodeAffinity", "n1", "gone"), refusing("Fit", "full", "n1"), flat]);
  const decision = decide(profile, fakePod("p"), fakeCycleInput(3), fakeTurns());
  deepEqual(diagnosis(decision), {
    nodeCount: 3,
    preFilterMessage: "",
    refused: [
      { plugin: "Fit", reason: "full", nodes: 1, examples: ["n1"] },
      { plugin: "", reason: "node(s) didn't satisfy plugin(s) [NodeAffinity]", nodes: 2, examples: [] },
    ],
    unschedulablePlugins: new Set(["NodeAffinity", "Fit"]),
  });
});

test("a preFilter rejection ends the cycle with its message", () => {
  const no: Plugin = { name: "No", preFilter: () => ({ is: "rejected", rejection: { reasons: ["this", "that"], resolvable: false } }) };
  const decision = decide(fakeProfile([no, refusing("Fit", "full", "n0")]), fakePod("p"), fakeCycleInput(2), fakeTurns());
  deepEqual(diagnosis(decision), { nodeCount: 2, preFilterMessage: "this, that", refused: [], unschedulablePlugins: new Set(["No"]) });
});

test("the nominated node is chosen if feasible, however good others are", () => {
  const likes: Plugin = { name: "Likes", score: (_state, _pod, node) => (node.name === "n0" ? 90 : 10) };
  const pod = fakePod("p", { nominatedNodeName: "n2" });
  const decision = decide(fakeProfile([refusing("Fit", "full", "n1"), likes]), pod, fakeCycleInput(3), fakeTurns());
  deepEqual(decision, { is: "placed", nodeName: "n2", evaluated: 1, feasible: 1, refused: [], scores: [] });
});

for (const nominatedNodeName of ["n1", "gone"]) {
  test(`a Pod nominated to ${nominatedNodeName}, which is infeasible or missing, is placed elsewhere`, () => {
    const pod = fakePod("p", { nominatedNodeName });
    const decision = decide(fakeProfile([refusing("Fit", "full", "n1"), flat]), pod, fakeCycleInput(2), fakeTurns());
    equal(placement(decision), "n0");
  });
}

test("a node nominated for a Pod of higher priority is left to it", () => {
  const onePerNode: Plugin = { name: "One", filter: (_state, _pod, node) => (node.pods.length > 0 ? rejection("full") : undefined) };
  const input = fakeCycleInput(2, { n0: [fakePod("high", { priority: 9 })] });
  equal(placement(decide(fakeProfile([onePerNode, flat]), fakePod("p"), input, fakeTurns())), "n1");
});

test("in a large cluster the search stops when enough nodes are feasible, and resumes there for the next Pod", () => {
  const asked: string[] = [];
  const asking: Plugin = {
    name: "Asking",
    filter: (_state, _pod, node) => {
      asked.push(node.name);
      return node.name === "n50" ? rejection("no") : undefined;
    },
  };
  const profile = fakeProfile([asking, flat], { percentageOfNodesToScore: 20 });
  const input = fakeCycleInput(1_000);
  const turns = fakeTurns();

  const decisions = Array.from({ length: 6 }, () => decide(profile, fakePod("p"), input, turns));

  deepEqual(
    decisions.map((decision) => decision.is === "placed" && [decision.feasible, decision.evaluated]),
    [[200, 201], ...Array.from({ length: 4 }, () => [200, 200]), [200, 201]],
  );
  deepEqual(asked.slice(0, 1_000), nodeNames(1_000));
  equal(turns.startIndex, 202);
});

test("without scoring the first feasible node suffices", () => {
  const turns = fakeTurns();
  const profile = fakeProfile([refusing("Fit", "full", "n0")]);
  const input = fakeCycleInput(3);
  const placed = Array.from({ length: 3 }, () => placement(decide(profile, fakePod("p"), input, turns)));
  deepEqual(placed, ["n1", "n2", "n1"]);
});

test("what-if: the rejections of all nodes are available and filters run on hypothetical nodes", () => {
  const onePerNode: Plugin = { name: "One", filter: (_state, _pod, node) => (node.pods.length > 0 ? rejection("full") : undefined) };
  const input = fakeCycleInput(2);
  const nodes = input.snapshot.nodes.map((node) => node.withPod(fakePod("other")));
  const decision = decide(fakeProfile([onePerNode, flat]), fakePod("p"), { ...input, snapshot: { ...input.snapshot, nodes } }, fakeTurns());

  ok(decision.is === "unschedulable" && decision.whatIf !== undefined);
  const { whatIf } = decision;
  const [node] = whatIf.snapshot.nodes;
  ok(node !== undefined);
  deepEqual([...whatIf.rejections.keys()], ["n0", "n1"]);
  deepEqual(whatIf.resolvableNodes, nodes);
  deepEqual(whatIf.filter(whatIf.base(), node), rejection("full"));
  equal(whatIf.filter(whatIf.base(), node.withoutPod("other")), undefined);
});

test("what-if after a preFilter rejection: no node is available, and none would be feasible", () => {
  const no: Plugin = { name: "No", preFilter: () => ({ is: "rejected", rejection: rejection("no") }), filter: () => undefined };
  const input = fakeCycleInput(1);
  const decision = decide(fakeProfile([no, flat]), fakePod("p"), input, fakeTurns());
  ok(decision.is === "unschedulable" && decision.whatIf !== undefined);
  const [node] = input.snapshot.nodes;
  ok(node !== undefined);
  equal(decision.whatIf.rejections.size, 0);
  deepEqual(decision.whatIf.filter(decision.whatIf.base(), node), rejection("no"));
});

/** Random plugins: each filter rejects some nodes, each scorer gives few different scores so that ties are frequent. */
const someClusters = fc.record({
  nodes: fc.integer({ min: 1, max: 300 }),
  percentage: fc.integer({ min: 0, max: 100 }),
  filters: fc.array(fc.record({ every: fc.integer({ min: 2, max: 9 }), narrows: fc.boolean() }), { maxLength: 4 }),
  scorers: fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 3 }),
  pods: fc.integer({ min: 1, max: 20 }),
  seed: fc.integer(),
});

type SomeCluster = typeof someClusters extends fc.Arbitrary<infer T> ? T : never;

function numberOf(name: string): number {
  return Number(name.slice(1));
}

function placements({ nodes, percentage, filters, scorers, pods, seed }: SomeCluster): (string | undefined)[] {
  const filterPlugins = filters.map(({ every, narrows }, index): Plugin => {
    const refused = nodeNames(nodes).filter((name) => numberOf(name) % every === 0);
    const kept = nodeNames(nodes).filter((name) => numberOf(name) % every !== 0);
    return narrows ? narrowing(`F${index}`, ...kept) : refusing(`F${index}`, "no", ...refused);
  });
  const scorePlugins = scorers.map((modulus, index): Plugin => ({
    name: `S${index}`,
    score: (_s, _p, node) => numberOf(node.name) % modulus,
  }));
  const profile = fakeProfile([...filterPlugins, ...scorePlugins], { percentageOfNodesToScore: percentage });
  const input = fakeCycleInput(nodes);
  const turns = fakeTurns(seed);
  return Array.from({ length: pods }, (_, index) => placement(decide(profile, fakePod(`p${index}`), input, turns)));
}

test("equal seeds give equal placements", () => {
  fc.assert(fc.property(someClusters, (cluster) => deepEqual(placements(cluster), placements(cluster))));
});

test("no Pod is placed on a rejected node, and each is placed if a node is feasible", () => {
  fc.assert(
    fc.property(someClusters, (cluster) => {
      const fits = (name: string) => cluster.filters.every(({ every }) => numberOf(name) % every !== 0);
      const anyFits = nodeNames(cluster.nodes).some(fits);
      for (const nodeName of placements(cluster)) ok(nodeName === undefined ? !anyFits : fits(nodeName));
    }),
  );
});

test("different seeds give different placements", () => {
  const cluster = { nodes: 20, percentage: 0, filters: [], scorers: [1], pods: 5, seed: 0 };
  const all = Array.from({ length: 10 }, (_, seed) => placements({ ...cluster, seed }).join());
  ok(new Set(all).size > 5);
});
