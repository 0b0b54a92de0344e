import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { silentLogger } from "../../base/logger.ts";
import { rounds, testSeed } from "../../testing/rounds.ts";
import type { NodeInfo } from "../framework/node-info.ts";
import { NodeHistory, NOTHING_SEEN, type NodeSum } from "../framework/node-sums.ts";
import { aNode, aPod, podInfo } from "../framework/testing/builders.ts";
import { SchedulerCache } from "./scheduler-cache.ts";

/** More than are recorded. */
const MANY = 1_100;

function cacheWith(...names: readonly string[]): SchedulerCache {
  const cache = new SchedulerCache({ log: silentLogger });
  for (const name of names) cache.putNode(aNode(name));
  return cache;
}

function assume(cache: SchedulerCache, podName: string, nodeName: string): void {
  cache.assume(podInfo(aPod(podName)), nodeName);
}

test("the slots changed since an earlier generation are returned, newest first", () => {
  const cache = cacheWith("n0", "n1", "n2");
  const { generation: first } = cache.snapshot();
  assume(cache, "a", "n2");
  const { generation: second } = cache.snapshot();
  assume(cache, "b", "n0");

  const snapshot = cache.snapshot();

  deepEqual(snapshot.changedSince?.(first), [0, 2]);
  deepEqual(snapshot.changedSince?.(second), [0]);
  deepEqual(snapshot.changedSince?.(snapshot.generation), []);
});

test("changes before a node was added or removed are unknown", () => {
  const cache = cacheWith("n0", "n1");
  const { generation: before } = cache.snapshot();
  cache.putNode(aNode("n2"));
  const { generation: withNew } = cache.snapshot();
  cache.removeNode("n0");

  const snapshot = cache.snapshot();

  equal(snapshot.changedSince?.(before), undefined);
  equal(snapshot.changedSince?.(withNew), undefined);
  deepEqual(snapshot.changedSince?.(snapshot.generation), []);
});

test("old changes are dropped, and recent ones are not", () => {
  const cache = cacheWith("n0", "n1");
  const { generation: longAgo } = cache.snapshot();
  for (let index = 0; index < MANY; index++) {
    assume(cache, `pod-${index}`, "n0");
    cache.snapshot();
  }
  const { generation: lately } = cache.snapshot();
  assume(cache, "last", "n1");

  const snapshot = cache.snapshot();

  equal(snapshot.changedSince?.(longAgo), undefined);
  deepEqual(snapshot.changedSince?.(lately), [1]);
});

/** How many Pods there are in all. */
class PodTotal implements NodeSum {
  seen = NOTHING_SEEN;
  total = 0;

  add(node: NodeInfo): void {
    this.total += node.pods.length;
  }

  remove(node: NodeInfo): void {
    this.total -= node.pods.length;
  }

  clear(): void {
    this.total = 0;
  }
}

test("an incrementally maintained sum equals one over all nodes, under any changes", () => {
  const step = fc.record({
    does: fc.constantFrom("assume", "assume", "forget", "node comes", "node goes"),
    which: fc.nat({ max: 4 }),
    isLookedAt: fc.boolean(),
  });
  const property = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const cache = cacheWith("n0", "n1", "n2");
    const history = new NodeHistory();
    const sum = new PodTotal();
    for (const [index, { does, which, isLookedAt }] of steps.entries()) {
      if (does === "assume") assume(cache, `pod-${index}`, `n${which}`);
      else if (does === "forget") cache.forget(cache.assumedPods()[which]?.info.uid ?? "");
      else if (does === "node comes") cache.putNode(aNode(`n${which}`));
      else cache.removeNode(`n${which}`);
      const snapshot = cache.snapshot();
      if (!isLookedAt) continue;
      history.follow(sum, snapshot);
      equal(
        sum.total,
        snapshot.nodes.reduce((total, { pods }) => total + pods.length, 0),
      );
    }
  });
  fc.assert(property, { numRuns: rounds({ quick: 300, full: 3_000 }), seed: testSeed() });
});
