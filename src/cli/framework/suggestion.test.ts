import { equal } from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { editDistance, nearest } from "./suggestion.ts";

describe("a mistyped word gets a suggestion, an unrelated one none", () => {
  const COMMANDS = ["up", "store status", "store snapshot", "version", "help"];
  for (const { word, meant } of [
    { word: "upp", meant: "up" },
    { word: "verison", meant: "version" },
    { word: "store statsu", meant: "store status" },
    { word: "store snapshto", meant: "store snapshot" },
    { word: "hlep", meant: "help" },
    { word: "frobnicate", meant: undefined },
    { word: "", meant: undefined },
  ]) {
    test(`"${word}": ${meant}`, () => equal(nearest(word, COMMANDS), meant));
  }
});

test("the edit distance is zero only for equal words, symmetric, and at most the length of the longer word", () => {
  const word = fc.string({ maxLength: 12 });
  fc.assert(
    fc.property(word, word, (a, b) => {
      const distance = editDistance(a, b);
      equal(distance === 0, a === b);
      equal(distance, editDistance(b, a));
      equal(distance <= Math.max(a.length, b.length), true);
    }),
  );
});

test("an additional letter adds at most one to the edit distance", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 12 }), fc.nat(12), (word, at) => {
      equal(editDistance(word, `${word.slice(0, at)}x${word.slice(at)}`), 1);
    }),
  );
});
