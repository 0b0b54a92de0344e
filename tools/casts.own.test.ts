import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { packageDirectory } from "../src/testing/package-directory.ts";
import { castViolations } from "./casts.ts";
import { readSources } from "./source/read-sources.ts";
import { parseSource } from "./source/source.ts";

test("the tree has no more double casts than the limit", () => {
  deepEqual(castViolations(readSources(packageDirectory(import.meta.dirname), "src", "tools", "bench", "test")), []);
});

describe("double casts are counted, with their file and line", () => {
  for (const { title, text, count } of [
    { title: "through unknown", text: `const a = b as unknown as string;`, count: 1 },
    { title: "through any", text: `const a = b as any as string;`, count: 1 },
    { title: "through never", text: `const a = b as never as string;`, count: 1 },
    { title: "with parentheses", text: `const a = ((b as unknown)) as string;`, count: 1 },
    { title: "two of them", text: `const a = (b as unknown as C).d as unknown as string;`, count: 2 },
    { title: "a single cast does not count", text: `const a = b as string;`, count: 0 },
    { title: "a single cast to unknown does not count", text: `const a = (b as unknown).c;`, count: 0 },
    { title: "a string does not count", text: `const a = "b as unknown as string";`, count: 0 },
  ]) {
    test(title, () => {
      const casts = Array.from({ length: count }, () => "src/a.ts:2: casts twice");
      const expected = count === 0 ? [] : [`There are ${count} double casts, at most 0 are allowed: narrow with a type guard`, ...casts];
      deepEqual(castViolations([parseSource("src/a.ts", `\n${text}`)], 0), expected);
    });
  }
});

test("double casts up to the limit pass", () => {
  const source = parseSource("src/a.ts", "const a = b as unknown as string;");
  deepEqual(castViolations([source, source], 2), []);
});
