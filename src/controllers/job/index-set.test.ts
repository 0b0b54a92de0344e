import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { IndexSet } from "./index-set.ts";

const TEXTS: readonly [text: string, completions: number, canonical: string][] = [
  ["", 5, ""],
  ["3", 5, "3"],
  ["0,1", 5, "0,1"],
  ["0-1", 5, "0,1"],
  ["0-2,4", 5, "0-2,4"],
  ["0,1,2", 5, "0-2"],
  ["1-3,4-6", 10, "1-6"],
  ["0-9", 5, "0-4"],
  ["2,7,8", 5, "2"],
  ["2,x,4-y,-1", 5, "2"],
];

for (const [text, completions, canonical] of TEXTS) {
  test(`the indexes "${text}" below ${completions} are written as "${canonical}"`, () => {
    equal(IndexSet.parse(text, completions).toString(), canonical);
  });
}

const INDEXES = fc.array(fc.nat(40), { maxLength: 40 });
const LIMIT = 41;

test("an index set contains exactly the given indexes, and its text form restores it", () => {
  fc.assert(
    fc.property(INDEXES, (indexes) => {
      const set = IndexSet.of(indexes);
      const expected = new Set(indexes);
      equal(set.size, expected.size);
      for (let index = 0; index < LIMIT; index++) equal(set.has(index), expected.has(index));
      equal(IndexSet.parse(set.toString(), LIMIT).toString(), set.toString());
    }),
  );
});

test("union, overlap and missing indexes agree with plain sets", () => {
  fc.assert(
    fc.property(INDEXES, INDEXES, fc.nat(LIMIT), (a, b, count) => {
      const both = new Set([...a, ...b]);
      deepEqual(IndexSet.of(a).union(IndexSet.of(b)).toString(), IndexSet.of(both).toString());
      equal(IndexSet.of(a).overlap(IndexSet.of(b)), new Set(a.filter((index) => b.includes(index))).size);
      const missing = Array.from({ length: LIMIT }, (_, index) => index).filter((index) => !both.has(index));
      deepEqual(IndexSet.of(both).missing(count, LIMIT), missing.slice(0, count));
    }),
  );
});
