import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { countIndexes, firstOverlap, indexesProblem } from "./indexes.ts";

const COMPLETIONS = 10;

const COUNTS: readonly [text: string, count: number][] = [
  ["", 0],
  ["0", 1],
  ["0-9", 10],
  ["0,2-4,9", 5],
  ["+1,002", 2],
];

for (const [text, count] of COUNTS) {
  test(`"${text}" has ${count} indexes`, () => {
    assert.equal(countIndexes(text, COMPLETIONS), count);
    assert.equal(indexesProblem(text, COMPLETIONS), undefined);
  });
}

const PROBLEMS: readonly [text: string, problem: string][] = [
  ["10", 'too large index: "10"'],
  ["0-10", 'too large index: "10"'],
  ["a", 'cannot convert string to integer for index: "a"'],
  ["1-", 'cannot convert string to integer for index: ""'],
  ["1,", 'cannot convert string to integer for index: ""'],
  [" 1", 'cannot convert string to integer for index: " 1"'],
  ["99999999999999999999", 'cannot convert string to integer for index: "99999999999999999999"'],
  ["1-2-3", "the fragment \"1-2-3\" violates the requirement that an index interval can have at most two parts separated by '-'"],
  ["2-1", "non-increasing order, previous: 2, current: 1"],
  ["1-1", "non-increasing order, previous: 1, current: 1"],
  ["1,0", "non-increasing order, previous: 1, current: 0"],
  ["0-3,3", "non-increasing order, previous: 3, current: 3"],
];

for (const [text, problem] of PROBLEMS) {
  test(`"${text}" is rejected as an index list`, () => {
    assert.equal(indexesProblem(text, COMPLETIONS), problem);
  });
}

/** Random indexes, as a set and as a text of single ones. */
const someIndexes = fc.uniqueArray(fc.integer({ min: 0, max: COMPLETIONS - 1 })).map((list) => list.toSorted((a, b) => a - b));

test("the first shared index of two texts is the smallest in both sets", () => {
  fc.assert(
    fc.property(someIndexes, someIndexes, (a, b) => {
      const shared = a.filter((index) => b.includes(index));

      assert.equal(firstOverlap(a.join(","), b.join(","), COMPLETIONS), shared[0]);
    }),
  );
});

const OVERLAPS: readonly [completed: string, failed: string, first: number | undefined][] = [
  ["0-3", "3-5", 3],
  ["4-9", "0-5", 4],
  ["x,0-3", "11,2", 2],
  ["", "2", undefined],
];

for (const [completed, failed, first] of OVERLAPS) {
  test(`"${completed}" and "${failed}" share ${first ?? "nothing"}`, () => {
    assert.equal(firstOverlap(completed, failed, COMPLETIONS), first);
  });
}
