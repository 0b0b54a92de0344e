import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import type { Pod } from "../../../api/generated/core/v1.ts";
import { aNode, aPod, nodeInfo, podInfo } from "../../framework/testing/builders.ts";
import { checkRetries, filtered, made, nodeEvent, objectEvent, problemsOf } from "../../framework/testing/call-plugin.ts";
import { aClusterView } from "../../framework/testing/changing-cluster.ts";
import {
  aCapacity,
  aClaim,
  aCsiDriver,
  aCsiNode,
  aStorageClass,
  aVolume,
  HOSTNAME,
  storageOf,
  volumesOf,
  type StorageObject,
} from "../../framework/testing/volumes.ts";
import { volumeBinding } from "./volume-binding.ts";

const NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity";
const BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind";
const NO_SPACE = "node(s) did not have enough free storage";
const MISSING = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";

const N1 = nodeInfo(aNode("n1", { labels: { [HOSTNAME]: "n1", zone: "a" } }));
const LOCAL = aStorageClass("local");
const FAST = aStorageClass("fast", { provisioner: "fast.example" });
const NOW = aStorageClass("now", { provisioner: "fast.example", volumeBindingMode: "Immediate" });
const POD = aPod("p", volumesOf("c"));
const TWO = aPod("p", volumesOf("c", "d"));

function verdict(pod: Pod, ...objects: readonly StorageObject[]): readonly string[] | "skip" | undefined {
  const plugin = made(volumeBinding, undefined, { cluster: aClusterView({ storage: storageOf(LOCAL, FAST, NOW, ...objects) }) });
  const rejection = filtered(plugin, pod, N1);
  if (rejection === undefined || rejection === "skip") return rejection;
  equal(rejection.resolvable, false);
  return rejection.reasons;
}

type Row = readonly [when: string, verdict: readonly string[] | "skip" | undefined, pod: Pod, ...objects: readonly StorageObject[]];

function check(rows: readonly Row[]): void {
  for (const [when, expected, pod, ...objects] of rows) deepEqual(verdict(pod, ...objects), expected, when);
}

const ephemeral = aPod("p", { spec: { volumes: [{ name: "v", ephemeral: { volumeClaimTemplate: { spec: {} } } }] } });

test("VolumeBinding rejects Pods whose claims cannot be used on any node", () => {
  const gone = { deletedAt: "2026-01-01T00:00:00Z" };
  check([
    ["a Pod without claims", "skip", aPod("p", { spec: { volumes: [{ name: "v", emptyDir: {} }] } })],
    ["no claim", ['persistentvolumeclaim "c" not found'], POD],
    ["no claim yet", ['waiting for ephemeral volume controller to create the persistentvolumeclaim "p-v"'], ephemeral],
    ["a foreign claim", ["PVC default/p-v was not created for pod default/p (pod is not owner)"], ephemeral, aClaim("p-v")],
    ["lost", ['persistentvolumeclaim "c" bound to non-existent persistentvolume "v"'], POD, aClaim("c", { boundTo: "v", phase: "Lost" })],
    ["terminating", ['persistentvolumeclaim "c" is being deleted'], POD, aClaim("c", gone)],
    ["an unbound claim without class", ["pod has unbound immediate PersistentVolumeClaims"], POD, aClaim("c")],
    ["of an immediate class", ["pod has unbound immediate PersistentVolumeClaims"], POD, aClaim("c", { className: "now" })],
    ["of an unknown class", ["pod has unbound immediate PersistentVolumeClaims"], POD, aClaim("c", { className: "unknown" })],
    [
      "a claim that names its volume",
      ["pod has unbound immediate PersistentVolumeClaims"],
      POD,
      aClaim("c", { className: "local", spec: { volumeName: "v" } }),
    ],
  ]);
});

test("VolumeBinding accepts nodes from which bound volumes are accessible", () => {
  const bound = aClaim("c", { boundTo: "v" });
  check([
    ["no affinity", undefined, POD, bound, aVolume("v")],
    ["this node", undefined, POD, bound, aVolume("v", { nodes: ["n2", "n1"] })],
    ["another node", [NODE_CONFLICT], POD, bound, aVolume("v", { nodes: ["n2"] })],
    ["no volume", [MISSING], POD, bound],
    ["one of two", [NODE_CONFLICT], TWO, bound, aVolume("v"), aClaim("d", { boundTo: "w" }), aVolume("w", { nodes: ["n2"] })],
  ]);
});

test("VolumeBinding finds existing volumes for claims that wait for their first consumer", () => {
  const claim = aClaim("c", { className: "local", size: "2Gi" });
  const fitting = { className: "local", size: "2Gi" };
  check([
    ["one that fits", undefined, POD, claim, aVolume("v", fitting)],
    ["on this node", undefined, POD, claim, aVolume("v", { ...fitting, nodes: ["n1"] })],
    ["none", [BIND_CONFLICT], POD, claim],
    ["too small", [BIND_CONFLICT], POD, claim, aVolume("v", { ...fitting, size: "1Gi" })],
    ["of another class", [BIND_CONFLICT], POD, claim, aVolume("v", { size: "2Gi" })],
    ["on another node", [BIND_CONFLICT], POD, claim, aVolume("v", { ...fitting, nodes: ["n2"] })],
    ["of another mode", [BIND_CONFLICT], POD, claim, aVolume("v", { ...fitting, spec: { volumeMode: "Block" } })],
    ["with another access", [BIND_CONFLICT], POD, claim, aVolume("v", { ...fitting, spec: { accessModes: ["ReadOnlyMany"] } })],
    ["of other attributes", [BIND_CONFLICT], POD, claim, aVolume("v", { ...fitting, spec: { volumeAttributesClassName: "gold" } })],
    ["bound to another claim", [BIND_CONFLICT], POD, claim, aVolume("v", { ...fitting, claim: "other" })],
    ["not available", [BIND_CONFLICT], POD, claim, aVolume("v", { ...fitting, phase: "Released" })],
    ["reserved for it", undefined, POD, claim, aVolume("v", { ...fitting, claim: "c" })],
    [
      "reserved elsewhere, though another would fit",
      [BIND_CONFLICT],
      POD,
      claim,
      aVolume("v", { ...fitting, claim: "c", nodes: ["n2"] }),
      aVolume("w", fitting),
    ],
    [
      "not selected",
      [BIND_CONFLICT],
      POD,
      aClaim("c", { className: "local", spec: { selector: { matchLabels: { tier: "gold" } } } }),
      aVolume("v", fitting),
    ],
    ["one volume for two claims", [BIND_CONFLICT], TWO, claim, aClaim("d", { className: "local" }), aVolume("v", fitting)],
    ["the same claim twice", undefined, aPod("p", volumesOf("c", "c")), claim, aVolume("v", fitting)],
  ]);
});

describe("VolumeBinding provisions", () => {
  const claim = aClaim("c", { className: "fast", size: "2Gi" });
  const publishing = aCsiDriver("fast.example", { storageCapacity: true });
  const here = { nodeTopology: { matchLabels: { zone: "a" } } };

  test("on nodes that the class allows", () => {
    const only = (zone: string) =>
      aStorageClass("fast", {
        provisioner: "fast.example",
        allowedTopologies: [{ matchLabelExpressions: [{ key: "zone", values: [zone] }] }],
      });
    check([
      ["anywhere", undefined, POD, claim],
      ["in this zone", undefined, POD, claim, only("a")],
      ["in another zone", [BIND_CONFLICT], POD, claim, only("b")],
      ["for this node already", undefined, POD, aClaim("c", { className: "fast", selectedNode: "n1" })],
      ["for another node already", [BIND_CONFLICT], POD, aClaim("c", { className: "fast", selectedNode: "n2" })],
    ]);
  });

  test("where its driver has enough capacity", () => {
    check([
      ["enough", undefined, POD, claim, publishing, aCapacity("x", { ...here, capacity: "2Gi" })],
      ["too little", [NO_SPACE], POD, claim, publishing, aCapacity("x", { ...here, capacity: "1Gi" })],
      ["no volume so large", [NO_SPACE], POD, claim, publishing, aCapacity("x", { ...here, capacity: "9Gi", maximumVolumeSize: "1Gi" })],
      ["of another class", [NO_SPACE], POD, claim, publishing, aCapacity("x", { ...here, capacity: "2Gi", storageClassName: "slow" })],
      ["elsewhere", [NO_SPACE], POD, claim, publishing, aCapacity("x", { nodeTopology: { matchLabels: { zone: "b" } }, capacity: "2Gi" })],
      ["nowhere", [NO_SPACE], POD, claim, publishing, aCapacity("x", { capacity: "2Gi" })],
      ["everywhere", undefined, POD, claim, publishing, aCapacity("x", { nodeTopology: {}, capacity: "2Gi" })],
      ["not published", undefined, POD, claim, aCsiDriver("fast.example")],
    ]);
  });

  test("and reports all reasons of a node", () => {
    const other = [aClaim("d", { boundTo: "w" }), aVolume("w", { nodes: ["n2"] })] as const;
    check([["both", [NODE_CONFLICT, NO_SPACE], TWO, claim, publishing, ...other]]);
  });
});

test("VolumeBinding uses the driver's topology for volumes of migrated plugins", () => {
  const disk = { spec: { awsElasticBlockStore: { volumeID: "vol-1" } } };
  const zone = { key: "topology.kubernetes.io/zone", operator: "In" as const, values: ["a"] };
  const volume = aVolume("v", { terms: [{ matchExpressions: [zone] }], ...disk });
  const bound = aClaim("c", { boundTo: "v" });
  const migrated = aCsiNode("n1", {}, { annotations: { "storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs" } });
  const plugin = (...more: readonly StorageObject[]) =>
    made(volumeBinding, undefined, { cluster: aClusterView({ storage: storageOf(bound, volume, ...more) }) });
  const inZone = nodeInfo(aNode("n1", { zone: "a" }));
  const inDriversZone = nodeInfo(aNode("n1", { labels: { "topology.ebs.csi.aws.com/zone": "a" } }));

  deepEqual(filtered(plugin(), POD, inZone), undefined);
  deepEqual(filtered(plugin(migrated), POD, inZone), { reasons: [NODE_CONFLICT], resolvable: false });
  deepEqual(filtered(plugin(migrated), POD, inDriversZone), undefined);
});

describe("a reservation", () => {
  const storage = () =>
    storageOf(LOCAL, FAST, aVolume("v", { className: "local" }), aClaim("c", { className: "local" }), aClaim("d", { className: "local" }));
  const nodeTwo = nodeInfo(aNode("n2", { labels: { [HOSTNAME]: "n2" } }));

  test("takes the volume from other Pods until it is released", () => {
    const plugin = made(volumeBinding, undefined, { cluster: aClusterView({ storage: storage() }) });
    const other = aPod("q", volumesOf("d"));
    deepEqual(filtered(plugin, POD, N1), undefined);
    plugin.reserve?.(podInfo(POD), "n1");

    deepEqual(filtered(plugin, other, N1), { reasons: [BIND_CONFLICT], resolvable: false });
    plugin.unreserve?.(podInfo(POD), "n1");
    deepEqual(filtered(plugin, other, N1), undefined);
  });

  test("is shared by the Pods of a claim, and by all profiles of a scheduler", () => {
    const cluster = aClusterView({ storage: storageOf(FAST, aClaim("c", { className: "fast" })) });
    const [one, two] = [made(volumeBinding, undefined, { cluster }), made(volumeBinding, undefined, { cluster })];
    const sharing = aPod("q", volumesOf("c"));
    deepEqual(filtered(one, POD, N1), undefined);
    one.reserve?.(podInfo(POD), "n1");

    deepEqual(filtered(two, sharing, nodeTwo), { reasons: [BIND_CONFLICT], resolvable: false });
    deepEqual(filtered(two, sharing, N1), undefined);
    two.reserve?.(podInfo(sharing), "n1");
    one.unreserve?.(podInfo(POD), "n1");
    deepEqual(filtered(two, aPod("r", volumesOf("c")), nodeTwo), { reasons: [BIND_CONFLICT], resolvable: false });
    two.unreserve?.(podInfo(sharing), "n1");
    deepEqual(filtered(one, POD, nodeTwo), undefined);
  });

  test("ends when another version of its object is observed", () => {
    const view = storage();
    const plugin = made(volumeBinding, undefined, { cluster: aClusterView({ storage: view }) });
    deepEqual(filtered(plugin, POD, N1), undefined);
    plugin.reserve?.(podInfo(POD), "n1");
    view.put(aVolume("v", { className: "local", version: "2" }));

    deepEqual(filtered(plugin, aPod("q", volumesOf("d")), N1), undefined);
  });

  test("concerns preBind only if a claim is unbound", () => {
    const plugin = made(volumeBinding, undefined, {
      cluster: aClusterView({ storage: storageOf(aClaim("c", { boundTo: "v" }), aVolume("v")) }),
    });
    deepEqual(filtered(plugin, POD, N1), undefined);
    plugin.reserve?.(podInfo(POD), "n1");
    equal(plugin.preBindPreFlight?.(podInfo(POD), "n1"), "skip");
  });
});

test("VolumeBinding reconsiders a Pod when storage changes", () => {
  const plugin = made(volumeBinding, undefined, { cluster: aClusterView({ storage: storageOf() }) });
  const capacity = (size: string) => aCapacity("x", { capacity: size });
  const migrated = aCsiNode("n1", {}, { annotations: { "storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/cinder" } });
  const driver = (storageCapacity: boolean) => aCsiDriver("fast.example", { storageCapacity });
  const topologies = [{ matchLabelExpressions: [{ key: "zone", values: ["a"] }] }];
  checkRetries(plugin, POD, [
    ["its claim is created", objectEvent("PersistentVolumeClaim", "added", aClaim("c")), true],
    ["its claim changes", objectEvent("PersistentVolumeClaim", "updated", aClaim("c"), aClaim("c")), true],
    ["another claim", objectEvent("PersistentVolumeClaim", "added", aClaim("d")), false],
    ["its claim is deleted", objectEvent("PersistentVolumeClaim", "deleted", aClaim("c")), false],
    ["a volume", objectEvent("PersistentVolume", "added", aVolume("v")), true],
    ["a volume changes", objectEvent("PersistentVolume", "updated", aVolume("v"), aVolume("v")), true],
    ["a class", objectEvent("StorageClass", "added", LOCAL), true],
    ["a class without a relevant change", objectEvent("StorageClass", "updated", LOCAL, LOCAL), false],
    ["a class with other topologies", objectEvent("StorageClass", "updated", { ...LOCAL, allowedTopologies: topologies }, LOCAL), true],
    ["a node", nodeEvent("added", aNode("n1")), true],
    ["labels of a node", nodeEvent("labels", aNode("n1"), aNode("n1")), true],
    ["taints of a node", nodeEvent("taints", aNode("n1"), aNode("n1")), false],
    ["a CSINode", objectEvent("CSINode", "added", aCsiNode("n1", {})), true],
    ["a CSINode without a relevant change", objectEvent("CSINode", "updated", aCsiNode("n1", { x: 1 }), aCsiNode("n1", {})), false],
    ["a plugin is migrated", objectEvent("CSINode", "updated", migrated, aCsiNode("n1", {})), true],
    ["a driver stops to publish capacities", objectEvent("CSIDriver", "updated", driver(false), driver(true)), true],
    ["a driver starts to publish them", objectEvent("CSIDriver", "updated", driver(true), driver(false)), false],
    ["a capacity", objectEvent("CSIStorageCapacity", "added", capacity("1Gi")), true],
    ["more capacity", objectEvent("CSIStorageCapacity", "updated", capacity("2Gi"), capacity("1Gi")), true],
    ["less capacity", objectEvent("CSIStorageCapacity", "updated", capacity("1Gi"), capacity("2Gi")), false],
  ]);
});

test("VolumeBinding's arguments are upstream's", () => {
  deepEqual(problemsOf(volumeBinding, { bindTimeoutSeconds: 30 }), []);
  deepEqual(problemsOf(volumeBinding, { bindTimeoutSeconds: -1 }), [
    "bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value",
  ]);
  equal(problemsOf(volumeBinding, { shape: [{ utilization: 0, score: 1 }] }).length, 1);
});
