import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger, type Logger } from "../../base/logger.ts";
import type { Snapshot } from "../framework/snapshot.ts";
import { aNode, aPod, podInfo } from "../framework/testing/builders.ts";
import { SchedulerCache } from "./scheduler-cache.ts";

const ANTI = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "zone" }] } };

function aCache(...nodes: readonly string[]): SchedulerCache {
  const cache = new SchedulerCache({ log: silentLogger });
  for (const name of nodes) cache.putNode(aNode(name));
  return cache;
}

/** "a: p q, b:" */
function podsIn(snapshot: Snapshot): string {
  return snapshot.nodes.map(({ name, pods }) => [`${name}:`, ...pods.map(({ pod }) => pod.metadata.name)].join(" ")).join(", ");
}

test("an assumed Pod counts on its node at once", () => {
  const cache = aCache("a", "b");

  assert.equal(cache.assume(podInfo(aPod("p", { cpu: "1" })), "b"), true);

  const b = cache.snapshot().get("b");
  assert.equal(b?.requested.milliCpu, 1_000);
  assert.equal(b.pods[0]?.pod.spec?.nodeName, "b");
  assert.equal(cache.isAssumed("uid-of-default-p"), true);
  assert.deepEqual(cache.sizes, { nodes: 2, pods: 1, assumedPods: 1, images: 0 });
});

test("a Pod already on a node cannot be assumed, whether observed or assumed", () => {
  const cache = aCache("a", "b");
  cache.putPod(aPod("observed", { node: "a" }));
  cache.assume(podInfo(aPod("assumed")), "a");

  assert.equal(cache.assume(podInfo(aPod("observed")), "b"), false);
  assert.equal(cache.assume(podInfo(aPod("assumed")), "b"), false);

  assert.equal(podsIn(cache.snapshot()), "a: observed assumed, b:");
});

test("forgetting an assumed Pod leaves nothing behind; an observed one cannot be forgotten", () => {
  const cache = aCache("a");
  cache.assume(podInfo(aPod("p", { cpu: "1", ports: [80], affinity: ANTI })), "a");
  cache.putPod(aPod("observed", { node: "a" }));

  assert.equal(cache.forget("uid-of-default-p"), true);
  assert.equal(cache.forget("uid-of-default-p"), false);
  assert.equal(cache.forget("uid-of-default-observed"), false);

  const snapshot = cache.snapshot();
  assert.equal(podsIn(snapshot), "a: observed");
  assert.deepEqual([snapshot.nodesWithAffinityPods, snapshot.get("a")?.usedPorts], [[], []]);
});

test("a Pod observed on its assumed node is confirmed, in its position, with the cluster's version", () => {
  const cache = aCache("a");
  cache.assume(podInfo(aPod("p")), "a");
  cache.assume(podInfo(aPod("q")), "a");
  const confirmed = aPod("p", { node: "a" });

  cache.putPod(confirmed);

  assert.equal(podsIn(cache.snapshot()), "a: p q");
  assert.equal(cache.pod("uid-of-default-p")?.info.pod, confirmed);
  assert.deepEqual(
    cache.assumedPods().map(({ info }) => info.key),
    ["default/q"],
  );
  assert.equal(cache.forget("uid-of-default-p"), false);
});

test("a Pod observed on another node than assumed moves there, which is logged", () => {
  const lines: unknown[] = [];
  const log: Logger = { ...silentLogger, warn: (sentence, fields) => lines.push([sentence, fields]) };
  const cache = new SchedulerCache({ log });
  for (const name of ["a", "b"]) cache.putNode(aNode(name));
  cache.assume(podInfo(aPod("p")), "a");

  cache.putPod(aPod("p", { node: "b" }));

  assert.equal(podsIn(cache.snapshot()), "a:, b: p");
  assert.equal(cache.isAssumed("uid-of-default-p"), false);
  assert.deepEqual(lines, [["The Pod is on another node than assumed", { pod: "default/p", from: "a", to: "b" }]]);
});

test("an update of an assumed Pod from before its binding changes nothing", () => {
  const cache = aCache("a");
  cache.assume(podInfo(aPod("p")), "a");
  const { generation } = cache.snapshot();

  cache.putPod(aPod("p", { labels: { late: "yes" } }));

  assert.equal(podsIn(cache.snapshot()), "a: p");
  assert.equal(cache.snapshot().generation, generation);
});

test("a deleted assumed Pod is removed", () => {
  const cache = aCache("a");
  cache.assume(podInfo(aPod("p")), "a");

  cache.removePod("uid-of-default-p");

  assert.equal(podsIn(cache.snapshot()), "a:");
  assert.deepEqual(cache.sizes, { nodes: 1, pods: 0, assumedPods: 0, images: 0 });
});

for (const phase of ["Succeeded", "Failed"] as const) {
  test(`a Pod that has ${phase} uses no resources of its node`, () => {
    const cache = aCache("a");
    cache.putPod(aPod("p", { node: "a" }));

    cache.putPod(aPod("p", { node: "a", phase }));
    cache.putPod(aPod("q", { node: "a", phase }));

    assert.equal(podsIn(cache.snapshot()), "a:");
  });
}

test("Pods observed before their node are on it when it appears", () => {
  const cache = aCache();
  cache.putPod(aPod("p", { node: "a", cpu: "1" }));
  assert.equal(podsIn(cache.snapshot()), "");

  cache.putNode(aNode("a"));

  assert.equal(podsIn(cache.snapshot()), "a: p");
  assert.equal(cache.snapshot().get("a")?.requested.milliCpu, 1_000);
});

test("Pods of a removed node are in no snapshot, return with it, and are removed one by one", () => {
  const cache = aCache("a", "b");
  cache.putPod(aPod("p", { node: "a", affinity: ANTI }));
  cache.putPod(aPod("q", { node: "a" }));

  cache.removeNode("a");
  const gone = podsIn(cache.snapshot());
  cache.removePod("uid-of-default-q");
  cache.putNode(aNode("a"));
  const back = podsIn(cache.snapshot());
  cache.removeNode("a");
  cache.removePod("uid-of-default-p");

  assert.deepEqual([gone, back], ["b:", "b:, a: p"]);
  assert.deepEqual([cache.unknownNodes(), cache.sizes.nodes], [[], 1]);
  assert.deepEqual(cache.snapshot().nodesWithAffinityPods, []);
});

test("a node that reappears while another is removed is found, and the other is not", () => {
  const cache = aCache("a", "b", "c");
  cache.putPod(aPod("p", { node: "a" }));
  cache.snapshot();
  cache.removeNode("a");
  cache.snapshot();

  cache.putNode(aNode("a"));
  cache.removeNode("b");

  const snapshot = cache.snapshot();
  assert.deepEqual(
    ["a", "b", "c"].map((name) => snapshot.get(name)?.name),
    ["a", undefined, "c"],
  );
});

test("removing unknown objects does nothing", () => {
  const cache = aCache("a");
  const { generation } = cache.snapshot();

  cache.removeNode("b");
  cache.removePod("uid-of-missing");

  assert.equal(cache.snapshot().generation, generation);
});

test("a snapshot is stable until the next one, and only changed nodes differ then", () => {
  const cache = aCache("a", "b");
  const snapshot = cache.snapshot();
  const [a, b] = snapshot.nodes;

  cache.assume(podInfo(aPod("p", { affinity: ANTI })), "b");
  const during = [...snapshot.nodes, snapshot.get("b")];
  const next = cache.snapshot();

  assert.deepEqual(during, [a, b, b]);
  assert.equal(next.nodes[0], a);
  assert.notEqual(next.nodes[1], b);
  assert.deepEqual([next.nodesWithAffinityPods, next.nodesWithRequiredAntiAffinityPods], [[next.nodes[1]], [next.nodes[1]]]);
  assert.equal(b?.pods.length, 0);
});

test("a snapshot without a node differs from one with it", () => {
  const cache = aCache("a", "b", "c");
  const { generation } = cache.snapshot();

  cache.removeNode("b");

  assert.notEqual(cache.snapshot().generation, generation);
});

test("nodes of different zones alternate", () => {
  const cache = aCache();
  for (const [name, zone] of [
    ["a", "x"],
    ["b", "x"],
    ["c", "y"],
  ] as const)
    cache.putNode(aNode(name, { zone }));
  assert.equal(podsIn(cache.snapshot()), "a:, c:, b:");

  cache.putNode(aNode("a", { zone: "y" }));

  assert.equal(podsIn(cache.snapshot()), "b:, c:, a:");
});

test("images are counted over existing nodes", () => {
  const cache = aCache();
  const images = [{ names: ["web"], sizeBytes: 5 }];
  for (const name of ["a", "b", "c"]) cache.putNode(aNode(name, { images }));
  cache.removeNode("b");
  cache.putNode(aNode("c", { images: [] }));

  assert.deepEqual(cache.snapshot().get("a")?.images.get("web"), { sizeBytes: 5, nodes: 1 });
});
