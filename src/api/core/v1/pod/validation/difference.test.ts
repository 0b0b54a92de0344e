import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { describeDifference } from "./difference.ts";

test("a change is shown with three lines of context", () => {
  const before = { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: 9 };

  const text = describeDifference(before, { ...before, e: 50 });

  assert.equal(text, '@@ -3,7 +3,7 @@\n  "b": 2,\n  "c": 3,\n  "d": 4,\n- "e": 5,\n+ "e": 50,\n  "f": 6,\n  "g": 7,\n  "h": 8,\n');
});

test("distant changes are shown in separate hunks", () => {
  const list = Array.from({ length: 20 }, (_, index) => index);

  const text = describeDifference(list, list.with(2, 100).with(17, 200));

  assert.deepEqual(text.match(/^@@.*@@$/gm), ["@@ -1,7 +1,7 @@", "@@ -16,7 +16,7 @@"]);
});

test("equal values have no diff", () => {
  assert.equal(describeDifference({ a: [1, 2] }, { a: [1, 2] }), "");
});

test("a moved member is no difference", () => {
  assert.equal(describeDifference({ a: [{ b: 1, c: 2 }], d: 3 }, { d: 3, a: [{ c: 2, b: 1 }] }), "");
});

test("a new member is shown at its position", () => {
  assert.equal(
    describeDifference({ a: 1, b: 2 }, { b: 2, new: 3, a: 1 }),
    '@@ -1,4 +1,5 @@\n {\n  "a": 1,\n- "b": 2\n+ "b": 2,\n+ "new": 3\n }\n',
  );
  assert.equal(describeDifference({ a: 1 }, { new: 3, a: 1 }), '@@ -1,3 +1,4 @@\n {\n+ "new": 3,\n  "a": 1\n }\n');
});

test("applying the diff turns the old value into the new one", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 5 })), fc.array(fc.integer({ min: 0, max: 5 })), (before, after) => {
      assert.deepEqual(applied(linesOf(before), describeDifference(before, after)), linesOf(after));
    }),
  );
});

test("large values without common lines are compared quickly", () => {
  const large = (offset: number): readonly number[] => Array.from({ length: 5_000 }, (_, index) => index + offset);

  const text = describeDifference(large(0), large(10_000));

  assert.equal(text.match(/^-/gm)?.length, 5_000);
  assert.equal(text.match(/^\+/gm)?.length, 5_000);
});

function linesOf(value: unknown): readonly string[] {
  return JSON.stringify(value, null, " ").split("\n");
}

/** Like `patch`: uses only the hunks. */
function applied(before: readonly string[], hunks: string): readonly string[] {
  const result: string[] = [];
  let position = 0;
  for (const line of hunks.split("\n").slice(0, -1)) {
    const start = /^@@ -(\d+),/.exec(line)?.[1];
    if (start !== undefined) {
      while (position < Number(start) - 1) result.push(before[position++]!);
    } else if (line.startsWith("+")) result.push(line.slice(1));
    else if (line.startsWith("-")) assert.equal(before[position++], line.slice(1));
    else result.push(before[position++]!);
  }
  return [...result, ...before.slice(position)];
}

test("bigints are shown in the diff", () => {
  assert.match(describeDifference({ a: 1n << 60n }, { a: 2 }), /^- "a": "1152921504606846976"$/m);
});
