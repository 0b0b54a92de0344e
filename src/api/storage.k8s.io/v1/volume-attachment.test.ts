import assert from "node:assert/strict";
import test from "node:test";
import { SOURCES } from "../../core/v1/persistent-volume/validate-source.ts";
import { NOT_A_SUBDOMAIN } from "../../core/v1/pod/testing/pods.ts";
import type { JsonObject } from "../../machinery/object.ts";
import {
  cellsOf,
  changedObject,
  columnNames,
  newObject,
  problemsOfChange,
  problemsOfNew,
  received,
  type Sent,
} from "../../testing/kind.ts";
import { volumeAttachments } from "./volume-attachment.ts";

/** A valid attachment, except for the given fields. */
function attachment(spec: JsonObject = {}): Sent {
  return { spec: { attacher: "disks.example.com", nodeName: "node-1", source: { persistentVolumeName: "pv-1" }, ...spec } };
}

function inline(spec: JsonObject): Sent {
  return attachment({ source: { inlineVolumeSpec: { accessModes: ["ReadWriteOnce"], ...spec } } });
}

const CSI = { csi: { driver: "disks.example.com", volumeHandle: "vol-1" } };

const ROWS: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  ["a volume, a node and a driver are right", attachment(), []],
  ["an inline volume of CSI is right", inline(CSI), []],
  [
    "an attachment has a driver, a volume and a node",
    {},
    [
      "spec.attacher: Required value",
      "spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName",
      `spec.nodeName: Invalid value: "": ${NOT_A_SUBDOMAIN}`,
    ],
  ],
  [
    "a driver is called as a domain",
    attachment({ attacher: `Disks_${"a".repeat(58)}` }),
    [
      "spec.attacher: Too long: may not be more than 63 bytes",
      `spec.attacher: Invalid value: "Disks_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": ${NOT_A_SUBDOMAIN}`,
    ],
  ],
  ["a node is called as an object", attachment({ nodeName: "Node" }), [`spec.nodeName: Invalid value: "Node": ${NOT_A_SUBDOMAIN}`]],
  [
    "a volume is named",
    attachment({ source: { persistentVolumeName: "" } }),
    [
      "spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName",
      `spec.source.persistentVolumeName: Invalid value: "": ${NOT_A_SUBDOMAIN}`,
    ],
  ],
  [
    "a volume is called as an object",
    attachment({ source: { persistentVolumeName: "Disk" } }),
    [`spec.source.persistentVolumeName: Invalid value: "Disk": ${NOT_A_SUBDOMAIN}`],
  ],
  [
    "there is one volume",
    attachment({ source: { persistentVolumeName: "pv-1", inlineVolumeSpec: {} } }),
    ["spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and persistentVolumeName"],
  ],
  [
    "an inline volume is one of CSI",
    inline({}),
    [
      "spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes",
      "spec.source.inlineVolumeSpec: Required value: must specify a volume type",
    ],
  ],
  [
    "an inline volume says how it can be mounted",
    inline({ ...CSI, accessModes: [] }),
    ["spec.source.inlineVolumeSpec.accessModes: Required value"],
  ],
  [
    "an inline volume says nothing of claims, sizes, nodes and classes",
    inline({
      ...CSI,
      claimRef: {},
      capacity: { storage: "1Gi" },
      persistentVolumeReclaimPolicy: "Delete",
      nodeAffinity: {},
      storageClassName: "fast",
      volumeMode: "Block",
      volumeAttributesClassName: "",
    }),
    [
      "spec.source.inlineVolumeSpec.claimRef: Forbidden: may not be specified in the context of inline volumes",
      "spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context of inline volumes",
      "spec.source.inlineVolumeSpec.persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes",
      "spec.source.inlineVolumeSpec.nodeAffinity: Forbidden: may not be specified in the context of inline volumes",
      "spec.source.inlineVolumeSpec.storageClassName: Forbidden: may not be specified in the context of inline volumes",
      "spec.source.inlineVolumeSpec.volumeMode: Forbidden: may not specify volumeMode other than Filesystem in the context of inline volumes",
    ],
  ],
  [
    "the mode for a single Pod goes with no other, of an inline volume neither",
    inline({ ...CSI, accessModes: ["Odd", "ReadWriteOncePod", "ReadWriteMany"] }),
    [
      'spec.source.inlineVolumeSpec.accessModes: Unsupported value: "Odd": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
      "spec.source.inlineVolumeSpec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
    ],
  ],
  [
    "an inline volume of Flocker has a name or an id",
    inline({ flocker: {} }),
    [
      "spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes",
      "spec.source.inlineVolumeSpec.flocker: Required value: one of datasetName and datasetUUID is required",
    ],
  ],
  [
    "an inline volume of Flocker has not both",
    inline({ flocker: { datasetName: "a", datasetUUID: "b" } }),
    [
      "spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes",
      'spec.source.inlineVolumeSpec.flocker: Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously',
    ],
  ],
  [
    "an inline volume is not local",
    inline({ local: { path: "/data" }, nodeAffinity: {} }),
    [
      "spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes",
      "spec.source.inlineVolumeSpec.nodeAffinity: Forbidden: may not be specified in the context of inline volumes",
      "spec.source.inlineVolumeSpec.nodeAffinity: Required value: Local volume requires node affinity",
    ],
  ],
  [
    "an inline volume is not recycled",
    inline({ hostPath: { path: "/" }, persistentVolumeReclaimPolicy: "Recycle" }),
    [
      "spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes",
      "spec.source.inlineVolumeSpec.persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes",
      "spec.source.inlineVolumeSpec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
    ],
  ],
];

for (const [title, sent, expected] of ROWS) {
  test(title, () => assert.deepEqual(problemsOfNew(volumeAttachments, sent), expected));
}

test("an inline volume has exactly one source", () => {
  const others = SOURCES.filter((source) => source !== "hostPath");
  const sent = inline({ hostPath: { path: "/a" }, ...Object.fromEntries(others.map((source) => [source, {}])) });

  assert.deepEqual(
    problemsOfNew(volumeAttachments, sent),
    others.map((source) => {
      if (source === "flexVolume") return "spec.source.inlineVolumeSpec.flexVolume.driver: Required value";
      const name = source === "cephfs" ? "cephFS" : source;
      return `spec.source.inlineVolumeSpec.${name}: Forbidden: may not specify more than 1 volume type`;
    }),
  );
});

test("the spec of a VolumeAttachment is immutable, by either path", () => {
  const previous = newObject(volumeAttachments, attachment());
  const sent = attachment({ nodeName: "node-2" });

  assert.deepEqual(problemsOfChange(volumeAttachments, previous, attachment()), []);
  assert.deepEqual(problemsOfChange(volumeAttachments, previous, sent), [
    'spec: Invalid value: {"Attacher":"disks.example.com","Source":{"PersistentVolumeName":"pv-1","InlineVolumeSpec":null},"NodeName":"node-2"}: field is immutable',
  ]);
  assert.deepEqual(problemsOfChange(volumeAttachments, previous, { ...sent, status: { attached: true } }, "status"), []);
});

const STATUSES: readonly [title: string, status: JsonObject, problems: readonly string[]][] = [
  ["a status with a mistake of the driver is right", { attached: false, attachError: { message: "m", errorCode: 8 } }, []],
  [
    "attachment metadata above the limit is invalid",
    { attached: true, attachmentMetadata: { a: "x".repeat(256 * 1024) } },
    ["status.attachmentMetadata: Too long: may not be more than 262144 bytes"],
  ],
  ["attachment metadata up to the limit is valid", { attached: true, attachmentMetadata: { a: "x".repeat(256 * 1024 - 1) } }, []],
  ["a message may be that long", { attached: false, attachError: { message: "x".repeat(1024) } }, []],
  [
    "a message is not too long",
    { attached: false, attachError: { message: "x".repeat(1025) } },
    ["status.attachError.message: Too long: may not be more than 262144 bytes"],
  ],
  [
    "a code is not negative",
    { attached: false, detachError: { errorCode: -1 } },
    ["status.detachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive"],
  ],
];

for (const [title, status, expected] of STATUSES) {
  test(title, () => {
    const previous = newObject(volumeAttachments, attachment());

    assert.deepEqual(problemsOfChange(volumeAttachments, previous, { ...attachment(), status }, "status"), expected);
  });
}

test("an inline volume gets the defaults of a volume, except for reclaim policy and mode", () => {
  const { spec } = received(volumeAttachments, inline({ hostPath: { path: "/data" }, capacity: { storage: "0.0001" } }));

  assert.deepEqual(spec.source.inlineVolumeSpec, {
    accessModes: ["ReadWriteOnce"],
    hostPath: { path: "/data", type: "" },
    capacity: { storage: "1m" },
  });
});

test("a new VolumeAttachment is not attached, whatever status the client sends", () => {
  assert.deepEqual(newObject(volumeAttachments, { ...attachment(), status: { attached: true } }).status, { attached: false });
});

test("a status write changes nothing but the status, and an update keeps it", () => {
  const previous = newObject(volumeAttachments, { ...attachment(), metadata: { labels: { a: "1" }, finalizers: ["example.com/x"] } });
  const sent = {
    ...attachment({ nodeName: "node-2" }),
    metadata: { labels: { a: "2" }, annotations: { b: "3" } },
    status: { attached: true },
  };

  const byStatus = changedObject(volumeAttachments, previous, sent, "status");

  assert.deepEqual([byStatus.metadata, byStatus.spec, byStatus.status], [previous.metadata, previous.spec, { attached: true }]);
  assert.deepEqual(changedObject(volumeAttachments, previous, sent).status, { attached: false });
});

test("the table of VolumeAttachments shows driver, volume, node and attached", () => {
  assert.deepEqual(columnNames(volumeAttachments), ["Name", "Attacher", "PV", "Node", "Attached", "Age"]);
  assert.deepEqual(cellsOf(volumeAttachments, newObject(volumeAttachments, attachment())), {
    Name: "x",
    Attacher: "disks.example.com",
    PV: "pv-1",
    Node: "node-1",
    Attached: false,
    Age: "<unknown>",
  });
  assert.equal(cellsOf(volumeAttachments, newObject(volumeAttachments, inline(CSI)))["PV"], "");
});
