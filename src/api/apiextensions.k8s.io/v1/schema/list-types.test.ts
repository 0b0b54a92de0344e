import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../../../machinery/object.ts";
import { problems } from "../../../testing/kind.ts";
import type { JsonSchema } from "./json-schema.ts";
import { validateListTypes } from "./list-types.ts";

const SET = { type: "array", "x-kubernetes-list-type": "set" };
const MAP = { type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "j"] };

const rows: readonly (readonly [it: string, schema: JsonSchema, value: Json, problems: readonly string[]])[] = [
  ["a set has different items", SET, ["a", "b", 1, "1"], []],
  ["an item of a set occurs three times, of which the second is reported", SET, ["a", "b", "a", "a"], ['l[2]: Duplicate value: "a"']],
  [
    "objects in a set are the same in any order",
    SET,
    [
      { b: 2, a: 1 },
      { a: 1, b: 2 },
    ],
    ['l[1]: Duplicate value: {"a":1,"b":2}'],
  ],
  [
    "two items of a map have the same keys",
    MAP,
    [
      { k: "a", j: 1, x: 1 },
      { j: 1, k: "a" },
    ],
    ['l[1]: Duplicate value: {"j":1,"k":"a"}'],
  ],
  ["two items of a map differ in one key", MAP, [{ k: "a", j: 1 }, { k: "a", j: 2 }, { k: "a" }], []],
  ["items without keys are the same, null among them", MAP, [{ x: 1 }, null], ["l[1]: Duplicate value: {}"]],
  ["an item of a map is no object", MAP, [{ k: "a" }, "x"], ['l[1]: Invalid value: "x": must be an object for an array of list-type map']],
  ["sets within items", { items: SET }, [["a", "a"]], ['l[0][1]: Duplicate value: "a"']],
  ["sets within members and maps", { properties: { s: SET }, additionalProperties: SET }, { q: [1, 1] }, ["l[q][1]: Duplicate value: 1"]],
];
for (const [it, schema, value, expected] of rows) {
  test(`lists with a type: ${it}`, () => {
    assert.deepEqual(problems(validateListTypes(value, schema, "l")), expected);
  });
}
