import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { packageDirectory } from "../src/testing/package-directory.ts";
import { cyclesIn, cycleViolations, importGraph } from "./cycles.ts";
import { readSources } from "./source/read-sources.ts";
import { parseSource } from "./source/source.ts";

test("no files of src, tools, bench and test import each other", () => {
  deepEqual(cycleViolations(readSources(packageDirectory(import.meta.dirname), "src", "tools", "bench", "test")), []);
});

/** Files of src/, each with the files that it imports. */
function sources(imports: Readonly<Record<string, readonly string[]>>) {
  return Object.entries(imports).map(([file, imported]) =>
    parseSource(`src/${file}.ts`, `\n${imported.map((name) => `import "./${name}.ts";`).join("\n")}`),
  );
}

describe("a cycle is reported once, by its shortest form", () => {
  for (const { title, imports, says } of [
    { title: "no imports", imports: { a: [] }, says: [] },
    { title: "a chain", imports: { a: ["b"], b: ["c"], c: [] }, says: [] },
    { title: "a diamond", imports: { a: ["b", "c"], b: ["d"], c: ["d"], d: [] }, says: [] },
    { title: "a file that imports itself", imports: { a: ["a"] }, says: ["src/a.ts:2: is part of an import cycle: src/a.ts → src/a.ts"] },
    {
      title: "two files",
      imports: { a: ["x", "b"], b: ["a"], x: [] },
      says: ["src/a.ts:3: is part of an import cycle: src/a.ts → src/b.ts → src/a.ts"],
    },
    {
      title: "three files",
      imports: { a: ["b"], b: ["c"], c: ["a"] },
      says: ["src/a.ts:2: is part of an import cycle: src/a.ts → src/b.ts → src/c.ts → src/a.ts"],
    },
    {
      title: "a long and a short cycle with a common file",
      imports: { a: ["b"], b: ["c"], c: ["a", "d"], d: ["c"] },
      says: ["src/c.ts:3: is part of an import cycle: src/c.ts → src/d.ts → src/c.ts (4 files import each other)"],
    },
    {
      title: "two cycles that do not touch, and a file that imports both",
      imports: { a: ["b", "d"], b: ["c"], c: ["b"], d: ["e"], e: ["d"] },
      says: [
        "src/b.ts:2: is part of an import cycle: src/b.ts → src/c.ts → src/b.ts",
        "src/d.ts:2: is part of an import cycle: src/d.ts → src/e.ts → src/d.ts",
      ],
    },
    { title: "files that are not among the sources", imports: { a: ["../tools/a"], b: ["a"] }, says: [] },
  ]) {
    test(title, () => deepEqual(cycleViolations(sources(imports)), says));
  }
});

describe("every way of importing counts", () => {
  for (const statement of [
    `import { x } from "./b.ts";`,
    `import type { X } from "./b.ts";`,
    `import { type X } from "./b.ts";`,
    `export { x } from "./b.ts";`,
    `export type { X } from "./b.ts";`,
    `export * from "./b.ts";`,
    `const load = () => import("./b.ts");`,
    `export type X = import("./b.ts").X;`,
  ]) {
    test(statement, () => {
      const files = [parseSource("src/a.ts", statement), parseSource("src/b.ts", `import type { Y } from "./a.ts";`)];
      deepEqual(cyclesIn(importGraph(files)), [["src/a.ts", "src/b.ts"]]);
    });
  }
});
