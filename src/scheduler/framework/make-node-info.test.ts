import assert from "node:assert/strict";
import { test } from "node:test";
import { aNode, aPod, podInfo } from "./testing/builders.ts";
import { makeNodeInfo, makeUnknownNodeInfo } from "./make-node-info.ts";
import type { NodeInfo } from "./node-info.ts";

const ANTI = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "zone" }] } };
const NEAR = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "zone" }] } };

/** All but the generation. */
function contents(info: NodeInfo): object {
  return { ...info, pods: info.pods, generation: 0 };
}

test("a node's resources are its allocatable ones", () => {
  const node = aNode("a", { cpu: "3900m", memory: "1Ki", storage: "2Ki", pods: "7", extended: { "example.com/gpu": "4" } });

  const { allocatable, allowedPods, requested, pods } = makeNodeInfo({ ...node, status: { ...node.status, capacity: { cpu: "99" } } });

  assert.deepEqual(allocatable, {
    milliCpu: 3_900,
    memoryBytes: 1_024,
    ephemeralStorageBytes: 2_048,
    scalars: new Map([["example.com/gpu", 4]]),
  });
  assert.deepEqual([allowedPods, pods.length, requested.milliCpu], [7, 0, 0]);
});

test("adding a Pod updates sums and lists of the new NodeInfo, and leaves the old one unchanged", () => {
  const before = makeNodeInfo(aNode("a"));
  const info = podInfo(aPod("p", { cpu: "1", memory: "1Ki", extended: { "example.com/gpu": "1" }, ports: [80], affinity: ANTI }));

  const after = before.withPod(info);

  assert.deepEqual(after.requested, {
    milliCpu: 1_000,
    memoryBytes: 1_024,
    ephemeralStorageBytes: 0,
    scalars: new Map([["example.com/gpu", 1]]),
  });
  assert.deepEqual([after.nonZeroRequestedMilliCpu, after.nonZeroRequestedMemoryBytes], [1_000, 1_024]);
  assert.deepEqual([after.pods, after.podsWithAffinity, after.podsWithRequiredAntiAffinity], [[info], [info], [info]]);
  assert.deepEqual(after.usedPorts, [{ ip: "0.0.0.0", protocol: "TCP", port: 80 }]);
  assert.deepEqual(contents(before), contents(makeNodeInfo(before.node)));
});

test("removing the Pod restores the previous state", () => {
  const before = makeNodeInfo(aNode("a")).withPod(podInfo(aPod("o", { cpu: "2", ports: [81], affinity: NEAR })));
  const pod = podInfo(aPod("p", { cpu: "1", extended: { "example.com/gpu": "1" }, ports: [80], affinity: ANTI }));

  const after = before.withPod(pod).withoutPod(pod.uid);

  assert.deepEqual(contents(after), contents(before));
  assert.equal(after.withoutPod("uid-of-missing"), after);
});

test("a Pod update keeps its position and replaces its share of the sums", () => {
  const node = makeNodeInfo(aNode("a"))
    .withPod(podInfo(aPod("first", { cpu: "1", affinity: NEAR, ports: [80] })))
    .withPod(podInfo(aPod("second", { cpu: "2", affinity: ANTI })));
  const version = podInfo(aPod("first", { cpu: "3", affinity: NEAR, ports: [80] }));

  const after = node.withPodVersion(version);

  assert.deepEqual(
    after.pods.map(({ key }) => key),
    ["default/first", "default/second"],
  );
  assert.equal(after.pods[0], version);
  assert.equal(after.podsWithAffinity[0], version);
  assert.deepEqual([after.requested.milliCpu, after.podsWithAffinity.length, after.usedPorts.length], [5_000, 2, 1]);
  assert.equal(after.withPodVersion(podInfo(aPod("third"))).pods.length, 3);
});

test("a node update keeps its Pods", () => {
  const node = makeNodeInfo(aNode("a", { cpu: "1" })).withPod(podInfo(aPod("p", { cpu: "2", ports: [80], affinity: ANTI })));

  const after = node.withNode(aNode("a", { cpu: "8", labels: { x: "y" } }), new Map([["web", { sizeBytes: 1, nodes: 1 }]]));

  assert.deepEqual([after.allocatable.milliCpu, after.labels["x"], after.images.size], [8_000, "y", 1]);
  const { pods, podsWithRequiredAntiAffinity, requested, usedPorts } = after;
  assert.deepEqual([pods, podsWithRequiredAntiAffinity, requested, usedPorts], [node.pods, node.pods, node.requested, node.usedPorts]);
});

test("every state has a unique generation, and later ones have greater ones", () => {
  const pod = podInfo(aPod("p"));
  const first = makeNodeInfo(aNode("a"));
  const second = first.withPod(pod);
  const states = [first, second, second.withPodVersion(pod), second.withoutPod(pod.uid), first.withPod(pod), makeUnknownNodeInfo("b")];

  const generations = states.map(({ generation }) => generation);

  assert.deepEqual(
    generations,
    [...new Set(generations)].toSorted((a, b) => a - b),
  );
});

test("an inexact sum is exact again when its cause is removed", () => {
  const small = podInfo(aPod("small", { memory: "3", cpu: "1m" }));
  const huge = podInfo(aPod("huge", { memory: "8Ei", cpu: "1m" }));

  const after = makeNodeInfo(aNode("a"))
    .withPod(small)
    .withPod(huge)
    .withPod(podInfo(aPod("other", { memory: "4" })))
    .withoutPod(huge.uid);

  assert.deepEqual([after.requested.memoryBytes, after.nonZeroRequestedMemoryBytes], [7, 7]);
});

test("an unknown node has no capacity", () => {
  const { name, allowedPods, allocatable } = makeUnknownNodeInfo("a");

  assert.deepEqual([name, allowedPods, allocatable.milliCpu], ["a", 0, 0]);
});
