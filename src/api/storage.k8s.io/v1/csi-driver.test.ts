import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../machinery/object.ts";
import {
  cellsOf,
  changedObject,
  columnNames,
  newObject,
  problemsOfChange,
  problemsOfNew,
  received,
  warningsOfNew,
} from "../../testing/kind.ts";
import { csiDrivers } from "./csi-driver.ts";

test("a CSIDriver gets its defaults", () => {
  const object = received(csiDrivers, {});

  assert.deepEqual(object.spec, {
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    fsGroupPolicy: "ReadWriteOnceWithFSType",
    volumeLifecycleModes: ["Persistent"],
    requiresRepublish: false,
    seLinuxMount: false,
  });
  assert.equal(csiDrivers.served[0]?.defaults?.(object), object);
});

test("preventPodSchedulingIfMissing is dropped", () => {
  const sent = { spec: { preventPodSchedulingIfMissing: true } };
  const object = newObject(csiDrivers, sent);

  assert.deepEqual(object, newObject(csiDrivers, {}));
  assert.deepEqual(changedObject(csiDrivers, object, sent), object);
});

test("the generation of a CSIDriver starts with its first change", () => {
  const object = newObject(csiDrivers, {});
  const changed = changedObject(csiDrivers, object, { spec: { storageCapacity: true } });

  assert.deepEqual(
    [object, changed].map(({ metadata }) => metadata.generation),
    [undefined, 1],
  );
  assert.equal(changedObject(csiDrivers, changed, { metadata: { generation: 1 }, spec: { storageCapacity: true } }).metadata.generation, 1);
  assert.equal(changedObject(csiDrivers, changed, {}).metadata.generation, 2);
});

const ROWS: readonly [title: string, spec: JsonObject, problems: readonly string[]][] = [
  ["an empty spec is valid", {}, []],
  [
    "a policy for groups is one that there is",
    { fsGroupPolicy: "Always" },
    ['spec.fsGroupPolicy: Unsupported value: "Always": supported values: "File", "None", "ReadWriteOnceWithFSType"'],
  ],
  [
    "volumes are persistent or ephemeral",
    { volumeLifecycleModes: ["Persistent", "Forever"] },
    ['spec.volumeLifecycleModes: Unsupported value: "Forever": supported values: "Persistent", "Ephemeral"'],
  ],
  [
    "a driver is not asked all the time",
    { nodeAllocatableUpdatePeriodSeconds: 9 },
    ["spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds"],
  ],
  ["an update period of ten seconds is valid", { nodeAllocatableUpdatePeriodSeconds: 10 }, []],
  [
    "an audience is named once",
    { tokenRequests: [{ audience: "a" }, { audience: "a", expirationSeconds: 1 }] },
    ['spec.tokenRequests[1].audience: Duplicate value: "a"'],
  ],
  [
    "a token lives for ten minutes",
    { tokenRequests: [{ audience: "a", expirationSeconds: 599 }] },
    ["spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes"],
  ],
  [
    "a token does not live for ever",
    { tokenRequests: [{ audience: "a", expirationSeconds: 4_294_967_297 }] },
    ["spec.tokenRequests[0].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds"],
  ],
  [
    "tokens live from ten minutes on",
    {
      tokenRequests: [
        { audience: "a", expirationSeconds: 600 },
        { audience: "", expirationSeconds: 4_294_967_296 },
      ],
    },
    [],
  ],
  [
    "where tokens are put is said of tokens only",
    { serviceAccountTokenInSecrets: true },
    ["spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no tokenRequests are specified"],
  ],
  [
    "where tokens are not put is said of tokens only",
    { serviceAccountTokenInSecrets: false },
    ["spec.serviceAccountTokenInSecrets: Invalid value: false: serviceAccountTokenInSecrets is set but no tokenRequests are specified"],
  ],
];

for (const [title, spec, expected] of ROWS) {
  test(title, () => assert.deepEqual(problemsOfNew(csiDrivers, { spec }), expected));
}

test("attachRequired and volumeLifecycleModes are immutable", () => {
  const previous = newObject(csiDrivers, {});
  const others = { podInfoOnMount: true, fsGroupPolicy: "None", requiresRepublish: true, seLinuxMount: true, storageCapacity: true };

  assert.deepEqual(problemsOfChange(csiDrivers, previous, { spec: others }), []);
  assert.deepEqual(problemsOfChange(csiDrivers, previous, { spec: { attachRequired: false, volumeLifecycleModes: ["Ephemeral"] } }), [
    "spec.attachedRequired: Invalid value: false: field is immutable",
    'spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable',
  ]);
});

test("requested tokens in volume attributes produce a warning", () => {
  const sent = { spec: { tokenRequests: [{ audience: "a" }] } };
  const warning =
    "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes";
  const object = newObject(csiDrivers, sent);

  assert.deepEqual(warningsOfNew(csiDrivers, sent), [warning]);
  assert.deepEqual(warningsOfNew(csiDrivers, { spec: { ...sent.spec, serviceAccountTokenInSecrets: false } }), []);
  assert.deepEqual([...(csiDrivers.warnings?.(object, object) ?? [])], []);
  assert.deepEqual([...(csiDrivers.warnings?.(object, newObject(csiDrivers, {})) ?? [])], [warning]);
});

test("the table of CSIDrivers shows the driver's requirements", () => {
  const object = newObject(csiDrivers, {
    spec: { tokenRequests: [{ audience: "a" }, { audience: "b" }], volumeLifecycleModes: ["Persistent", "Ephemeral"] },
  });

  assert.deepEqual(columnNames(csiDrivers), [
    "Name",
    "AttachRequired",
    "PodInfoOnMount",
    "StorageCapacity",
    "TokenRequests",
    "RequiresRepublish",
    "Modes",
    "Age",
  ]);
  assert.deepEqual(cellsOf(csiDrivers, object), {
    Name: "x",
    AttachRequired: true,
    PodInfoOnMount: false,
    StorageCapacity: false,
    TokenRequests: "a,b",
    RequiresRepublish: false,
    Modes: "Persistent,Ephemeral",
    Age: "<unknown>",
  });
  assert.equal(cellsOf(csiDrivers, newObject(csiDrivers, {}))["TokenRequests"], "<unset>");
});
