import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { findAllText, findText } from "./find.ts";
import { ExpressionError } from "./parse.ts";
import { programOf } from "./program.ts";

const FREE = { spend: () => undefined };

function compiled(pattern: string) {
  const program = programOf(pattern, FREE);
  if (program instanceof ExpressionError) throw program;
  return program;
}

function find(pattern: string, text: string): string | undefined {
  const found = findText(compiled(pattern), text, 0, FREE);
  return found === undefined ? undefined : text.slice(found.start, found.end);
}

describe("the leftmost match that the pattern prefers is found", () => {
  const rows: readonly (readonly [pattern: string, text: string, found: string | undefined])[] = [
    ["[0-9]+", "abc123def", "123"],
    ["foo|foobar", "foobar", "foo"],
    ["foobar|foo", "foobar", "foobar"],
    ["a+?", "aaa", "a"],
    ["a{2,3}", "aaaa", "aaa"],
    ["a{2,3}?", "aaaa", "aa"],
    ["(?U)a+", "aaa", "a"],
    ["(?U)a+?", "aaa", "aaa"],
    ["x*", "aaa", ""],
    ["(|a)*", "aa", ""],
    ["(|a)+", "aa", ""],
    ["(a|)*", "aab", "aa"],
    ["b$", "abab", "b"],
    ["\\bb\\w+", "abc bcd", "bcd"],
    ["🙂.", "a🙂b", "🙂b"],
    ["z", "abc", undefined],
  ];
  for (const [pattern, text, found] of rows) test(`${pattern} in ${text}`, () => deepEqual(find(pattern, text), found));
});

describe("all matches are found in order, without overlap", () => {
  const rows: readonly (readonly [pattern: string, text: string, limit: number, found: readonly string[]])[] = [
    ["[0-9]", "a1b2c3", -1, ["1", "2", "3"]],
    ["[0-9]", "a1b2c3", 2, ["1", "2"]],
    ["a*", "baac", -1, ["", "aa", ""]],
    ["", "ab", -1, ["", "", ""]],
    ["^a", "aaa", -1, ["a"]],
    ["", "🙂", -1, ["", ""]],
    ["x", "abc", -1, []],
    ["a", "aaa", 0, []],
  ];
  for (const [pattern, text, limit, found] of rows) {
    test(`${pattern} in ${text}, at most ${limit}`, () => deepEqual(findAllText(compiled(pattern), text, limit, FREE), found));
  }
});
