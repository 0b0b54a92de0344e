import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../object.ts";
import { compileJsonPath } from "./json-path-value.ts";

const OBJECT: Json = {
  spec: {
    "a.b": 1,
    ports: [
      { name: "web", port: 80 },
      { name: "admin", port: 81, labels: { x: "y" } },
    ],
  },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Stale", status: "False" },
    ],
  },
};

const rows: readonly (readonly [path: string, values: readonly Json[]])[] = [
  [".spec.ports[0].name", ["web"]],
  [".spec.ports[-1].name", ["admin"]],
  [".spec.ports[5].name", []],
  [".spec.ports[*].port", [80, 81]],
  [".spec.ports[0:1].port", [80]],
  [".spec.ports[0,1].name", ["web", "admin"]],
  [".spec['a.b']", [1]],
  [".spec.a\\.b", [1]],
  ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
  [".status.conditions[?(@.type != 'Ready')].type", ["Stale"]],
  [".spec.ports[?(@.port > 80)].name", ["admin"]],
  [".spec.ports[?(@.labels)].name", ["admin"]],
  ["..port", [80, 81]],
  [".spec.missing.deeper", []],
  [".spec.ports.name", []],
];

for (const [path, values] of rows) {
  test(`the JSONPath ${path} selects ${JSON.stringify(values)}`, () => {
    deepEqual(compileJsonPath(path)?.(OBJECT), values);
  });
}

for (const path of ["spec", ".spec[", ".spec[x]", ".spec[?(@.a ==)]"]) {
  test(`${path} is no JSONPath that can be evaluated`, () => {
    equal(compileJsonPath(path), undefined);
  });
}
