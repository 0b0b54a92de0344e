import assert from "node:assert/strict";
import test from "node:test";
import { validateObjectMeta } from "../../machinery/metadata-validation.ts";
import { errorsOf } from "../../machinery/findings.ts";
import { cellsOf, columnNames, newObject, problems, problemsOfChange, problemsOfNew, type Sent } from "../../testing/kind.ts";
import { ipAddresses } from "./ip-address.ts";

const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const PARENT = { resource: "services", namespace: "default", name: "web" };

const NEW: readonly [title: string, sent: Sent, expected: readonly string[]][] = [
  ["a parent", { spec: { parentRef: PARENT } }, []],
  ["a parent without a namespace", { spec: { parentRef: { resource: "gateways", group: "example.com", name: "x" } } }, []],
  ["no spec", {}, ["spec.parentRef: Required value"]],
  ["no parent", { spec: {} }, ["spec.parentRef: Required value"]],
  ["an empty parent", { spec: { parentRef: {} } }, ["spec.parentRef.resource: Required value", "spec.parentRef.name: Required value"]],
  [
    "a parent of which everything is wrong",
    { spec: { parentRef: { group: "A", resource: "a/b", name: ".", namespace: "%" } } },
    [
      `spec.parentRef.group: Invalid value: "A": ${SUBDOMAIN}`,
      `spec.parentRef.resource: Invalid value: "a/b": may not contain '/'`,
      `spec.parentRef.name: Invalid value: ".": may not be '.'`,
      `spec.parentRef.namespace: Invalid value: "%": may not contain '%'`,
    ],
  ],
];

for (const [title, sent, expected] of NEW) {
  test(`an IPAddress with ${title} is ${expected.length === 0 ? "valid" : "rejected"}`, () =>
    assert.deepEqual(problemsOfNew(ipAddresses, sent), expected));
}

test("the name of an IPAddress is a canonical IP", () => {
  assert.deepEqual(
    ["10.0.0.1", "fd00::1"].flatMap((name) => ipAddresses.validateName?.(name) ?? []),
    [],
  );
});

const NAMES: readonly [name: string, problem: string][] = [
  ["x", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"],
  ["10.0.0.01", "must not have leading 0s"],
  ["FD00::1", 'must be in canonical form ("fd00::1")'],
  ["::ffff:10.0.0.1", "must not be an IPv4-mapped IPv6 address"],
];

for (const [name, problem] of NAMES) {
  test(`"${name}" is rejected as the name of an IPAddress`, () => {
    const { metadata } = newObject(ipAddresses, { metadata: { name } });
    const errors = errorsOf((errors) =>
      validateObjectMeta(errors, metadata, { namespaced: false, validateName: ipAddresses.validateName }),
    );

    assert.deepEqual(problems(errors, ipAddresses.kind), [`metadata.name: Invalid value: "${name}": ${problem}`]);
  });
}

test("the parent of an IPAddress is immutable", () => {
  const previous = newObject(ipAddresses, { spec: { parentRef: PARENT } });

  assert.deepEqual(problemsOfChange(ipAddresses, previous, { spec: { parentRef: { ...PARENT } } }), []);
  assert.deepEqual(problemsOfChange(ipAddresses, previous, { spec: { parentRef: { ...PARENT, name: "api" } } }), [
    'spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"default","Name":"api"}: field is immutable',
  ]);
  assert.deepEqual(problemsOfChange(ipAddresses, previous, {}), [
    "spec.parentRef: Required value",
    "spec.parentRef: Invalid value: null: field is immutable",
  ]);
});

const CELLS: readonly [parentRef: Sent, cell: string][] = [
  [PARENT, "services/default/web"],
  [{ resource: "Gateways", group: "example.com", name: "x" }, "gateways.example.com/x"],
];

for (const [parentRef, cell] of CELLS) {
  test(`the table of IPAddresses shows the parent as ${cell}`, () =>
    assert.equal(cellsOf(ipAddresses, newObject(ipAddresses, { spec: { parentRef } })).ParentRef, cell));
}

test("the table of IPAddresses has no age", () => assert.deepEqual(columnNames(ipAddresses), ["Name", "ParentRef"]));
