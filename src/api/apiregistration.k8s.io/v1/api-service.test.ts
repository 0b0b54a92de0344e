import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../machinery/object.ts";
import { cellsOf, changedObject, columnNames, newObject, problemsOfChange, problemsOfNew, received } from "../../testing/kind.ts";
import { apiServices } from "./api-service.ts";

const NAME = "v1.example.com";
const SPEC: JsonObject = { group: "example.com", version: "v1", groupPriorityMinimum: 100, versionPriority: 10 };
const SERVICE: JsonObject = { name: "a", namespace: "b" };
const LABEL =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

test("the service port of an APIService defaults to 443", () => {
  const apiService = received(apiServices, { spec: { ...SPEC, service: SERVICE } });

  assert.deepEqual(apiService.spec?.service, { ...SERVICE, port: 443 });
  assert.equal(apiServices.served[0]?.defaults?.(apiService), apiService);
});

test("a local APIService is available from the start, and clients cannot set that", () => {
  const status = { conditions: [{ type: "Foo", status: "True" }] };

  assert.deepEqual(newObject(apiServices, { spec: SPEC, status }).status, {
    conditions: [
      {
        type: "Available",
        status: "True",
        lastTransitionTime: "1970-01-01T00:00:00Z",
        reason: "Local",
        message: "Local APIServices are always available",
      },
    ],
  });
  assert.deepEqual(newObject(apiServices, { spec: { ...SPEC, service: SERVICE }, status }).status, {});
});

const ROWS: readonly [title: string, spec: JsonObject, problems: readonly string[]][] = [
  ["the server itself", SPEC, []],
  ["a service", { ...SPEC, service: SERVICE, caBundle: "AA==" }, []],
  [
    "a group that is none",
    { ...SPEC, group: "A_" },
    [
      'metadata.name: Invalid value: "v1.example.com": must be `spec.version+"."+spec.group`: "v1.A_"',
      `spec.group: Invalid value: "A_": ${SUBDOMAIN}`,
    ],
  ],
  [
    "no group and another version than the first",
    { ...SPEC, group: "", version: "V2" },
    [
      'metadata.name: Invalid value: "v1.example.com": must be `spec.version+"."+spec.group`: "V2."',
      "spec.group: Required value: only v1 may have an empty group and it better be legacy kube",
      `spec.version: Invalid value: "V2": ${LABEL}`,
    ],
  ],
  [
    "no priorities",
    { ...SPEC, groupPriorityMinimum: 0, versionPriority: 0 },
    [
      "spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000",
      "spec.versionPriority: Invalid value: 0: must be positive and less than 1000",
    ],
  ],
  [
    "priorities that are too high",
    { ...SPEC, groupPriorityMinimum: 20_001, versionPriority: 1_001 },
    [
      "spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000",
      "spec.versionPriority: Invalid value: 1001: must be positive and less than 1000",
    ],
  ],
  [
    "trust in itself",
    { ...SPEC, caBundle: "aGVsbG8=", insecureSkipTLSVerify: true },
    [
      'spec.caBundle: Invalid value: "5 bytes": local APIServices may not have a caBundle',
      "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify",
    ],
  ],
  [
    "a service of no name, and both ways to trust it",
    { ...SPEC, service: { port: 0 }, caBundle: "AA==", insecureSkipTLSVerify: true },
    [
      "spec.service.namespace: Required value",
      "spec.service.name: Required value",
      "spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
      "spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present",
    ],
  ],
];

for (const [title, spec, problems] of ROWS) {
  test(`an APIService with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(apiServices, { metadata: { name: NAME }, spec }), problems);
  });
}

test("the name of an APIService is its version and group, also with generateName", () => {
  assert.deepEqual(problemsOfNew(apiServices, { metadata: { name: "foo-1", generateName: "foo-" }, spec: SPEC }), [
    'metadata.generateName: Invalid value: "foo-": must be `spec.version+"."+spec.group`: "v1.example.com"',
    'metadata.name: Invalid value: "foo-1": must be `spec.version+"."+spec.group`: "v1.example.com"',
  ]);
  assert.deepEqual(problemsOfNew(apiServices, { metadata: { name: "a/b" }, spec: SPEC }), []);
  assert.deepEqual(apiServices.validateName?.("a/b"), ["may not contain '/'"]);
});

test("a status write of an APIService changes nothing else", () => {
  const previous = newObject(apiServices, { metadata: { name: NAME, labels: { a: "b" } }, spec: SPEC });
  const status = { conditions: [{ type: "Available", status: "False" }] };
  const written = changedObject(apiServices, previous, { metadata: { name: NAME, labels: { c: "d" } }, spec: {}, status }, "status");
  const changed = changedObject(apiServices, previous, { metadata: { name: NAME }, spec: { ...SPEC, versionPriority: 11 }, status });

  assert.deepEqual([written.spec, written.metadata.labels], [previous.spec, { a: "b" }]);
  assert.equal(written.status?.conditions?.[0]?.status, "False");
  assert.equal(changed.status, previous.status);
  assert.deepEqual(problemsOfChange(apiServices, previous, { status: { conditions: [{ type: "A", status: "x" }] } }, "status"), [
    'status.conditions[0].status: Unsupported value: "x": supported values: "True", "False", "Unknown"',
  ]);
});

const CELLS: readonly [conditions: readonly JsonObject[], cell: string][] = [
  [[], "Unknown"],
  [[{ type: "Available", status: "True", reason: "Passed" }], "True"],
  [[{ type: "Available", status: "False", reason: "MissingEndpoints" }], "False (MissingEndpoints)"],
  [[{ type: "Available", status: "False" }], "False"],
];

for (const [conditions, cell] of CELLS) {
  test(`the table of APIServices shows ${cell} for ${JSON.stringify(conditions)}`, () => {
    const object = newObject(apiServices, { metadata: { name: NAME }, spec: { ...SPEC, service: SERVICE } });
    const shown = received(apiServices, { metadata: { name: NAME }, spec: { ...SPEC, service: SERVICE }, status: { conditions } });

    assert.deepEqual(columnNames(apiServices), ["Name", "Service", "Available", "Age"]);
    assert.deepEqual(Object.values(cellsOf(apiServices, { ...object, ...shown })), [NAME, "b/a", cell, "<unknown>"]);
    assert.equal(cellsOf(apiServices, newObject(apiServices, { spec: SPEC }))["Service"], "Local");
  });
}
