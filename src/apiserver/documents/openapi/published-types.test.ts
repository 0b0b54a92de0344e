import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { objectType } from "./published-types.ts";
import type { Dialect } from "./own-type.ts";
import { reference } from "./type-schemas.ts";

const KIND = { group: "example.com", version: "v1", kind: "Foo" };
const META = new Set(["apiVersion", "kind", "metadata"]);

/** The published definition without what every object has. */
function published(dialect: Dialect, schema: JsonObject): JsonObject {
  const type = objectType(KIND, { schema, preservesUnknown: false, selectableFields: [] });
  const descriptions = { ofType: () => undefined, ofField: () => "" };
  const definition = type.define({ dialect, descriptions, reference: (name) => reference(dialect, name) });
  const { properties, "x-kubernetes-group-version-kind": _kinds, ...rest } = definition;
  if (properties === undefined) return rest;
  return { ...rest, properties: Object.fromEntries(Object.entries(properties as JsonObject).filter(([name]) => !META.has(name))) };
}

const rows: readonly { readonly name: string; readonly schema: JsonObject; readonly v2: JsonObject; readonly v3: JsonObject }[] = [
  {
    name: "validation and descriptions are published, defaults in v3 only",
    schema: { type: "string", description: "x", pattern: "^a", maxLength: 3, enum: ["a"], default: "a" },
    v2: { type: "string", description: "x", pattern: "^a", maxLength: 3, enum: ["a"] },
    v3: { type: "string", description: "x", pattern: "^a", maxLength: 3, enum: ["a"], default: "a" },
  },
  {
    name: "v2 has no alternatives",
    schema: { type: "object", allOf: [{ required: ["a"] }], anyOf: [{}], oneOf: [{}], not: {}, properties: { a: { type: "string" } } },
    v2: { type: "object", properties: { a: { type: "string" } } },
    v3: { type: "object", allOf: [{ required: ["a"] }], anyOf: [{}], oneOf: [{}], not: {}, properties: { a: { type: "string" } } },
  },
  {
    name: "a nullable value has no type in v2",
    schema: { type: "array", nullable: true, items: { type: "string" } },
    v2: {},
    v3: { type: "array", nullable: true, items: { type: "string" } },
  },
  {
    name: "an object that preserves unknown fields has neither type nor properties in v2",
    schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { a: { type: "string" } } },
    v2: { "x-kubernetes-preserve-unknown-fields": true },
    v3: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { a: { type: "string" } } },
  },
  {
    name: "int-or-string has both types in v3",
    schema: { "x-kubernetes-int-or-string": true },
    v2: { "x-kubernetes-int-or-string": true },
    v3: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
  },
];

for (const { name, schema, v2, v3 } of rows) {
  test(`published schemas: ${name}`, () => {
    const root: JsonObject = { type: "object", required: ["field"], properties: { field: schema } };
    const isNullable = schema["nullable"] === true;

    deepEqual(published("v2", root), { type: "object", ...(isNullable ? {} : { required: ["field"] }), properties: { field: v2 } });
    deepEqual(published("v3", root), { type: "object", required: ["field"], properties: { field: v3 } });
  });
}

test("published schemas: a root that preserves unknown fields is any object in v2", () => {
  const root: JsonObject = { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { a: { type: "string" } } };

  deepEqual(published("v2", root), { type: "object" });
});

test("published schemas: an embedded resource has kind, apiVersion and metadata", () => {
  const embedded: JsonObject = { type: "object", "x-kubernetes-embedded-resource": true, properties: { spec: { type: "object" } } };
  const { properties } = published("v3", { type: "object", properties: { field: embedded } }) as { properties: { field: JsonObject } };

  deepEqual(Object.keys(properties.field["properties"] as JsonObject), ["spec", "apiVersion", "kind", "metadata"]);
  deepEqual(properties.field["required"], ["kind", "apiVersion"]);
});
