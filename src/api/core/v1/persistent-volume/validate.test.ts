/** Validation of a PersistentVolume, with upstream's messages. The lists are those of upstream's own server, version 1.36. */
import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../../machinery/object.ts";
import { newObject, problemsOfChange, problemsOfNew, type Sent } from "../../../testing/kind.ts";
import { persistentVolumes } from "../persistent-volume.ts";
import { NOT_A_LABEL_VALUE, NOT_A_QUALIFIED_NAME, NOT_A_SUBDOMAIN } from "../pod/testing/pods.ts";

const HOST_PATH = { hostPath: { path: "/data" } };
const CSI = { csi: { driver: "disks.example.com", volumeHandle: "vol-1" } };
const MOUNT_OPTIONS = { annotations: { "volume.beta.kubernetes.io/mount-options": "ro" } };

/** A valid volume of 1 GiB, except for the given fields. */
function volume(spec: JsonObject, metadata: JsonObject = {}): Sent {
  return { metadata, spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], ...spec } };
}

function affinityTo(key: string, value = "a", more: JsonObject = {}): JsonObject {
  return { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: "In", values: [value] }], ...more }] } } };
}

const ROWS: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  ["a volume with a size, a mode and a source is right", volume(HOST_PATH), []],
  [
    "a volume says how it can be mounted, how large it is and where it is",
    {},
    [
      "spec.accessModes: Required value",
      "spec.capacity: Required value",
      'spec.capacity: Unsupported value: null: supported values: "storage"',
      "spec: Required value: must specify a volume type",
    ],
  ],
  [
    "the mode for a single Pod goes with no other, and unknown modes are refused",
    volume({ ...HOST_PATH, accessModes: ["Odd", "ReadWriteOncePod", "ReadOnlyMany"] }),
    [
      'spec.accessModes: Unsupported value: "Odd": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
      "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
    ],
  ],
  [
    "a volume has storage",
    volume({ ...HOST_PATH, capacity: { cpu: "1" } }),
    ['spec.capacity: Unsupported value: {"cpu":"1"}: supported values: "storage"'],
  ],
  [
    "a volume has storage only",
    volume({ ...HOST_PATH, capacity: { storage: "1Gi", cpu: "1" } }),
    ['spec.capacity: Unsupported value: {"cpu":"1","storage":"1Gi"}: supported values: "storage"'],
  ],
  [
    "a size is not less than nothing",
    volume({ ...HOST_PATH, capacity: { storage: "-1.5" } }),
    [
      "spec.capacity[storage]: Invalid value: -2: must be a valid resource quantity",
      'spec.capacity[storage]: Invalid value: "-1500m": must be greater than zero',
    ],
  ],
  [
    "a size is not nothing",
    volume({ ...HOST_PATH, capacity: { storage: "0" } }),
    ['spec.capacity[storage]: Invalid value: "0": must be greater than zero'],
  ],
  [
    "a reclaim policy is one that there is",
    volume({ ...HOST_PATH, persistentVolumeReclaimPolicy: "Keep" }),
    ['spec.persistentVolumeReclaimPolicy: Unsupported value: "Keep": supported values: "Delete", "Recycle", "Retain"'],
  ],
  [
    "an affinity to nodes names nodes",
    volume({ ...HOST_PATH, nodeAffinity: {} }),
    ["spec.nodeAffinity.required: Required value: must specify required node constraints"],
  ],
  [
    "a selector of nodes has a term",
    volume({ ...HOST_PATH, nodeAffinity: { required: { nodeSelectorTerms: [] } } }),
    ["spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term"],
  ],
  [
    "terms of a selector of nodes are checked",
    volume({
      ...HOST_PATH,
      ...affinityTo("a b", "c d", { matchFields: [{ key: "metadata.uid", operator: "Exists" }] }),
    }),
    [
      `spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      `spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: "c d": ${NOT_A_LABEL_VALUE}`,
      'spec.nodeAffinity.required.nodeSelectorTerms[0].matchFields[0].operator: Invalid value: "Exists": not a valid selector operator',
      'spec.nodeAffinity.required.nodeSelectorTerms[0].matchFields[0].key: Invalid value: "metadata.uid": not a valid field selector key',
    ],
  ],
  [
    "the class is called as an object",
    volume({ ...HOST_PATH, storageClassName: "Fast" }),
    [`spec.storageClassName: Invalid value: "Fast": ${NOT_A_SUBDOMAIN}`],
  ],
  [
    "a volume is a file system or a device",
    volume({ ...HOST_PATH, volumeMode: "Object" }),
    ['spec.volumeMode: Unsupported value: "Object": supported values: "Block", "Filesystem"'],
  ],
  [
    "a class of attributes has a name, and is for CSI",
    volume({ ...HOST_PATH, volumeAttributesClassName: "" }),
    [
      "spec.volumeAttributesClassName: Required value: an empty string is disallowed",
      "spec.csi: Required value: has to be specified when using volumeAttributesClassName",
    ],
  ],
  [
    "a class of attributes is called as an object",
    volume({ ...CSI, volumeAttributesClassName: "Gold" }),
    [`spec.volumeAttributesClassName: Invalid value: "Gold": ${NOT_A_SUBDOMAIN}`],
  ],
  [
    "options of the annotation are for some sources only",
    volume(HOST_PATH, MOUNT_OPTIONS),
    ["metadata.annotations.volume.beta.kubernetes.io/mount-options: Forbidden: may not specify mount options for this volume type"],
  ],
  ["options of the annotation are for NFS", volume({ nfs: { server: "files", path: "/" } }, MOUNT_OPTIONS), []],
  [
    "the files of a whole node are not removed to recycle a volume",
    volume({ hostPath: { path: "/./" }, persistentVolumeReclaimPolicy: "Recycle" }),
    ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"],
  ],
  [
    "what leads back to the root is the root",
    volume({ hostPath: { path: "/data/.." }, persistentVolumeReclaimPolicy: "Recycle" }),
    [
      "spec.hostPath.path: Invalid value: \"/data/..\": must not contain '..'",
      "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
    ],
  ],
  ["other directories can be recycled", volume({ hostPath: { path: "/data" }, persistentVolumeReclaimPolicy: "Recycle" }), []],
  ["a relative path is not the root", volume({ hostPath: { path: "." }, persistentVolumeReclaimPolicy: "Recycle" }), []],
];

for (const [title, sent, expected] of ROWS) {
  test(title, () => assert.deepEqual(problemsOfNew(persistentVolumes, sent), expected));
}

const EXPAND_SECRET = { csi: { ...CSI.csi, controllerExpandSecretRef: { name: "s", namespace: "n" } } };

const CHANGES: readonly [title: string, before: Sent, sent: Sent, problems: readonly string[]][] = [
  [
    "size, claim, policy, class, modes and options may change",
    volume(HOST_PATH),
    volume({
      ...HOST_PATH,
      capacity: { storage: "2Gi" },
      claimRef: { name: "c", namespace: "n" },
      persistentVolumeReclaimPolicy: "Delete",
      storageClassName: "slow",
      accessModes: ["ReadOnlyMany"],
      mountOptions: ["ro"],
    }),
    [],
  ],
  [
    "a volume stays where it is",
    volume(HOST_PATH),
    volume({ hostPath: { path: "/other" } }),
    [
      'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n@@ -1,6 +1,6 @@\n {\n  "hostPath": {\n-  "path": "/data",\n+  "path": "/other",\n   "type": ""\n  }\n }\n',
    ],
  ],
  [
    "a volume stays a file system",
    volume(HOST_PATH),
    volume({ ...HOST_PATH, volumeMode: "Block" }),
    ['volumeMode: Invalid value: "Block": field is immutable'],
  ],
  ["a secret for making it larger may be added", volume(CSI), volume(EXPAND_SECRET), []],
  [
    "a secret for making it larger stays",
    volume(EXPAND_SECRET),
    volume(CSI),
    [
      'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n@@ -1,10 +1,6 @@\n {\n  "csi": {\n   "driver": "disks.example.com",\n-  "volumeHandle": "vol-1",\n-  "controllerExpandSecretRef": {\n-   "name": "s",\n-   "namespace": "n"\n-  }\n+  "volumeHandle": "vol-1"\n  }\n }\n',
    ],
  ],
  ["nodes may be named later", volume(HOST_PATH), volume({ ...HOST_PATH, ...affinityTo("zone") }), []],
  [
    "nodes that are named stay",
    volume({ ...HOST_PATH, ...affinityTo("zone") }),
    volume({ ...HOST_PATH, ...affinityTo("zone", "b", { matchFields: [{ key: "metadata.name", operator: "In", values: ["n"] }] }) }),
    [
      'nodeAffinity: Invalid value: {"Required":{"NodeSelectorTerms":[{"MatchExpressions":[{"Key":"zone","Operator":"In","Values":["b"]}],"MatchFields":[{"Key":"metadata.name","Operator":"In","Values":["n"]}]}]}}: field is immutable, except for updating from beta label to GA',
    ],
  ],
  [
    "the affinity cannot be taken away",
    volume({ ...HOST_PATH, ...affinityTo("zone") }),
    volume(HOST_PATH),
    ["nodeAffinity: Invalid value: null: field is immutable, except for updating from beta label to GA"],
  ],
  [
    "the affinity cannot be emptied",
    volume({ ...HOST_PATH, ...affinityTo("zone") }),
    volume({ ...HOST_PATH, nodeAffinity: {} }),
    [
      "spec.nodeAffinity.required: Required value: must specify required node constraints",
      "spec.nodeAffinity.required: Required value: must specify required node constraints",
      'nodeAffinity: Invalid value: {"Required":null}: field is immutable, except for updating from beta label to GA',
    ],
  ],
  [
    "nodes cannot be left out of an affinity",
    volume({ ...HOST_PATH, ...affinityTo("zone") }),
    volume({ ...HOST_PATH, nodeAffinity: { required: {} } }),
    [
      "spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term",
      "spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term",
      'nodeAffinity: Invalid value: {"Required":{"NodeSelectorTerms":null}}: field is immutable, except for updating from beta label to GA',
    ],
  ],
  [
    "a label may be called by its newer name",
    volume({ ...HOST_PATH, ...affinityTo("failure-domain.beta.kubernetes.io/zone") }),
    volume({ ...HOST_PATH, ...affinityTo("topology.kubernetes.io/zone") }),
    [],
  ],
  [
    "a label may not be called by its older name again",
    volume({ ...HOST_PATH, ...affinityTo("topology.kubernetes.io/zone") }),
    volume({ ...HOST_PATH, ...affinityTo("failure-domain.beta.kubernetes.io/zone") }),
    [
      'nodeAffinity: Invalid value: {"Required":{"NodeSelectorTerms":[{"MatchExpressions":[{"Key":"failure-domain.beta.kubernetes.io/zone","Operator":"In","Values":["a"]}],"MatchFields":null}]}}: field is immutable, except for updating from beta label to GA',
    ],
  ],
  [
    "attributes may be others",
    volume({ ...CSI, volumeAttributesClassName: "gold" }),
    volume({ ...CSI, volumeAttributesClassName: "silver" }),
    [],
  ],
  [
    "attributes cannot be taken away",
    volume({ ...CSI, volumeAttributesClassName: "gold" }),
    volume(CSI),
    ["spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden"],
  ],
  [
    "an error in a changed spec is reported twice, as upstream does",
    volume(HOST_PATH),
    volume({ ...HOST_PATH, accessModes: [] }),
    ["spec.accessModes: Required value", "spec.accessModes: Required value"],
  ],
];

for (const [title, before, sent, expected] of CHANGES) {
  test(title, () => {
    const previous = newObject(persistentVolumes, before);

    assert.deepEqual(problemsOfChange(persistentVolumes, previous, sent), expected);
  });
}
