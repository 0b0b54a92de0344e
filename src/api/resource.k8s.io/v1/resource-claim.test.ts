import assert from "node:assert/strict";
import test from "node:test";
import type { ResourceClaim } from "../../generated/resource.k8s.io/v1.ts";
import type { JsonObject } from "../../machinery/object.ts";
import { cellsOf, changedObject, columnNames, newObject, problemsOfChange, received } from "../../testing/kind.ts";
import { resourceClaims } from "./resource-claim.ts";

const SPEC: JsonObject = { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "c" } }] } };

function allocated(...devices: readonly string[]): JsonObject {
  return { devices: { results: devices.map((device) => ({ request: "gpu", driver: "d", pool: "p", device })) } };
}

function reported(...devices: readonly string[]): readonly JsonObject[] {
  return devices.map((device) => ({ driver: "d", pool: "p", device }));
}

function claim(status: JsonObject = {}, metadata: JsonObject = {}): ResourceClaim {
  return received(resourceClaims, { metadata, spec: SPEC, status });
}

test("a ResourceClaim without requests is stored without defaults", () => {
  const nothing = newObject(resourceClaims, { spec: {} });

  assert.deepEqual(nothing.spec, { devices: { requests: null } });
  assert.equal(resourceClaims.served[0]?.defaults?.(nothing), nothing);
  assert.deepEqual(
    problemsOfChange(resourceClaims, nothing, { spec: { devices: { constraints: [{ matchAttribute: "a/b" }] } } }).length,
    1,
  );
});

test("the device count of a request defaults to 1, and the operator of a toleration to Equal", () => {
  const tolerations = [{ key: "a" }, { operator: "Exists" }];
  const requests = [
    { name: "a", exactly: { deviceClassName: "c", tolerations } },
    { name: "b", exactly: { deviceClassName: "c", allocationMode: "All" } },
    { name: "c", firstAvailable: [{ name: "d", deviceClassName: "c", tolerations }] },
  ];
  const filled = { deviceClassName: "c", tolerations: [{ key: "a", operator: "Equal" }, { operator: "Exists" }] };
  const one = { ...filled, allocationMode: "ExactCount", count: 1 };

  const object = received(resourceClaims, { spec: { devices: { requests } } });

  assert.deepEqual(object.spec.devices?.requests, [
    { name: "a", exactly: one },
    { name: "b", exactly: { deviceClassName: "c", allocationMode: "All" } },
    { name: "c", firstAvailable: [{ name: "d", ...one }] },
  ]);
  assert.equal(resourceClaims.served[0]?.defaults?.(object), object);
});

test("tolerations of an allocation result get their default too", () => {
  const results = [{ request: "gpu", driver: "d", pool: "p", device: "e", tolerations: [{ key: "a" }] }];

  const { status } = claim({ allocation: { devices: { results } } });

  assert.deepEqual(status?.allocation?.devices?.results?.[0]?.tolerations, [{ key: "a", operator: "Equal" }]);
});

test("a new ResourceClaim has an empty status, and an update keeps the status", () => {
  const status = { allocation: allocated("a") };
  const previous = claim(status);

  assert.deepEqual(newObject(resourceClaims, { spec: SPEC, status }).status, {});
  assert.equal(changedObject(resourceClaims, previous, { spec: SPEC, status: {} }).status, previous.status);
});

test("the spec of a ResourceClaim is immutable, and reported in the form of upstream's internal type", () => {
  const constraints = [{ matchAttribute: "a/b" }];
  const config = [{ opaque: { driver: "d", parameters: { count: 9_007_199_254_740_993n } } }];
  const spec = { devices: { ...(SPEC["devices"] as JsonObject), constraints, config } };

  assert.deepEqual(problemsOfChange(resourceClaims, claim(), { metadata: { labels: { a: "b" } }, spec: SPEC }), []);
  assert.deepEqual(problemsOfChange(resourceClaims, claim(), { spec }), [
    'spec: Invalid value: {"Devices":{"Requests":[{"Name":"gpu","Exactly":{"DeviceClassName":"c","Selectors":null,"AllocationMode":"ExactCount","Count":1,"AdminAccess":null,"Tolerations":null,"Capacity":null},"FirstAvailable":null}],"Constraints":[{"Requests":null,"MatchAttribute":"a/b","DistinctAttribute":null}],"Config":[{"Requests":null,"Opaque":{"Driver":"d","Parameters":{"count":9007199254740992}}}]}}: field is immutable',
  ]);
});

test("unset fields are reported as the zero value of their type", () => {
  const requests = [{ name: "gpu", exactly: { deviceClassName: "c", allocationMode: "All" } }];

  assert.deepEqual(problemsOfChange(resourceClaims, claim(), { spec: { devices: { requests } } }), [
    'spec: Invalid value: {"Devices":{"Requests":[{"Name":"gpu","Exactly":{"DeviceClassName":"c","Selectors":null,"AllocationMode":"All","Count":0,"AdminAccess":null,"Tolerations":null,"Capacity":null},"FirstAvailable":null}],"Constraints":null,"Config":null}}: field is immutable',
  ]);
});

test("a stored ResourceClaim that violates a newer rule can still be labelled", () => {
  const spec = { devices: { requests: [{ name: "Not-A-Name", exactly: { deviceClassName: "c" } }] } };
  const previous = received(resourceClaims, { spec });

  assert.deepEqual(problemsOfChange(resourceClaims, previous, { metadata: { labels: { a: "b" } }, spec }), []);
});

test("a status write of a ResourceClaim changes nothing else", () => {
  const previous = claim({}, { labels: { a: "b" }, finalizers: ["x.y/z"] });
  const status = { allocation: allocated("a") };

  const next = changedObject(
    resourceClaims,
    previous,
    { metadata: { labels: { c: "d" }, annotations: { e: "f" } }, spec: {}, status },
    "status",
  );

  assert.deepEqual(next, { ...previous, status });
});

test("the driver status of a device is removed with its allocation", () => {
  const previous = claim({ allocation: allocated("a", "b"), devices: reported("a", "b") });
  const write = (status: JsonObject): ResourceClaim["status"] =>
    changedObject(resourceClaims, previous, { spec: SPEC, status }, "status").status;

  assert.deepEqual(write({ devices: reported("a", "b") }), {});
  assert.deepEqual(write({ allocation: allocated("b"), devices: reported("a", "b") }), {
    allocation: allocated("b"),
    devices: reported("b"),
  });
  assert.deepEqual(write({ allocation: allocated("a", "b"), devices: reported("a") }), {
    allocation: allocated("a", "b"),
    devices: reported("a"),
  });
});

test("the table of ResourceClaims shows the state", () => {
  const reservedFor = [{ resource: "pods", name: "p", uid: "u" }];
  const going = { deletionTimestamp: "2026-01-01T00:00:00Z" };
  const states = [
    claim(),
    claim({ allocation: {} }),
    claim({ allocation: {}, reservedFor }),
    claim({}, going),
    claim({ allocation: {}, reservedFor }, going),
  ].map((object) => cellsOf(resourceClaims, object)["State"]);

  assert.deepEqual(columnNames(resourceClaims), ["Name", "State", "Age"]);
  assert.deepEqual(states, ["pending", "allocated", "allocated,reserved", "deleted", "deleted,allocated,reserved"]);
});
