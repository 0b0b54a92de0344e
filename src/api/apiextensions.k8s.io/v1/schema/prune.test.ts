import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../../../machinery/object.ts";
import type { JsonSchema } from "./json-schema.ts";
import { pruneDefaults } from "./prune-defaults.ts";
import { pruneUnknownFields } from "./prune.ts";

const S = { type: "string" };
const X = { type: "object", properties: { x: S } };
const PRESERVES = { "x-kubernetes-preserve-unknown-fields": true } as const;

const rows: readonly (readonly [it: string, schema: JsonSchema, value: Json, pruned: Json, unknown: readonly string[]])[] = [
  ["fields that no property is for go", X, { x: "1", y: { z: 1 } }, { x: "1" }, ["y"]],
  ["in items too", { type: "array", items: X }, [{ x: "1", y: 1 }, {}], [{ x: "1" }, {}], ["[0].y"]],
  ["in values of maps too", { type: "object", additionalProperties: X }, { k: { y: 1 } }, { k: {} }, ["k.y"]],
  [
    "values of maps without schema lose their own fields",
    { type: "object", additionalProperties: true },
    { k: { y: 1 }, l: 1 },
    { k: {}, l: 1 },
    ["k.y"],
  ],
  ["where they are preserved, they stay", { ...PRESERVES }, { any: { thing: [1] } }, { any: { thing: [1] } }, []],
  [
    "below that, where a schema says more, they go again",
    { ...PRESERVES, properties: { a: X } },
    { a: { y: 1 }, b: { y: 1 } },
    { a: {}, b: { y: 1 } },
    ["a.y"],
  ],
  ["in a list that preserves them they stay", { type: "array", ...PRESERVES, items: { type: "object" } }, [{ y: 1 }], [{ y: 1 }], []],
  ["a member called __proto__ is one", X, JSON.parse('{"__proto__":{"a":1},"x":"1"}') as Json, { x: "1" }, ["__proto__"]],
  ["what is no object is left to others", X, "text", "text", []],
  [
    "an embedded resource keeps what all resources have",
    { type: "object", "x-kubernetes-embedded-resource": true, properties: { spec: X } },
    { kind: "A", apiVersion: "v1", metadata: { foo: 1 }, spec: { y: 1 }, other: 1 },
    { kind: "A", apiVersion: "v1", metadata: { foo: 1 }, spec: {} },
    ["spec.y", "other"],
  ],
];
for (const [it, schema, value, pruned, unknown] of rows) {
  test(`pruning: ${it}`, () => {
    const found: string[] = [];

    assert.deepEqual(pruneUnknownFields(value, schema, { onUnknown: (path) => found.push(path) }), pruned);
    assert.deepEqual(found, unknown);
  });
}

test("pruning a whole resource keeps its kind, apiVersion and metadata", () => {
  const value = { kind: "A", apiVersion: "v1", metadata: { name: "a" }, x: "1", y: 1 };

  assert.deepEqual(pruneUnknownFields(value, X, { isResource: true }), { kind: "A", apiVersion: "v1", metadata: { name: "a" }, x: "1" });
});

test("pruning a value without unknown fields returns the same value", () => {
  const value = { x: "1" };

  assert.equal(pruneUnknownFields(value, X), value);
});

test("defaults with unknown fields are pruned by their own schema, at every depth", () => {
  const unpruned: JsonSchema = {
    type: "object",
    properties: { a: { ...X, default: { x: "1", y: 1 } }, b: { type: "array", items: { ...X, default: { z: 1 } } } },
    additionalProperties: { ...X, default: { z: 1 } },
  };

  assert.deepEqual(pruneDefaults(unpruned), {
    type: "object",
    properties: { a: { ...X, default: { x: "1" } }, b: { type: "array", items: { ...X, default: {} } } },
    additionalProperties: { ...X, default: {} },
  });
  const pruned = pruneDefaults(unpruned);
  assert.equal(pruneDefaults(pruned), pruned);
});
