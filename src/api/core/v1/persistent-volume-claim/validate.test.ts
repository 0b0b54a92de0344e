/** Validation of a PersistentVolumeClaim, with upstream's messages. The lists are those of upstream's own server, version 1.36. */
import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../../machinery/object.ts";
import { changedObject, newObject, problemsOfChange, problemsOfNew, type Sent } from "../../../testing/kind.ts";
import { persistentVolumeClaims } from "../persistent-volume-claim.ts";
import { NOT_A_LABEL, NOT_A_LABEL_VALUE, NOT_A_QUALIFIED_NAME, NOT_A_SUBDOMAIN } from "../pod/testing/pods.ts";

const ANNOTATION = "volume.beta.kubernetes.io/storage-class";

/** A valid claim for 1 GiB, except for the given fields. */
function claim(spec: JsonObject = {}, metadata: JsonObject = {}): Sent {
  return { metadata, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec } };
}

function sized(storage: string, spec: JsonObject = {}): Sent {
  return claim({ resources: { requests: { storage } }, ...spec });
}

const ROWS: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  ["a claim with a mode and a size is right", claim(), []],
  [
    "a claim says how it will be mounted and how large the volume shall be",
    {},
    ["spec.accessModes: Required value: at least 1 access mode is required", "spec.resources[storage]: Required value"],
  ],
  [
    "the mode for a single Pod goes with no other",
    claim({ accessModes: ["Odd", "ReadWriteOncePod", "ReadWriteMany"] }),
    [
      'spec.accessModes: Unsupported value: "Odd": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
      "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
    ],
  ],
  ["a size is more than nothing", sized("0"), ['spec.resources[storage]: Invalid value: "0": must be greater than zero']],
  [
    "a selector of volumes is checked",
    claim({ selector: { matchLabels: { "a b": "c d" }, matchExpressions: [{ key: "a", operator: "Odd" }] } }),
    [
      `spec.selector.matchLabels: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      `spec.selector.matchLabels: Invalid value: "c d": ${NOT_A_LABEL_VALUE}`,
      'spec.selector.matchExpressions[0].operator: Invalid value: "Odd": not a valid selector operator',
    ],
  ],
  [
    "classes are called as objects",
    claim({ storageClassName: "Fast", volumeAttributesClassName: "Gold" }),
    [
      `spec.storageClassName: Invalid value: "Fast": ${NOT_A_SUBDOMAIN}`,
      `spec.volumeAttributesClassName: Invalid value: "Gold": ${NOT_A_SUBDOMAIN}`,
    ],
  ],
  ["no class at all is right", claim({ storageClassName: "", volumeAttributesClassName: "" }), []],
  [
    "a volume is a file system or a device",
    claim({ volumeMode: "Object" }),
    ['spec.volumeMode: Unsupported value: "Object": supported values: "Block", "Filesystem"'],
  ],
  [
    "a data source has a name and a kind",
    claim({ dataSourceRef: { name: "", kind: "" } }),
    [
      "spec.dataSource.name: Required value",
      "spec.dataSource.kind: Required value",
      "spec.dataSource: Invalid value: \"\": must be 'PersistentVolumeClaim' when referencing the default apiGroup",
      "spec.dataSourceRef.name: Required value",
      "spec.dataSourceRef.kind: Required value",
      "spec.dataSourceRef: Invalid value: \"\": must be 'PersistentVolumeClaim' when referencing the default apiGroup",
    ],
  ],
  [
    "a data source without a group is a claim",
    claim({ dataSourceRef: { name: "a", kind: "Backup" } }),
    [
      "spec.dataSource: Invalid value: \"Backup\": must be 'PersistentVolumeClaim' when referencing the default apiGroup",
      "spec.dataSourceRef: Invalid value: \"Backup\": must be 'PersistentVolumeClaim' when referencing the default apiGroup",
    ],
  ],
  [
    "the group of a data source is a domain",
    claim({ dataSourceRef: { name: "a", kind: "Backup", apiGroup: "Example" } }),
    [
      `spec.dataSource.apiGroup: Invalid value: "Example": ${NOT_A_SUBDOMAIN}`,
      `spec.dataSourceRef.apiGroup: Invalid value: "Example": ${NOT_A_SUBDOMAIN}`,
    ],
  ],
  [
    "two data sources are the same",
    claim({ dataSource: { kind: "PersistentVolumeClaim", name: "a" }, dataSourceRef: { kind: "PersistentVolumeClaim", name: "b" } }),
    ["spec: Invalid value: {}: must match dataSourceRef"],
  ],
];

for (const [title, sent, expected] of ROWS) {
  test(title, () => assert.deepEqual(problemsOfNew(persistentVolumeClaims, sent), expected));
}

const BACKUP = { kind: "Backup", name: "a", apiGroup: "example.com" };
const OLD_CLASS = { annotations: { [ANNOTATION]: "old" } };

const CHANGES: readonly [title: string, before: Sent, sent: Sent, problems: readonly string[]][] = [
  ["nothing changes", claim(), claim(), []],
  ["the same size may be written differently", sized("1Gi"), sized("1073741824"), []],
  [
    "a claim asks for the same as before",
    claim(),
    claim({ accessModes: ["ReadOnlyMany"] }),
    [
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -1,6 +1,6 @@\n {\n  "accessModes": [\n-  "ReadWriteOnce"\n+  "ReadOnlyMany"\n  ],\n  "resources": {\n   "requests": {\n',
    ],
  ],
  [
    "a claim without a volume does not grow",
    sized("1Gi"),
    sized("2Gi"),
    [
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -4,7 +4,7 @@\n  ],\n  "resources": {\n   "requests": {\n-   "storage": "1Gi"\n+   "storage": "2Gi"\n   }\n  },\n  "volumeMode": "Filesystem"\n',
    ],
  ],
  [
    "a claim without a volume keeps its attributes",
    claim(),
    claim({ volumeAttributesClassName: "gold" }),
    [
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -7,5 +7,6 @@\n    "storage": "1Gi"\n   }\n  },\n+ "volumeAttributesClassName": "gold",\n  "volumeMode": "Filesystem"\n }\n',
    ],
  ],
  ["a volume is named once", claim(), claim({ volumeName: "v" }), []],
  [
    "a volume that is named stays",
    claim({ volumeName: "v" }),
    claim({ volumeName: "w" }),
    [
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -7,6 +7,6 @@\n    "storage": "1Gi"\n   }\n  },\n- "volumeName": "v",\n+ "volumeName": "w",\n  "volumeMode": "Filesystem"\n }\n',
    ],
  ],
  ["a claim without a class may be given one", claim(), claim({ storageClassName: "fast" }), []],
  [
    "a class stays",
    claim({ storageClassName: "fast" }),
    claim({ storageClassName: "slow" }),
    [
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -7,6 +7,6 @@\n    "storage": "1Gi"\n   }\n  },\n- "storageClassName": "fast",\n+ "storageClassName": "slow",\n  "volumeMode": "Filesystem"\n }\n',
    ],
  ],
  ["the class of the annotation may move to the field", claim({}, OLD_CLASS), claim({ storageClassName: "old" }), []],
  ["the annotation may stay beside the field", claim({}, OLD_CLASS), claim({ storageClassName: "old" }, OLD_CLASS), []],
  [
    "no other class than that of the annotation may be given",
    claim({}, OLD_CLASS),
    claim({ storageClassName: "new" }, OLD_CLASS),
    [
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -7,5 +7,6 @@\n    "storage": "1Gi"\n   }\n  },\n+ "storageClassName": "new",\n  "volumeMode": "Filesystem"\n }\n',
    ],
  ],
  [
    "the annotation stays as it is",
    claim({}, OLD_CLASS),
    claim({}, { annotations: { [ANNOTATION]: "new" } }),
    ['metadata.annotations.volume.beta.kubernetes.io/storage-class: Invalid value: "new": field is immutable'],
  ],
  [
    "the annotation cannot go by itself",
    claim({}, OLD_CLASS),
    claim(),
    ['metadata.annotations.volume.beta.kubernetes.io/storage-class: Invalid value: "": field is immutable'],
  ],
  [
    "a claim stays one for a file system",
    claim(),
    claim({ volumeMode: "Block" }),
    [
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -7,5 +7,5 @@\n    "storage": "1Gi"\n   }\n  },\n- "volumeMode": "Filesystem"\n+ "volumeMode": "Block"\n }\n',
      'volumeMode: Invalid value: "Block": field is immutable',
    ],
  ],
  [
    "the group of a data source is not looked at again",
    claim({ dataSourceRef: BACKUP }),
    claim({ dataSourceRef: { ...BACKUP, apiGroup: "Odd" } }),
    [
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -10,11 +10,11 @@\n  "dataSourceRef": {\n   "kind": "Backup",\n   "name": "a",\n-  "apiGroup": "example.com"\n+  "apiGroup": "Odd"\n  },\n  "volumeMode": "Filesystem",\n  "dataSource": {\n-  "apiGroup": "example.com",\n+  "apiGroup": "Odd",\n   "kind": "Backup",\n   "name": "a"\n  }\n',
    ],
  ],
  [
    "a data source of another namespace cannot be named beside the older field",
    claim({ dataSourceRef: BACKUP }),
    claim({ dataSource: BACKUP, dataSourceRef: { ...BACKUP, namespace: "N" } }),
    [
      `spec.dataSourceRef.namespace: Invalid value: "N": ${NOT_A_LABEL}`,
      "spec: Invalid value: {}: may not be specified when dataSourceRef.namespace is specified",
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -10,7 +10,8 @@\n  "dataSourceRef": {\n   "kind": "Backup",\n   "name": "a",\n-  "apiGroup": "example.com"\n+  "apiGroup": "example.com",\n+  "namespace": "N"\n  },\n  "volumeMode": "Filesystem",\n  "dataSource": {\n',
    ],
  ],
];

for (const [title, before, sent, expected] of CHANGES) {
  test(title, () => {
    const previous = newObject(persistentVolumeClaims, before);

    assert.deepEqual(problemsOfChange(persistentVolumeClaims, previous, sent), expected);
  });
}

const BOUND = { phase: "Bound", capacity: { storage: "1Gi" } };
const APPLIED = { ...BOUND, currentVolumeAttributesClassName: "gold" };

const BOUND_CHANGES: readonly [title: string, before: Sent, status: JsonObject, sent: Sent, problems: readonly string[]][] = [
  ["a bound claim may grow", sized("1Gi"), BOUND, sized("2Gi"), []],
  ["a bound claim may shrink while it is larger than its volume", sized("3Gi"), BOUND, sized("2Gi"), []],
  [
    "a bound claim does not shrink to the size of its volume",
    sized("3Gi"),
    BOUND,
    sized("1Gi"),
    ["spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"],
  ],
  [
    "a bound claim does not change otherwise",
    sized("1Gi"),
    BOUND,
    sized("2Gi", { accessModes: ["ReadOnlyMany"] }),
    [
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -1,6 +1,6 @@\n {\n  "accessModes": [\n-  "ReadWriteOnce"\n+  "ReadOnlyMany"\n  ],\n  "resources": {\n   "requests": {\n',
    ],
  ],
  [
    "a bound claim keeps its limits",
    sized("1Gi"),
    BOUND,
    claim({ resources: { limits: { storage: "5Gi" }, requests: { storage: "2Gi" } } }),
    [
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -3,6 +3,9 @@\n   "ReadWriteOnce"\n  ],\n  "resources": {\n+  "limits": {\n+   "storage": "5Gi"\n+  },\n   "requests": {\n    "storage": "1Gi"\n   }\n',
    ],
  ],
  [
    "a bound claim still asks for something",
    sized("1Gi"),
    BOUND,
    claim({ resources: {} }),
    [
      "spec.resources[storage]: Required value",
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -2,10 +2,6 @@\n  "accessModes": [\n   "ReadWriteOnce"\n  ],\n- "resources": {\n-  "requests": {\n-   "storage": "1Gi"\n-  }\n- },\n+ "resources": {},\n  "volumeMode": "Filesystem"\n }\n',
      "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity",
    ],
  ],
  ["a bound claim may ask for attributes", claim(), BOUND, claim({ volumeAttributesClassName: "gold" }), []],
  ["attributes that were never given may be taken back", claim({ volumeAttributesClassName: "gold" }), BOUND, claim(), []],
  [
    "attributes that were given stay",
    claim({ volumeAttributesClassName: "gold" }),
    APPLIED,
    claim(),
    ["spec.volumeAttributesClassName: Forbidden: update to nil is forbidden when status.currentVolumeAttributesClassName is not nil"],
  ],
  [
    "attributes that were given are not emptied",
    claim({ volumeAttributesClassName: "gold" }),
    APPLIED,
    claim({ volumeAttributesClassName: "" }),
    [
      "spec.volumeAttributesClassName: Forbidden: update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil",
    ],
  ],
  [
    "attributes that were given may be replaced",
    claim({ volumeAttributesClassName: "gold" }),
    APPLIED,
    claim({ volumeAttributesClassName: "silver" }),
    [],
  ],
];

for (const [title, before, status, sent, expected] of BOUND_CHANGES) {
  test(title, () => {
    const previous = changedObject(persistentVolumeClaims, newObject(persistentVolumeClaims, before), { status }, "status");

    assert.deepEqual(problemsOfChange(persistentVolumeClaims, previous, sent), expected);
  });
}

const STATUSES: readonly [title: string, status: JsonObject, problems: readonly string[]][] = [
  ["a status that says how far a claim is, is right", { ...APPLIED, allocatedResourceStatuses: { storage: "NodeResizePending" } }, []],
  [
    "a volume is not smaller than nothing",
    { capacity: { storage: "-1" } },
    ["status.capacity[storage]: Invalid value: -1: must be a valid resource quantity"],
  ],
  [
    "a resize is in a state that there is",
    { allocatedResourceStatuses: { storage: "Odd" } },
    [
      'status.allocatedResourceStatuses: Unsupported value: "storage": supported values: "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"',
    ],
  ],
  [
    "what is resized has a name",
    { allocatedResourceStatuses: { "a b": "NodeResizePending" } },
    [`status.allocatedResourceStatuses: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`],
  ],
  [
    "what is resized is storage",
    { allocatedResourceStatuses: { cpu: "NodeResizePending" } },
    ['status.allocatedResourceStatuses: Unsupported value: "cpu": supported values: "storage"'],
  ],
  ["what others call by their own names can be resized", { allocatedResources: { "example.com/iops": "1" } }, []],
  [
    "what is set aside has a name",
    { allocatedResources: { "a b": "1" } },
    [`status.allocatedResources: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`],
  ],
  [
    "what is set aside is storage",
    { allocatedResources: { cpu: "1" } },
    ['status.allocatedResources: Unsupported value: "cpu": supported values: "storage"'],
  ],
  [
    "what is set aside is not less than nothing",
    { allocatedResources: { storage: "-1" } },
    ["status.allocatedResources[storage]: Invalid value: -1: must be a valid resource quantity"],
  ],
];

for (const [title, status, expected] of STATUSES) {
  test(title, () => {
    const previous = newObject(persistentVolumeClaims, claim());

    assert.deepEqual(problemsOfChange(persistentVolumeClaims, previous, { status }, "status"), expected);
  });
}

test("a status write to a claim without access modes is rejected", () => {
  const previous = newObject(persistentVolumeClaims, claim({ accessModes: [] }));

  assert.deepEqual(problemsOfChange(persistentVolumeClaims, previous, { status: BOUND }, "status"), ["Spec.accessModes: Required value"]);
});
