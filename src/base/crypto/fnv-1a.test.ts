import { equal } from "node:assert/strict";
import { test } from "node:test";
import { fnv1a32, fnv1Hash32 } from "./fnv-1a.ts";

/** Those in ASCII are among the test vectors of the authors of FNV. */
for (const [text, hash] of [
  ["", 0x811c9dc5],
  ["a", 0xe40c292c],
  ["foobar", 0xbf9cf968],
  ["ä", 0x199de0e2],
] as const) {
  test(`fnv1a32 of "${text}" is ${hash}`, () => equal(fnv1a32(text), hash));
}

test("fnv1a32 continues with the bytes after the text", () => equal(fnv1a32("foo", [0x62, 0x61, 0x72]), fnv1a32("foobar")));

for (const [text, hash] of [
  ["", 0x811c9dc5],
  ["a", 0x050c5d7e],
  ["foobar", 0x31f0b262],
] as const) {
  test(`fnv1Hash32 of "${text}" is ${hash}`, () => equal(fnv1Hash32(text), hash));
}
