import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../machinery/object.ts";
import { cellsOf, changedObject, columnNames, newObject, received, warningsOfNew, type Sent } from "../../testing/kind.ts";
import { persistentVolumes } from "./persistent-volume.ts";

const NOW = "1970-01-01T00:00:00Z";
const LONG_AGO = "1960-01-01T00:00:00Z";

function volume(spec: JsonObject = { hostPath: { path: "/data" } }, metadata: JsonObject = {}): Sent {
  return { metadata, spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], ...spec } };
}

test("a PersistentVolume defaults to reclaim policy Retain and volume mode Filesystem", () => {
  const { spec, status } = received(persistentVolumes, volume());

  assert.deepEqual([spec?.persistentVolumeReclaimPolicy, spec?.volumeMode, status?.phase], ["Retain", "Filesystem", "Pending"]);
});

test("the capacity is rounded up to thousandths", () => {
  const { spec } = received(persistentVolumes, volume({ capacity: { storage: "0.0001" } }));

  assert.deepEqual(spec?.capacity, { storage: "1m" });
});

const SOURCES: readonly [source: string, given: JsonObject, defaulted: JsonObject][] = [
  ["hostPath", { path: "/data" }, { path: "/data", type: "" }],
  ["iscsi", { targetPortal: "p", iqn: "i", lun: 1 }, { targetPortal: "p", iqn: "i", lun: 1, iscsiInterface: "default" }],
  [
    "rbd",
    { monitors: ["m"], image: "i", secretRef: { name: "s", namespace: "n" } },
    { monitors: ["m"], image: "i", secretRef: { name: "s", namespace: "n" }, pool: "rbd", user: "admin", keyring: "/etc/ceph/keyring" },
  ],
  [
    "azureDisk",
    { diskName: "d", diskURI: "u" },
    { diskName: "d", diskURI: "u", cachingMode: "ReadWrite", fsType: "ext4", readOnly: false, kind: "Shared" },
  ],
  [
    "scaleIO",
    { gateway: "g", system: "s", secretRef: {} },
    { gateway: "g", system: "s", secretRef: {}, storageMode: "ThinProvisioned", fsType: "xfs" },
  ],
];

for (const [source, given, defaulted] of SOURCES) {
  test(`${source} gets its defaults`, () => {
    const object = received(persistentVolumes, volume({ [source]: given }));

    assert.deepEqual((object.spec as JsonObject)[source], defaulted);
    assert.equal(persistentVolumes.served[0]?.defaults?.(object), object);
  });
}

test("a new PersistentVolume is Pending with a fresh transition time, whatever status the client sends", () => {
  const { status } = newObject(persistentVolumes, { ...volume(), status: { phase: "Bound", message: "mine" } });

  assert.deepEqual(status, { phase: "Pending", lastPhaseTransitionTime: NOW });
});

test("an update of the volume keeps the status, a status write keeps the volume", () => {
  const previous = newObject(persistentVolumes, volume());
  const sent = { ...volume({ capacity: { storage: "2Gi" } }), status: { phase: "Bound" } };

  assert.equal(changedObject(persistentVolumes, previous, sent).status, previous.status);
  assert.equal(changedObject(persistentVolumes, previous, sent, "status").spec, previous.spec);
});

const PHASES: readonly [title: string, sent: JsonObject, time: string | undefined][] = [
  ["the time stays while the phase does", { phase: "Available" }, LONG_AGO],
  [
    "a time that a client knows better is taken",
    { phase: "Available", lastPhaseTransitionTime: "1965-01-01T00:00:00Z" },
    "1965-01-01T00:00:00Z",
  ],
  ["another phase begins now", { phase: "Bound" }, NOW],
  ["another phase begins now if the client sends the old time back", { phase: "Bound", lastPhaseTransitionTime: LONG_AGO }, NOW],
  [
    "another phase begins when the client says",
    { phase: "Bound", lastPhaseTransitionTime: "1965-01-01T00:00:00Z" },
    "1965-01-01T00:00:00Z",
  ],
];

for (const [title, status, time] of PHASES) {
  test(title, () => {
    const previous = {
      ...newObject(persistentVolumes, volume()),
      status: { phase: "Available", lastPhaseTransitionTime: LONG_AGO } as const,
    };

    assert.equal(changedObject(persistentVolumes, previous, { status }, "status").status?.lastPhaseTransitionTime, time);
  });
}

test("deprecated fields and annotations produce warnings", () => {
  const term = (key: string): JsonObject => ({ matchExpressions: [{ key, operator: "Exists" }] });
  const sent = volume(
    {
      persistentVolumeReclaimPolicy: "Recycle",
      nodeAffinity: { required: { nodeSelectorTerms: [term("zone"), term("beta.kubernetes.io/os")] } },
      cephfs: {},
      photonPersistentDisk: {},
      scaleIO: {},
      storageos: {},
      glusterfs: {},
      rbd: {},
      flocker: {},
      quobyte: {},
    },
    { annotations: { "volume.beta.kubernetes.io/storage-class": "fast", "volume.beta.kubernetes.io/mount-options": "ro" } },
  );

  assert.deepEqual(warningsOfNew(persistentVolumes, sent), [
    'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
    'metadata.annotations[volume.beta.kubernetes.io/mount-options]: deprecated since v1.31; use "mountOptions" attribute instead',
    "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.",
    'spec.nodeAffinity.required.nodeSelectorTerms[1].matchExpressions[0].key: beta.kubernetes.io/os is deprecated since v1.14; use "kubernetes.io/os" instead',
    "spec.cephfs: deprecated in v1.28, non-functional in v1.31+",
    "spec.photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+",
    "spec.scaleIO: deprecated in v1.16, non-functional in v1.22+",
    "spec.storageOS: deprecated in v1.22, non-functional in v1.25+",
    "spec.glusterfs: deprecated in v1.25, non-functional in v1.26+",
    "spec.rbd: deprecated in v1.28, non-functional in v1.31+",
  ]);
  assert.deepEqual(warningsOfNew(persistentVolumes, volume()), []);
});

test("the table of PersistentVolumes shows capacity, modes, phase, claim and class", () => {
  const sent = volume({
    hostPath: { path: "/data" },
    accessModes: ["ReadWriteMany", "ReadOnlyMany", "ReadWriteOnce", "ReadWriteOnce"],
    claimRef: { namespace: "shop", name: "orders" },
    storageClassName: "fast",
    volumeAttributesClassName: "gold",
  });

  assert.deepEqual(columnNames(persistentVolumes), [
    "Name",
    "Capacity",
    "Access Modes",
    "Reclaim Policy",
    "Status",
    "Claim",
    "StorageClass",
    "VolumeAttributesClass",
    "Reason",
    "Age",
    "VolumeMode*",
  ]);
  assert.deepEqual(cellsOf(persistentVolumes, newObject(persistentVolumes, sent)), {
    Name: "x",
    Capacity: "1Gi",
    "Access Modes": "RWO,ROX,RWX",
    "Reclaim Policy": "Retain",
    Status: "Pending",
    Claim: "shop/orders",
    StorageClass: "fast",
    VolumeAttributesClass: "gold",
    Reason: "",
    Age: "<unknown>",
    VolumeMode: "Filesystem",
  });
});

test("the table shows the class of the annotation, and Terminating for a deleted volume", () => {
  const annotations = { "volume.beta.kubernetes.io/storage-class": "old" };
  const going = volume({ storageClassName: "new", accessModes: ["ReadWriteOncePod"] }, { annotations, deletionTimestamp: NOW });

  const cells = cellsOf(persistentVolumes, newObject(persistentVolumes, going));

  assert.deepEqual([cells["StorageClass"], cells["Status"], cells["Access Modes"], cells["Claim"]], ["old", "Terminating", "RWOP", ""]);
});
