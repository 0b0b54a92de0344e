import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { Volume } from "../../../api/generated/core/v1.ts";
import { aNode, aPod, nodeInfo, podInfo, snapshotOf } from "../../framework/testing/builders.ts";
import { checkRetries, filtered, made, nodeEvent, objectEvent, podEvent } from "../../framework/testing/call-plugin.ts";
import { aClusterView } from "../../framework/testing/changing-cluster.ts";
import { aClaim, storageOf, volumesOf } from "../../framework/testing/volumes.ts";
import { volumeRestrictions } from "./volume-restrictions.ts";

const DISK_CONFLICT = { reasons: ["node(s) had no available disk"], resolvable: true };
const IN_USE = {
  reasons: ["node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"],
  resolvable: true,
};

const EXCLUSIVE = aClaim("c", { boundTo: "v", spec: { accessModes: ["ReadWriteOncePod"] } });
const plugin = made(volumeRestrictions, undefined, { cluster: aClusterView({ storage: storageOf(EXCLUSIVE, aClaim("shared")) }) });
const withDisk = (name: string, volume: Omit<Volume, "name">) => aPod(name, { spec: { volumes: [{ name: "disk", ...volume }] } });

test("VolumeRestrictions rejects a second Pod for a claim with ReadWriteOncePod, which preemption may help", () => {
  const user = aPod("user", volumesOf("c"));
  const pod = aPod("p", volumesOf("c"));
  deepEqual(filtered(plugin, pod, nodeInfo(aNode("n"))), "skip");
  deepEqual(filtered(plugin, pod, nodeInfo(aNode("n"), user)), IN_USE);
  deepEqual(filtered(plugin, aPod("p", volumesOf("shared")), nodeInfo(aNode("n"), aPod("q", volumesOf("shared")))), "skip");
  deepEqual(filtered(plugin, aPod("p", volumesOf("missing")), nodeInfo(aNode("n"))), {
    reasons: ['persistentvolumeclaim "missing" not found'],
    resolvable: false,
  });

  const node = nodeInfo(aNode("n"), user);
  const answer = plugin.preFilter?.(podInfo(pod), snapshotOf(node));
  const state = plugin.copyState?.(answer?.is === "ready" ? answer.state : undefined);
  plugin.podRemoved?.(state, podInfo(pod), podInfo(user), node);
  deepEqual(plugin.filter?.(state, podInfo(pod), node), undefined);
  plugin.podAdded?.(state, podInfo(pod), podInfo(user), node);
  deepEqual(plugin.filter?.(state, podInfo(pod), node), IN_USE);
});

test("VolumeRestrictions rejects nodes where another Pod uses the same disk", () => {
  const rbd = { monitors: ["a", "b"], image: "i" };
  const rows: readonly (readonly [string, Omit<Volume, "name">, Omit<Volume, "name">, boolean])[] = [
    ["GCE disk", { gcePersistentDisk: { pdName: "x" } }, { gcePersistentDisk: { pdName: "x" } }, true],
    ["GCE disks", { gcePersistentDisk: { pdName: "x" } }, { gcePersistentDisk: { pdName: "y" } }, false],
    [
      "read-only GCE disk",
      { gcePersistentDisk: { pdName: "x", readOnly: true } },
      { gcePersistentDisk: { pdName: "x", readOnly: true } },
      false,
    ],
    ["EBS", { awsElasticBlockStore: { volumeID: "x" } }, { awsElasticBlockStore: { volumeID: "x", readOnly: true } }, true],
    ["iSCSI", { iscsi: { iqn: "x", lun: 0, targetPortal: "p" } }, { iscsi: { iqn: "x", lun: 1, targetPortal: "q", readOnly: true } }, true],
    ["RBD", { rbd }, { rbd: { ...rbd, monitors: ["b", "c"], pool: "rbd" } }, true],
    ["RBD of another cluster", { rbd }, { rbd: { ...rbd, monitors: ["c"] } }, false],
    ["RBD of another pool", { rbd }, { rbd: { ...rbd, pool: "other" } }, false],
    ["different kinds", { gcePersistentDisk: { pdName: "x" } }, { awsElasticBlockStore: { volumeID: "x" } }, false],
  ];
  for (const [what, wanted, existing, isConflict] of rows) {
    const node = nodeInfo(aNode("n"), withDisk("other", existing));
    deepEqual(filtered(plugin, withDisk("p", wanted), node), isConflict ? DISK_CONFLICT : undefined, what);
  }
});

test("VolumeRestrictions reconsiders a Pod when a volume may be free", () => {
  const pod = aPod("p", volumesOf("c"));
  checkRetries(plugin, pod, [
    ["a Pod with the claim is deleted", podEvent("assigned-pod", "deleted", aPod("q", { ...volumesOf("c"), node: "n" })), true],
    ["a Pod with another claim", podEvent("assigned-pod", "deleted", aPod("q", volumesOf("d"))), false],
    ["of another namespace", podEvent("assigned-pod", "deleted", aPod("q", { ...volumesOf("c"), namespace: "other" })), false],
    ["a node", nodeEvent("added", aNode("n")), true],
    ["its claim", objectEvent("PersistentVolumeClaim", "added", EXCLUSIVE), true],
    ["its claim changes", objectEvent("PersistentVolumeClaim", "updated", EXCLUSIVE, EXCLUSIVE), false],
    ["another claim", objectEvent("PersistentVolumeClaim", "added", aClaim("d")), false],
  ]);
  const disk = { gcePersistentDisk: { pdName: "x" } };
  checkRetries(plugin, withDisk("p", disk), [
    ["a Pod with the disk is deleted", podEvent("assigned-pod", "deleted", withDisk("q", disk)), true],
  ]);
});
