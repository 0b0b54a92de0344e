import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../object.ts";
import { writeStableJson } from "./stable-json.ts";

const rows: readonly (readonly [it: string, value: Json, text: string])[] = [
  ["members are sorted, at every depth", { b: { d: 1, c: 2 }, a: [{ z: 1, y: 2 }] }, '{"a":[{"y":2,"z":1}],"b":{"c":2,"d":1}}'],
  ["what could end a script is escaped, in keys too", { "<": "a & b > c\u2028" }, '{"\\u003c":"a \\u0026 b \\u003e c\\u2028"}'],
  ["digits of large numbers stay", [2n ** 60n, 1.5], "[1152921504606846976,1.5]"],
  ["a member called __proto__ is one", JSON.parse('{"b":1,"__proto__":2}') as Json, '{"__proto__":2,"b":1}'],
  ["what is no object is itself", [null, true, "x"], '[null,true,"x"]'],
];
for (const [it, value, text] of rows) {
  test(`JSON in Go's encoding: ${it}`, () => {
    assert.equal(writeStableJson(value), text);
  });
}
