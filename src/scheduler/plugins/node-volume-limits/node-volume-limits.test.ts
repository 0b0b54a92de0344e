import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../../api/generated/core/v1.ts";
import { aNode, aPod, nodeInfo } from "../../framework/testing/builders.ts";
import { checkRetries, filtered, made, objectEvent, podEvent } from "../../framework/testing/call-plugin.ts";
import { aClusterView } from "../../framework/testing/changing-cluster.ts";
import {
  aClaim,
  aCsiNode,
  anAttachment,
  aStorageClass,
  aVolume,
  storageOf,
  volumesOf,
  type StorageObject,
} from "../../framework/testing/volumes.ts";
import { nodeVolumeLimits } from "./node-volume-limits.ts";

const DRIVER = "disk.example";
const EXCEEDED = { reasons: ["node(s) exceed max volume count"], resolvable: true };

/** A bound claim with its volume of the driver. */
function bound(name: string, driver = DRIVER): readonly StorageObject[] {
  const csi = { driver, volumeHandle: `handle-${name}` };
  return [aClaim(name, { boundTo: `v-${name}` }), aVolume(`v-${name}`, { claim: name, spec: { csi } })];
}

const CLAIMS = ["a", "b", "c"].flatMap((name) => bound(name));
const FAST = aStorageClass("fast", { provisioner: DRIVER });

function verdict(pod: Pod, existing: readonly Pod[], ...objects: readonly StorageObject[]) {
  const plugin = made(nodeVolumeLimits, undefined, { cluster: aClusterView({ storage: storageOf(...CLAIMS, FAST, ...objects) }) });
  return filtered(plugin, pod, nodeInfo(aNode("n"), ...existing));
}

test("NodeVolumeLimits counts volumes of a driver once per node, up to the limit of the CSINode", () => {
  const users = [aPod("x", volumesOf("a")), aPod("y", volumesOf("a", "b"))];
  const two = aCsiNode("n", { [DRIVER]: 2 });
  deepEqual(verdict(aPod("p"), users, two), "skip");
  deepEqual(verdict(aPod("p", volumesOf("c")), users), undefined, "no CSINode");
  deepEqual(verdict(aPod("p", volumesOf("c")), users, aCsiNode("n", { other: 1 })), undefined, "no limit for the driver");
  const withoutDrivers = { ...aCsiNode("n", {}), spec: { drivers: null as never } };
  deepEqual(verdict(aPod("p", volumesOf("c")), users, withoutDrivers), undefined, "drivers: null, as kubelets write it");
  deepEqual(verdict(aPod("p", volumesOf("c")), users, two), EXCEEDED);
  deepEqual(verdict(aPod("p", volumesOf("c")), users, aCsiNode("n", { [DRIVER]: 3 })), undefined);
  deepEqual(verdict(aPod("p", volumesOf("b")), users, two), undefined, "a volume that is there already");
  deepEqual(verdict(aPod("p", volumesOf("a", "b", "c")), [], two), EXCEEDED, "more than the node can ever have");
  const one = aCsiNode("n", { [DRIVER]: 1 });
  deepEqual(verdict(aPod("p", volumesOf("a", "b")), users, one), undefined, "nothing new, though the node has too many");
});

test("NodeVolumeLimits counts volumes that will be provisioned, and attachments that remain", () => {
  const one = aCsiNode("n", { [DRIVER]: 1 });
  const future = aClaim("f", { className: "fast" });
  deepEqual(verdict(aPod("p", volumesOf("f")), [], one, future), undefined);
  deepEqual(verdict(aPod("p", volumesOf("f")), [aPod("x", volumesOf("a"))], one, future), EXCEEDED);
  deepEqual(verdict(aPod("p", volumesOf("a")), [], one, anAttachment("left", "n", DRIVER, "v-b")), EXCEEDED);
  deepEqual(verdict(aPod("p", volumesOf("a")), [], one, anAttachment("left", "other", DRIVER, "v-b")), undefined);
});

test("NodeVolumeLimits counts in-tree volumes of migrated plugins", () => {
  const limited = aCsiNode("n", { "ebs.csi.aws.com": 1 });
  const inline = (name: string, volumeID: string) =>
    aPod(name, { spec: { volumes: [{ name: "disk", awsElasticBlockStore: { volumeID } }] } });
  deepEqual(verdict(inline("p", "vol-1"), [inline("q", "vol-2")], limited), EXCEEDED);
  deepEqual(verdict(inline("p", "vol-1"), [inline("q", "aws://zone/vol-1")], limited), undefined);
  const volume = aVolume("v-t", { claim: "t", spec: { awsElasticBlockStore: { volumeID: "vol-3" } } });
  deepEqual(verdict(aPod("p", volumesOf("t")), [inline("q", "vol-2")], limited, aClaim("t", { boundTo: "v-t" }), volume), EXCEEDED);
});

test("NodeVolumeLimits rejects a Pod without its claim", () => {
  deepEqual(verdict(aPod("p", volumesOf("missing")), []), {
    reasons: ['looking up PVC default/missing: persistentvolumeclaim "missing" not found'],
    resolvable: false,
  });
});

test("NodeVolumeLimits follows changes of claims", () => {
  const storage = storageOf(...CLAIMS, aCsiNode("n", { [DRIVER]: 1 }));
  const plugin = made(nodeVolumeLimits, undefined, { cluster: aClusterView({ storage }) });
  const node = nodeInfo(aNode("n"), aPod("x", volumesOf("later")));
  deepEqual(filtered(plugin, aPod("p", volumesOf("a")), node), undefined);
  storage.put(...bound("later"));
  deepEqual(filtered(plugin, aPod("p", volumesOf("a")), node), EXCEEDED);
});

test("NodeVolumeLimits reconsiders a Pod when a node may attach more", () => {
  const plugin = made(nodeVolumeLimits, undefined, { cluster: aClusterView({ storage: storageOf() }) });
  const csiNode = (count: number) => aCsiNode("n", { [DRIVER]: count });
  checkRetries(plugin, aPod("p", volumesOf("a")), [
    ["a CSINode", objectEvent("CSINode", "added", csiNode(1)), true],
    ["a higher limit", objectEvent("CSINode", "updated", csiNode(2), csiNode(1)), true],
    ["a lower limit", objectEvent("CSINode", "updated", csiNode(1), csiNode(2)), false],
    ["a Pod with a claim is deleted", podEvent("assigned-pod", "deleted", aPod("q", { ...volumesOf("b"), node: "n" })), true],
    ["a Pod without volumes", podEvent("assigned-pod", "deleted", aPod("q", { node: "n" })), false],
    ["its claim", objectEvent("PersistentVolumeClaim", "added", aClaim("a")), true],
    ["another claim", objectEvent("PersistentVolumeClaim", "added", aClaim("b")), false],
    ["an attachment is deleted", objectEvent("VolumeAttachment", "deleted", anAttachment("x", "n", DRIVER, "v")), true],
    ["an attachment is added", objectEvent("VolumeAttachment", "added", anAttachment("x", "n", DRIVER, "v")), false],
  ]);
});
