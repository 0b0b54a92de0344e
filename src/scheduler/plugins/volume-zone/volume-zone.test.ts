import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { aNode, aPod, nodeInfo } from "../../framework/testing/builders.ts";
import { checkRetries, filtered, made, nodeEvent, objectEvent } from "../../framework/testing/call-plugin.ts";
import { aClusterView } from "../../framework/testing/changing-cluster.ts";
import { aClaim, aStorageClass, aVolume, storageOf, volumesOf, type StorageObject } from "../../framework/testing/volumes.ts";
import { volumeZone } from "./volume-zone.ts";

const ZONE = "topology.kubernetes.io/zone";
const BETA_ZONE = "failure-domain.beta.kubernetes.io/zone";
const POD = aPod("p", volumesOf("c"));
const BOUND = aClaim("c", { boundTo: "v" });
const CONFLICT = { reasons: ["node(s) had no available volume zone"], resolvable: false };

const pluginWith = (...objects: readonly StorageObject[]) =>
  made(volumeZone, undefined, { cluster: aClusterView({ storage: storageOf(...objects) }) });

test("VolumeZone accepts nodes in the zone of the Pod's volumes", () => {
  const labelled = (labels: Readonly<Record<string, string>>) => pluginWith(BOUND, aVolume("v", { labels }));
  const node = (labels: Readonly<Record<string, string>>) => nodeInfo(aNode("n", { labels }));
  deepEqual(filtered(labelled({ [ZONE]: "a" }), POD, node({ [ZONE]: "a" })), undefined);
  deepEqual(filtered(labelled({ [ZONE]: "a" }), POD, node({ [ZONE]: "b" })), CONFLICT);
  deepEqual(filtered(labelled({ [ZONE]: "a__b" }), POD, node({ [ZONE]: "b" })), undefined);
  deepEqual(filtered(labelled({ [BETA_ZONE]: "a" }), POD, node({ [ZONE]: "a" })), undefined, "an older label of the volume");
  deepEqual(filtered(labelled({ [ZONE]: "a" }), POD, node({ [BETA_ZONE]: "a" })), CONFLICT, "an older label of the node");
  deepEqual(filtered(labelled({ [ZONE]: "a" }), POD, node({})), undefined, "a cluster of one zone");
  deepEqual(filtered(labelled({}), POD, node({ [ZONE]: "a" })), "skip");
  deepEqual(filtered(labelled({ [ZONE]: "a" }), aPod("q"), node({ [ZONE]: "b" })), "skip");
});

test("VolumeZone rejects Pods whose volumes are unknown", () => {
  const rows: readonly (readonly [string, ...(readonly StorageObject[])])[] = [
    ['persistentvolumeclaim "c" not found'],
    ['persistentvolume "v" not found', BOUND],
    ["PersistentVolumeClaim had no pv name and storageClass name", aClaim("c")],
    ['storageclass.storage.k8s.io "x" not found', aClaim("c", { className: "x" })],
    ["PersistentVolume had no name", aClaim("c", { className: "x" }), aStorageClass("x", { volumeBindingMode: "Immediate" })],
    ["skip", aClaim("c", { className: "x" }), aStorageClass("x")],
  ];
  for (const [reason, ...objects] of rows) {
    const expected = reason === "skip" ? "skip" : { reasons: [reason], resolvable: false };
    deepEqual(filtered(pluginWith(...objects), POD, nodeInfo(aNode("n"))), expected);
  }
});

test("VolumeZone reconsiders a Pod when zones may fit", () => {
  const zoned = (zone: string) => aVolume("v", { labels: { [ZONE]: zone } });
  checkRetries(pluginWith(), POD, [
    ["a class that waits for consumers", objectEvent("StorageClass", "added", aStorageClass("x")), true],
    ["an immediate class", objectEvent("StorageClass", "added", aStorageClass("x", { volumeBindingMode: "Immediate" })), false],
    ["its claim", objectEvent("PersistentVolumeClaim", "updated", BOUND, aClaim("c")), true],
    ["another claim", objectEvent("PersistentVolumeClaim", "added", aClaim("d")), false],
    ["a volume", objectEvent("PersistentVolume", "added", zoned("a")), true],
    ["another zone of a volume", objectEvent("PersistentVolume", "updated", zoned("b"), zoned("a")), true],
    ["the same zone", objectEvent("PersistentVolume", "updated", zoned("a"), zoned("a")), false],
    ["a node", nodeEvent("added", aNode("n")), true],
    ["labels of a node", nodeEvent("labels", aNode("n"), aNode("n")), true],
  ]);
});
