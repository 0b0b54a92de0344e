import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../../../machinery/object.ts";
import { fillInDefaults, pruneNulls } from "./default.ts";
import type { JsonSchema } from "./json-schema.ts";

const M = { type: "object", properties: { m: { type: "string", default: "m" } } };

const filled: readonly (readonly [it: string, schema: JsonSchema, value: Json, filled: Json])[] = [
  ["a member that is absent", M, {}, { m: "m" }],
  ["not a member that is there", M, { m: "x" }, { m: "x" }],
  ["a null where there may be none", M, { m: null }, { m: "m" }],
  ["not a null that may be there", { properties: { m: { nullable: true, default: "m" } } }, { m: null }, { m: null }],
  ["members of items", { items: M }, [{}, { m: "x" }], [{ m: "m" }, { m: "x" }]],
  ["items that are null", { items: { ...M, default: {} } }, [null], [{ m: "m" }]],
  ["members of the values of maps", { additionalProperties: M }, { a: {}, b: { m: "x" } }, { a: { m: "m" }, b: { m: "x" } }],
  ["members within a default", { properties: { a: { ...M, default: {} } } }, {}, { a: { m: "m" } }],
  ["no member of what is absent itself", { properties: { a: M } }, {}, {}],
  ["zeros, as they are given", { properties: { a: { default: 0 }, b: { default: false } } }, {}, { a: 0, b: false }],
];
for (const [it, schema, value, expected] of filled) {
  test(`a default is filled in for ${it}`.replace("for not", "but not for"), () => {
    assert.deepEqual(fillInDefaults(value, schema), expected);
  });
}

test("a value that lacks no default stays identical", () => {
  const value = { m: "x" };

  assert.equal(fillInDefaults(value, M), value);
});

test("nulls count as absent, unless they are nullable, have a default, or are list items", () => {
  const schema: JsonSchema = {
    properties: {
      a: {},
      b: { nullable: true },
      c: { default: 1 },
      d: { items: {} },
      e: { properties: { a: {} } },
      f: { additionalProperties: {} },
    },
  };

  const value = pruneNulls({ a: null, b: null, c: null, d: [null], e: { a: null, z: null }, f: { q: null }, unknown: null }, schema);

  assert.deepEqual(value, { b: null, c: null, d: [null], e: { z: null }, f: {}, unknown: null });
});
