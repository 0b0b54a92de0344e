import assert from "node:assert/strict";
import test from "node:test";
import { cellsOf, changedObject, columnNames, newObject, problemsOfChange, problemsOfNew } from "../../testing/kind.ts";
import { serviceCidrs } from "./service-cidr.ts";

const NOT_A_CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
const ONE_OF_EACH = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";

const NEW: readonly [cidrs: string[] | undefined, problems: readonly string[]][] = [
  [["10.0.0.0/24"], []],
  [["fd00::/64", "10.0.0.0/24"], []],
  [undefined, ["spec.cidrs: Required value: at least one CIDR required"]],
  [[], ["spec.cidrs: Required value: at least one CIDR required"]],
  [["a", "b", "c"], ['spec.cidrs: Invalid value: {"CIDRs":["a","b","c"]}: may only hold up to 2 values']],
  [
    ["x", "10.0.0"],
    [`spec.cidrs[0]: Invalid value: "x": ${NOT_A_CIDR}`, `spec.cidrs[1]: Invalid value: "10.0.0": ${NOT_A_CIDR}`],
  ],
  [["10.0.0.1/24"], ['spec.cidrs[0]: Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length']],
  [["010.0.0.0/24"], ['spec.cidrs[0]: Invalid value: "010.0.0.0/24": must not have leading 0s in IP or prefix length']],
  [["::ffff:1.2.3.0/120"], ['spec.cidrs[0]: Invalid value: "::ffff:1.2.3.0/120": must not have an IPv4-mapped IPv6 address']],
  [["FD00::/64"], ['spec.cidrs[0]: Invalid value: "FD00::/64": must be in canonical form ("fd00::/64")']],
  [["10.0.0.0/24", "10.1.0.0/24"], [`spec.cidrs: Invalid value: ["10.0.0.0/24","10.1.0.0/24"]: ${ONE_OF_EACH}`]],
  [["10.0.0.0/24", "x"], [`spec.cidrs[1]: Invalid value: "x": ${NOT_A_CIDR}`]],
];

for (const [cidrs, problems] of NEW) {
  test(`the CIDRs ${JSON.stringify(cidrs)} are ${problems.length === 0 ? "allowed" : "rejected"}`, () =>
    assert.deepEqual(problemsOfNew(serviceCidrs, { spec: cidrs === undefined ? {} : { cidrs } }), problems));
}

const V4 = "10.0.0.0/24";
const V6 = "fd00::/64";
const CHANGES: readonly [before: string[], after: string[], problems: readonly string[]][] = [
  [[V4], [V4], []],
  [[V4], [V4, V6], []],
  [[V4], [V6], ['spec.cidrs[0]: Invalid value: "fd00::/64": field is immutable']],
  [
    [V4, V6],
    [V6, V4],
    ['spec.cidrs[0]: Invalid value: "fd00::/64": field is immutable', 'spec.cidrs[1]: Invalid value: "10.0.0.0/24": field is immutable'],
  ],
  [[V4], [V6, V4], ['spec.cidrs[0]: Invalid value: "fd00::/64": field is immutable']],
  [[V4], [V4, "x"], [`spec.cidrs[1]: Invalid value: "x": ${NOT_A_CIDR}`]],
  [[V4, V6], [V4], ['spec.cidrs: Invalid value: ["10.0.0.0/24"]: field is immutable']],
  [[V4], [], ["spec.cidrs: Invalid value: null: field is immutable"]],
];

for (const [before, after, problems] of CHANGES) {
  test(`a change of CIDRs from ${before.join()} to ${after.join() || "none"} is ${problems.length === 0 ? "allowed" : "rejected"}`, () => {
    const previous = newObject(serviceCidrs, { spec: { cidrs: before } });

    assert.deepEqual(problemsOfChange(serviceCidrs, previous, { spec: { cidrs: after } }), problems);
  });
}

const CONDITIONS = [{ type: "Ready", status: "True", reason: "a", message: "", lastTransitionTime: "2024-01-01T00:00:00Z" }];

test("a status write of a ServiceCIDR changes nothing else, and an update keeps the status", () => {
  const labels = { a: "b" };
  const previous = newObject(serviceCidrs, { metadata: { labels }, spec: { cidrs: [V4] }, status: { conditions: CONDITIONS } });
  assert.deepEqual(previous.status, {});
  assert.deepEqual(changedObject(serviceCidrs, previous, { spec: { cidrs: [V4] }, status: { conditions: CONDITIONS } }).status, {});

  const written = changedObject(serviceCidrs, previous, { spec: { cidrs: [V6] }, status: { conditions: CONDITIONS } }, "status");

  assert.deepEqual(written, { ...previous, status: { conditions: CONDITIONS } });
});

test("the table of ServiceCIDRs shows the CIDRs", () => {
  assert.deepEqual(columnNames(serviceCidrs), ["Name", "CIDRs", "Age"]);
  assert.equal(cellsOf(serviceCidrs, newObject(serviceCidrs, { spec: { cidrs: [V4, V6] } })).CIDRs, "10.0.0.0/24,fd00::/64");
});
