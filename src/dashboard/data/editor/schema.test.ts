import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { schemaOfKind, schemaProblems, type Schema, type Schemas } from "./schema.ts";

const SCHEMAS: Schemas = {
  Quantity: { oneOf: [{ type: "string" }, { type: "number" }] },
  Port: { type: "object", required: ["number"], properties: { number: { type: "integer", minimum: 1, maximum: 65_535 } } },
  Hat: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          size: { type: "string", enum: ["S", "XXL"] },
          target: { format: "int-or-string" },
          amount: { allOf: [{ $ref: "#/components/schemas/Quantity" }] },
          ports: { type: "array", maxItems: 2, items: { $ref: "#/components/schemas/Port" } },
          labels: { type: "object", additionalProperties: { type: "string" } },
          free: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { a: { type: "boolean" } } },
          anything: { type: "object" },
          name: { type: "string", pattern: "^[a-z]+$", maxLength: 5 },
          inner: { $ref: "#/components/schemas/Hat" },
        },
      },
    },
    "x-kubernetes-group-version-kind": [{ group: "clothes.example", version: "v1", kind: "Hat" }],
  },
};

const CASES: readonly { readonly it: string; readonly spec: unknown; readonly problems: readonly string[] }[] = [
  { it: "a valid value", spec: { size: "S", target: "http", amount: "1Gi", ports: [{ number: 80 }], labels: { a: "b" } }, problems: [] },
  { it: "an unknown member with a near one", spec: { sizee: "S" }, problems: ['spec.sizee is not a known member (did you mean "size"?)'] },
  { it: "an unknown member", spec: { colour: "red" }, problems: ["spec.colour is not a known member"] },
  { it: "a value that is none of an enumeration", spec: { size: "M" }, problems: ['spec.size must be one of S, XXL, is "M"'] },
  { it: "a missing member of an item", spec: { ports: [{}] }, problems: ['spec.ports.0 has no member "number", which is required'] },
  { it: "a number out of range", spec: { ports: [{ number: 0 }] }, problems: ["spec.ports.0.number must be at least 1, is 0"] },
  { it: "a wrong type", spec: { ports: "80" }, problems: ['spec.ports must be a list, is a string: "80"'] },
  {
    it: "too many items",
    spec: { ports: [1, 2, 3].map((number) => ({ number })) },
    problems: ["spec.ports must have at most 2 items, has 3"],
  },
  { it: "int-or-string", spec: { target: 1.5 }, problems: ["spec.target must be an integer or a string, is a number: 1.5"] },
  { it: "a choice of types", spec: { amount: true }, problems: ["spec.amount must be a string or a number, is a boolean: true"] },
  { it: "a wrong value of a map", spec: { labels: { a: 1 } }, problems: ["spec.labels.a must be a string, is a number: 1"] },
  {
    it: "unknown members where they are kept",
    spec: { free: { b: 1, a: "x" } },
    problems: ['spec.free.a must be a boolean, is a string: "x"'],
  },
  { it: "members of an object without a schema", spec: { anything: { at: ["all"] } }, problems: [] },
  { it: "a pattern", spec: { name: "A1" }, problems: ['spec.name must match ^[a-z]+$, is "A1"'] },
  { it: "a long text", spec: { name: "abcdef" }, problems: ["spec.name must have between 0 and 5 characters, has 6"] },
  { it: "null, which the server removes", spec: { size: null }, problems: [] },
  { it: "a schema in itself", spec: { inner: { spec: { size: 1 } } }, problems: ["spec.inner.spec.size must be a string, is a number: 1"] },
];

const hat: Schema = schemaOfKind(SCHEMAS, { group: "clothes.example", version: "v1", kind: "Hat" }) ?? {};

for (const { it, spec, problems } of CASES)
  test(`the schema of a kind: ${it}`, () => {
    deepEqual(
      schemaProblems(SCHEMAS, hat, { spec }).map(({ path, message }) => `${path.join(".")} ${message}`),
      problems,
    );
  });
