import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { rounds, testSeed } from "../../testing/rounds.ts";
import { aNode, aPod, nodeInfo, podInfo, snapshotOf } from "./testing/builders.ts";
import { ChangingCluster, steps } from "./testing/changing-cluster.ts";
import type { NodeInfo } from "./node-info.ts";
import { addTo, NodeHistory, NodeSums, NOTHING_SEEN, type NodeSum } from "./node-sums.ts";

class PodsByZone implements NodeSum {
  seen = NOTHING_SEEN;
  readonly counts = new Map<string, number>();
  added = 0;

  add(node: NodeInfo): void {
    this.added++;
    addTo(this.counts, node.labels["topology.kubernetes.io/zone"] ?? "none", node.pods.length);
  }

  remove(node: NodeInfo): void {
    addTo(this.counts, node.labels["topology.kubernetes.io/zone"] ?? "none", -node.pods.length);
  }

  clear(): void {
    this.counts.clear();
  }
}

function fresh(nodes: readonly NodeInfo[]): ReadonlyMap<string, number> {
  const sum = new PodsByZone();
  for (const node of nodes) sum.add(node);
  return sum.counts;
}

test("an occasionally queried sum always equals a fresh one", () => {
  const asked = fc.array(fc.boolean(), { minLength: 20, maxLength: 20 });
  const property = fc.property(steps(fc.constant({})), asked, (all, isAsked) => {
    const history = new NodeHistory();
    const [always, sometimes] = [new PodsByZone(), new PodsByZone()];
    const cluster = new ChangingCluster();
    for (const [index, step] of all.entries()) {
      cluster.apply(step);
      const snapshot = snapshotOf(...cluster.nodes);
      history.follow(always, snapshot);
      deepEqual(always.counts, fresh(cluster.nodes));
      if (isAsked[index] !== true) continue;
      history.follow(sometimes, snapshot);
      deepEqual(sometimes.counts, fresh(cluster.nodes));
    }
  });
  fc.assert(property, { numRuns: rounds({ quick: 100, full: 1_000 }), seed: testSeed() });
});

test("one changed node costs one node, not all", () => {
  const history = new NodeHistory();
  const sum = new PodsByZone();
  const nodes = [nodeInfo(aNode("n1")), nodeInfo(aNode("n2")), nodeInfo(aNode("n3"))] as const;
  history.follow(sum, snapshotOf(...nodes));

  history.follow(sum, snapshotOf(nodes[0], nodes[1].withPod(podInfo(aPod("p"))), nodes[2]));

  deepEqual([sum.added, sum.counts], [4, new Map([["none", 1]])]);
});

test("a sum that missed more changes than recorded is recomputed, and an up-to-date one continues", () => {
  const history = new NodeHistory();
  const [absent, present] = [new PodsByZone(), new PodsByZone()];
  let node = nodeInfo(aNode("n1", { zone: "a" }));
  history.follow(absent, snapshotOf(node));

  for (let index = 0; index < 3_000; index++) {
    node = index % 2 === 0 ? node.withPod(podInfo(aPod(`p${index}`))) : node.withoutPod(node.pods[0]?.uid ?? "");
    history.follow(present, snapshotOf(node));
  }
  history.follow(absent, snapshotOf(node.withPod(podInfo(aPod("last")))));

  deepEqual([absent.counts, absent.added], [new Map([["a", 1]]), 2]);
});

test("an incomplete sum is recomputed", () => {
  const history = new NodeHistory();
  const sum = new PodsByZone();
  const before = nodeInfo(aNode("n1"), aPod("p1"));
  history.follow(sum, snapshotOf(before));
  const { add } = sum;
  sum.add = (): void => {
    throw new Error("cannot add");
  };
  const after = snapshotOf(before.withPod(podInfo(aPod("p2"))));

  throws(() => history.follow(sum, after), /cannot add/);
  sum.add = add;
  history.follow(sum, after);

  deepEqual(sum.counts, new Map([["none", 2]]));
});

test("equal keys share a sum", () => {
  const sums = new NodeSums<PodsByZone>(new NodeHistory());
  const snapshot = snapshotOf(nodeInfo(aNode("n1")));

  const first = sums.get("a", snapshot, () => new PodsByZone());

  equal(sums.get("a", snapshot, () => new PodsByZone()) === first, true);
  equal(sums.get("b", snapshot, () => new PodsByZone()) === first, false);
});
