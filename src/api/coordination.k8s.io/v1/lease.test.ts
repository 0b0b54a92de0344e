import assert from "node:assert/strict";
import test from "node:test";
import { cellsOf, changedObject, newObject, problemsOfNew, type Sent } from "../../testing/kind.ts";
import { leases } from "./lease.ts";

test("a Lease keeps its times to the microsecond, also those of year 1", () => {
  const spec = {
    holderIdentity: "me",
    leaseDurationSeconds: 10,
    renewTime: "0001-01-01T00:00:02.000000Z",
    acquireTime: "2024-01-02T03:04:05.123456Z",
  };

  assert.deepEqual(newObject(leases, { spec }).spec, spec);
});

const ROWS: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  ["nothing in it", {}, []],
  ["a duration of nothing", { spec: { leaseDurationSeconds: 0 } }, ["spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"]],
  [
    "fewer than no transitions",
    { spec: { leaseTransitions: -1 } },
    ["spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"],
  ],
];

for (const [title, sent, problems] of ROWS) {
  test(`a Lease with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () =>
    assert.deepEqual(problemsOfNew(leases, sent), problems));
}

test("fields of coordinated leader election are dropped", () => {
  const previous = newObject(leases, { spec: { holderIdentity: "a", strategy: "OldestEmulationVersion", preferredHolder: "b" } });

  assert.deepEqual(previous.spec, { holderIdentity: "a" });
  assert.deepEqual(changedObject(leases, previous, { spec: { strategy: "x" } }).spec, {});
});

test("a Lease is created by a PUT, requires a resourceVersion on update, and its table shows the holder", () => {
  assert.deepEqual([leases.createOnUpdate, leases.unconditionalUpdate], [true, false]);
  assert.deepEqual(cellsOf(leases, newObject(leases, { spec: { holderIdentity: "me" } })), { Name: "x", Holder: "me", Age: "<unknown>" });
});
