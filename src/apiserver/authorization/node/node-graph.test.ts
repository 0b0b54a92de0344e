import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { rounds, testSeed } from "../../../testing/rounds.ts";
import type { PersistentVolume, Pod, PodSpec } from "../../../api/generated/core/v1.ts";
import { graphFollowers } from "./graph-followers.ts";
import { NodeGraph, type RelatedKind } from "./node-graph.ts";

function podOf(name: string, spec: Partial<PodSpec>, rest: Partial<Pod> = {}): Pod {
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "ns" }, spec: { containers: [], ...spec }, ...rest };
}

function volumeOf(name: string, claim: string | undefined, secrets: readonly string[]): PersistentVolume {
  const [publish = "", stage = ""] = secrets;
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name },
    spec: {
      ...(claim === undefined ? {} : { claimRef: { namespace: "ns", name: claim } }),
      csi: {
        driver: "d",
        volumeHandle: "h",
        nodePublishSecretRef: { namespace: "ns", name: publish },
        nodeStageSecretRef: { namespace: "ns", name: stage },
      },
    },
  };
}

function claims(...names: readonly string[]): Partial<PodSpec> {
  return { volumes: names.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })) };
}

function secrets(...names: readonly string[]): Partial<PodSpec> {
  return { imagePullSecrets: names.map((name) => ({ name })) };
}

/** "n1 n2": the nodes that reach it. */
function nodesOf(graph: NodeGraph, kind: RelatedKind, name: string, namespace = "ns"): string {
  return ["n1", "n2", ""].filter((node) => graph.reaches(node, kind, { namespace, name })).join(" ");
}

test("a pod gives its node access to everything it references, in its namespace only", () => {
  const graph = new NodeGraph();
  graph.putPod(
    podOf("p", {
      nodeName: "n1",
      serviceAccountName: "account",
      ...secrets("secret"),
      volumes: [
        { name: "a", configMap: { name: "map" } },
        { name: "b", persistentVolumeClaim: { claimName: "claim" } },
        { name: "made", ephemeral: {} },
      ],
      resourceClaims: [{ name: "r", resourceClaimName: "device" }],
    }),
  );

  for (const [kind, name] of [
    ["pods", "p"],
    ["serviceaccounts", "account"],
    ["secrets", "secret"],
    ["configmaps", "map"],
    ["persistentvolumeclaims", "claim"],
    ["persistentvolumeclaims", "p-made"],
    ["resourceclaims", "device"],
  ] as const) {
    assert.deepEqual([nodesOf(graph, kind, name), nodesOf(graph, kind, name, "other"), nodesOf(graph, kind, "x")], ["n1", "", ""], kind);
  }
  // The same name in another resource.
  assert.equal(nodesOf(graph, "configmaps", "secret"), "");
});

test("a claim gives access to its volume and the volume's secrets, in any order of events", () => {
  const graph = new NodeGraph();
  const seen = () => [nodesOf(graph, "persistentvolumes", "v", ""), nodesOf(graph, "secrets", "s")];
  graph.putVolume(volumeOf("v", "c", ["s"]));
  assert.deepEqual(seen(), ["", ""]);

  graph.putPod(podOf("p", { nodeName: "n1", ...claims("c") }));
  assert.deepEqual(seen(), ["n1", "n1"]);

  graph.putPod(podOf("q", { nodeName: "n2", ...claims("c") }));
  assert.deepEqual(seen(), ["n1 n2", "n1 n2"]);

  graph.removeVolume("v");
  assert.deepEqual(seen(), ["", ""]);

  graph.putVolume(volumeOf("v", "c", ["s"]));
  assert.deepEqual(seen(), ["n1 n2", "n1 n2"]);

  graph.putVolume(volumeOf("v", undefined, ["s"]));
  assert.deepEqual(seen(), ["", ""]);
});

test("an object referenced by two pods is reachable until both are deleted", () => {
  const graph = new NodeGraph();
  const [p, q] = [podOf("p", { nodeName: "n1", ...secrets("s") }), podOf("q", { nodeName: "n1", ...secrets("s") })];
  graph.putPod(p);
  graph.putPod(q);
  graph.putPod(q);

  graph.removePod(p);
  assert.equal(nodesOf(graph, "secrets", "s"), "n1");

  graph.removePod(q);
  assert.deepEqual([nodesOf(graph, "secrets", "s"), graph.size], ["", 0]);
});

test("an unbound pod gives no access, a terminated one still does, and a mirror pod only to itself", () => {
  const graph = new NodeGraph();
  const annotations = { "kubernetes.io/config.mirror": "x" };
  graph.putPod(podOf("waiting", secrets("a")));
  graph.putPod(podOf("ended", { nodeName: "n1", ...secrets("b") }, { status: { phase: "Succeeded" } }));
  graph.putPod(podOf("mirror", { nodeName: "n1", ...secrets("c") }, { metadata: { name: "mirror", namespace: "ns", annotations } }));

  assert.deepEqual(
    ["waiting", "ended", "mirror"].map((name) => nodesOf(graph, "pods", name)),
    ["", "n1", "n1"],
  );
  assert.deepEqual(
    ["a", "b", "c"].map((name) => nodesOf(graph, "secrets", name)),
    ["", "n1", ""],
  );
});

test("a pod recreated on another node gives access to that node only", () => {
  const graph = new NodeGraph();
  graph.putPod(podOf("p", { nodeName: "n1", ...secrets("s") }));

  graph.putPod(podOf("p", { nodeName: "n2", ...secrets("s") }));

  assert.deepEqual([nodesOf(graph, "secrets", "s"), nodesOf(graph, "pods", "p")], ["n2", "n2"]);
});

test("VolumeAttachments and ResourceSlices belong to the node they name, until it is unset or they are deleted", () => {
  const graph = new NodeGraph();
  for (const kind of ["volumeattachments", "resourceslices"] as const) {
    graph.putOwned(kind, { name: "x", node: "n1" });
    assert.equal(nodesOf(graph, kind, "x", ""), "n1");
    graph.putOwned(kind, { name: "x", node: "" });
    assert.equal(nodesOf(graph, kind, "x", ""), "");
    graph.putOwned(kind, { name: "x", node: "n2" });
    graph.removeOwned(kind, "x");
    assert.equal(nodesOf(graph, kind, "x", ""), "");
  }
});

test("a new claim in a pod's status is reachable, and a reset clears the node graph", () => {
  const graph = new NodeGraph();
  const [[, follower]] = graphFollowers(graph) as [ReturnType<typeof graphFollowers>[number]];
  const spec = { nodeName: "n1", resourceClaims: [{ name: "r", resourceClaimTemplateName: "t" }] };
  const before = podOf("p", spec);
  const after = { ...before, status: { resourceClaimStatuses: [{ name: "r", resourceClaimName: "made" }] } };

  follower.put(before, undefined);
  assert.equal(nodesOf(graph, "resourceclaims", "made"), "");
  follower.put(after, before);
  assert.equal(nodesOf(graph, "resourceclaims", "made"), "n1");
  follower.reset();
  assert.deepEqual([nodesOf(graph, "resourceclaims", "made"), nodesOf(graph, "pods", "p"), graph.size], ["", "", 0]);
});

// Few of each, so that references collide.
const some = (...values: readonly string[]) => fc.subarray([...values]);
const change = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      pod: fc.constantFrom("p1", "p2", "p3"),
      node: fc.constantFrom("", "n1", "n2"),
      secrets: some("s1", "s2"),
      claims: some("c1", "c2"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ removedPod: fc.constantFrom("p1", "p2", "p3") }) },
  {
    weight: 4,
    arbitrary: fc.record({ volume: fc.constantFrom("v1", "v2"), claim: fc.constantFrom("c1", "c2", undefined), secrets: some("s1", "s2") }),
  },
  { weight: 1, arbitrary: fc.record({ removedVolume: fc.constantFrom("v1", "v2") }) },
  { weight: 1, arbitrary: fc.record({ clear: fc.constantFrom("pods", "volumes") }) },
);
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

/** The expected result, computed without reference counts. */
class NaiveGraph {
  readonly pods = new Map<string, { node: string; secrets: readonly string[]; claims: readonly string[] }>();
  readonly volumes = new Map<string, { claim: string | undefined; secrets: readonly string[] }>();

  reachesSecret(node: string, secret: string): boolean {
    const own = [...this.pods.values()].filter((pod) => pod.node === node);
    return (
      own.some((pod) => pod.secrets.includes(secret)) ||
      [...this.volumes].some(([name, { secrets: ofVolume }]) => ofVolume.includes(secret) && this.reachesVolume(node, name))
    );
  }

  reachesVolume(node: string, name: string): boolean {
    const { claim } = this.volumes.get(name) ?? {};
    return claim !== undefined && [...this.pods.values()].some((pod) => pod.node === node && pod.claims.includes(claim));
  }
}

function apply(step: Change, graph: NodeGraph, naive: NaiveGraph): void {
  if ("pod" in step) {
    naive.pods.set(step.pod, step);
    graph.putPod(podOf(step.pod, { nodeName: step.node, ...secrets(...step.secrets), ...claims(...step.claims) }));
  } else if ("removedPod" in step) {
    naive.pods.delete(step.removedPod);
    graph.removePod(podOf(step.removedPod, {}));
  } else if ("volume" in step) {
    naive.volumes.set(step.volume, step);
    graph.putVolume(volumeOf(step.volume, step.claim, step.secrets));
  } else if ("removedVolume" in step) {
    naive.volumes.delete(step.removedVolume);
    graph.removeVolume(step.removedVolume);
  } else if (step.clear === "pods") {
    naive.pods.clear();
    graph.clearPods();
  } else {
    naive.volumes.clear();
    graph.clearVolumes();
  }
}

test("after random changes the node graph equals a full recomputation, and is empty when all objects are deleted", () => {
  const history = fc.array(change, { maxLength: 30 });
  fc.assert(
    fc.property(history, (steps) => {
      const [graph, naive] = [new NodeGraph(), new NaiveGraph()];
      for (const step of steps) apply(step, graph, naive);

      for (const node of ["n1", "n2"]) {
        for (const name of ["s1", "s2"]) {
          assert.equal(graph.reaches(node, "secrets", { namespace: "ns", name }), naive.reachesSecret(node, name), `${node} ${name}`);
        }
        for (const name of ["v1", "v2"]) {
          assert.equal(
            graph.reaches(node, "persistentvolumes", { namespace: "", name }),
            naive.reachesVolume(node, name),
            `${node} ${name}`,
          );
        }
      }
      graph.clearPods();
      assert.equal(graph.size, 0);
    }),
    { numRuns: rounds({ quick: 500, full: 20_000 }), seed: testSeed() },
  );
});
