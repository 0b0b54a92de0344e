import fc from "fast-check";
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { deepEqual as isSame, deepFreeze } from "../../../base/deep.ts";
import { rounds, testSeed } from "../../../testing/rounds.ts";
import { isObject, type Json, type JsonObject } from "../object.ts";
import { memberOf } from "./edit.ts";
import { applyMergePatch, mergePatchOf } from "./merge-patch.ts";
import { anyJson, anyJsonObject } from "./testing/any-json.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 300, full: 10_000 }) };

/** RFC 7386, appendix A, then cases of our own. */
const rows: readonly (readonly [document: string, patch: string, result: string])[] = [
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', "{}"],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', "null", "null"],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ["[1,2]", '{"a":"b","c":null}', '{"a":"b"}'],
  ["{}", '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ["{}", '{"a":[{"b":null,"c":1},null]}', '{"a":[{"c":1},null]}'],
  ['{"a":{"x":1}}', '{"a":[{"b":null}]}', '{"a":[{}]}'],
  ["{}", '{"__proto__":{"x":1},"constructor":null}', '{"__proto__":{"x":1}}'],
  ['{"__proto__":{"x":1}}', '{"__proto__":{"y":2}}', '{"__proto__":{"x":1,"y":2}}'],
];

for (const [document, patch, result] of rows) {
  test(`merge patch ${patch} turns ${document} into ${result}`, () => {
    const merged = applyMergePatch(deepFreeze(JSON.parse(document) as Json), deepFreeze(JSON.parse(patch) as Json));

    // Compared as text: member order matters.
    equal(JSON.stringify(merged), result);
  });
}

test("a merge patch that is no object is a BadRequest with upstream's message", () => {
  deepEqual(mergePatchOf({ a: 1 }), { a: 1 });
  throws(() => mergePatchOf(null), { reason: "BadRequest", message: "Invalid JSON Patch" });
  throws(() => mergePatchOf([]), {
    reason: "BadRequest",
    message: "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
  });
});

test("a merge patch is idempotent", () => {
  fc.assert(
    fc.property(anyJson, anyJson, (document, patch) => {
      deepFreeze([document, patch]);
      const once = applyMergePatch(document, patch);

      deepEqual(applyMergePatch(once, patch), once);
    }),
    settings,
  );
});

test("the difference of two objects, applied to the first, yields the second", () => {
  fc.assert(
    fc.property(anyJsonObject, anyJsonObject, (from, to) => {
      const target = applyMergePatch({}, to) as JsonObject; // Without nulls, which no merge patch can set.

      deepEqual(applyMergePatch(deepFreeze(from), difference(from, target)), target);
    }),
    settings,
  );
});

/** The smallest merge patch from one object to another. */
function difference(from: JsonObject, to: JsonObject): JsonObject {
  const members: [string, Json][] = [];
  for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const [before, after] = [memberOf(from, name), memberOf(to, name)];
    if (after === undefined) members.push([name, null]);
    else if (isObject(before) && isObject(after)) members.push([name, difference(before, after)]);
    else if (before === undefined || !isSame(before, after)) members.push([name, after]);
  }
  return Object.fromEntries(members);
}

test("untouched parts, and an unchanged document, keep their identity", () => {
  const document = deepFreeze({ a: { x: 1 }, b: { y: [1] }, c: { d: { e: 1 } } });

  const changed = applyMergePatch(document, { a: { x: 2 } }) as typeof document;

  equal(changed.b, document.b);
  equal(changed.c, document.c);
  equal(applyMergePatch(document, { a: { x: 1, z: null }, c: { d: {} } }), document);
});
