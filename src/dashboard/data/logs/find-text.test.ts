import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { lineMatches, markedPieces, searchPattern } from "./find-text.ts";

const marked = (line: string, text: string) => markedPieces(line, searchPattern(text)).map((piece) => [piece.text, piece.isMatch]);

test("a search marks every occurrence, in any case, and takes the text literally", () => {
  deepEqual(marked("Error: no error.", "error"), [
    ["Error", true],
    [": no ", false],
    ["error", true],
    [".", false],
  ]);
  deepEqual(marked("a.b axb", "a.b"), [
    ["a.b", true],
    [" axb", false],
  ]);
  deepEqual(marked("plain", ""), [["plain", false]]);
});

test("a search finds a text across colours and keeps them", () => {
  deepEqual(markedPieces("\u001B[31mer\u001B[32mror\u001B[0m end", searchPattern("error")), [
    { text: "er", style: "fg-1", isMatch: true },
    { text: "ror", style: "fg-2", isMatch: true },
    { text: " end", style: "", isMatch: false },
  ]);
});

test("a search ignores escape sequences of a line", () => {
  const pattern = searchPattern("31m") ?? /never/;
  equal(lineMatches("\u001B[31mred", pattern), false);
  equal(lineMatches("is 31M", pattern), true);
});
