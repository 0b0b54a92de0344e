import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../machinery/object.ts";
import { cellsOf, changedObject, columnNames, newObject, received, warningsOfNew, type Sent } from "../../testing/kind.ts";
import { persistentVolumeClaims } from "./persistent-volume-claim.ts";

function claim(spec: JsonObject = {}, metadata: JsonObject = {}): Sent {
  return { metadata, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec } };
}

test("volumeMode of a claim defaults to Filesystem and its phase to Pending", () => {
  const { spec, status } = received(persistentVolumeClaims, claim());

  assert.deepEqual([spec?.volumeMode, status], ["Filesystem", { phase: "Pending" }]);
});

test("storage amounts are rounded up to thousandths", () => {
  const amounts = { storage: "0.0001" };
  const sent = {
    ...claim({ resources: { requests: amounts, limits: amounts } }),
    status: { capacity: amounts, allocatedResources: amounts },
  };

  const object = received(persistentVolumeClaims, sent);

  const rounded = { storage: "1m" };
  assert.deepEqual(object.spec?.resources, { requests: rounded, limits: rounded });
  assert.deepEqual(object.status, { phase: "Pending", capacity: rounded, allocatedResources: rounded });
  assert.equal(persistentVolumeClaims.served[0]?.defaults?.(object), object);
});

test("a new claim is Pending, whatever status the client sends", () => {
  assert.deepEqual(newObject(persistentVolumeClaims, { ...claim(), status: { phase: "Bound" } }).status, { phase: "Pending" });
});

test("an update of the claim keeps the status, a status write keeps the claim", () => {
  const previous = newObject(persistentVolumeClaims, claim());
  const sent = { ...claim({ volumeName: "v" }), status: { phase: "Bound" } };

  assert.equal(changedObject(persistentVolumeClaims, previous, sent).status, previous.status);
  assert.equal(changedObject(persistentVolumeClaims, previous, sent, "status").spec, previous.spec);
  assert.deepEqual(changedObject(persistentVolumeClaims, previous, sent, "status").status, { phase: "Bound" });
});

const CLAIM = { kind: "PersistentVolumeClaim", name: "a" };
const SNAPSHOT = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "a" };
const BACKUP = { apiGroup: "example.com", kind: "Backup", name: "a" };

const SOURCES: readonly [title: string, sent: JsonObject, dataSource: JsonObject | undefined, dataSourceRef: JsonObject | undefined][] = [
  ["a claim in the older field is copied to both", { dataSource: CLAIM }, CLAIM, CLAIM],
  ["a snapshot in the older field is copied to both", { dataSource: SNAPSHOT }, SNAPSHOT, SNAPSHOT],
  ["anything else in the older field is dropped", { dataSource: BACKUP }, undefined, undefined],
  ["a claim of another group in the older field is dropped", { dataSource: { ...CLAIM, apiGroup: "example.com" } }, undefined, undefined],
  ["anything in the newer field is copied to both", { dataSourceRef: BACKUP }, BACKUP, BACKUP],
  ["anything in both fields stays", { dataSource: BACKUP, dataSourceRef: BACKUP }, BACKUP, BACKUP],
  ["a source of another namespace is dropped", { dataSourceRef: { ...CLAIM, namespace: "n" } }, undefined, undefined],
  [
    "beside a source of another namespace the older field counts",
    { dataSource: CLAIM, dataSourceRef: { ...CLAIM, namespace: "n" } },
    CLAIM,
    CLAIM,
  ],
];

for (const [title, sent, dataSource, dataSourceRef] of SOURCES) {
  test(title, () => {
    const { spec } = newObject(persistentVolumeClaims, claim(sent));

    assert.deepEqual([spec?.dataSource, spec?.dataSourceRef], [dataSource, dataSourceRef]);
  });
}

test("a client that knows only dataSource does not lose dataSourceRef", () => {
  const previous = newObject(persistentVolumeClaims, claim({ dataSourceRef: BACKUP }));

  assert.deepEqual(changedObject(persistentVolumeClaims, previous, claim({ dataSource: BACKUP })), previous);
});

test("a data source that an update adds is normalized like that of a new claim", () => {
  const previous = newObject(persistentVolumeClaims, claim());

  assert.deepEqual(changedObject(persistentVolumeClaims, previous, claim({ dataSource: BACKUP })), previous);
});

test("the legacy class annotation and fractional bytes produce warnings", () => {
  const resources = { requests: { storage: "1.5" }, limits: { storage: "2.5" } };
  const sent = claim({ resources }, { annotations: { "volume.beta.kubernetes.io/storage-class": "fast" } });

  assert.deepEqual(warningsOfNew(persistentVolumeClaims, sent), [
    'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
    'spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
    'spec.resources.limits[storage]: fractional byte value "2500m" is invalid, must be an integer',
  ]);
  assert.deepEqual(warningsOfNew(persistentVolumeClaims, claim()), []);
});

test("the table of a bound claim shows its volume, capacity and modes", () => {
  const bound = { phase: "Bound", capacity: { storage: "2Gi" }, accessModes: ["ReadWriteOnce"] };
  const sent = claim({ volumeName: "v", storageClassName: "fast", volumeAttributesClassName: "gold" });
  const object = changedObject(persistentVolumeClaims, newObject(persistentVolumeClaims, sent), { status: bound }, "status");

  assert.deepEqual(columnNames(persistentVolumeClaims), [
    "Name",
    "Status",
    "Volume",
    "Capacity",
    "Access Modes",
    "StorageClass",
    "VolumeAttributesClass",
    "Age",
    "VolumeMode*",
  ]);
  assert.deepEqual(cellsOf(persistentVolumeClaims, object), {
    Name: "x",
    Status: "Bound",
    Volume: "v",
    Capacity: "2Gi",
    "Access Modes": "RWO",
    StorageClass: "fast",
    VolumeAttributesClass: "gold",
    Age: "<unknown>",
    VolumeMode: "Filesystem",
  });
});

test("the table of a claim shows no capacity before it is bound, and 0 while it is unknown", () => {
  const cell = (spec: JsonObject) => cellsOf(persistentVolumeClaims, newObject(persistentVolumeClaims, claim(spec)))["Capacity"];

  assert.deepEqual([cell({}), cell({ volumeName: "v" })], ["", "0"]);
});
