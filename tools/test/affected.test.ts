import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { parseSource } from "../source/source.ts";
import { affectedTests } from "./affected.ts";

const TREE = {
  "src/base/heap.ts": `export const heap = 1;`,
  "src/base/heap.test.ts": `import { heap } from "./heap.ts"; void heap;`,
  "src/store/store.ts": `import type { heap } from "../base/heap.ts"; export type Store = typeof heap;`,
  "src/store/store.test.ts": `import type { Store } from "./store.ts"; export type T = Store;`,
  "src/main/launcher.ts": `void import("../store/store.ts");`,
  "src/testing/program.ts": `export const LAUNCHER = "main/launcher.js";`,
  "src/main/up.own.test.ts": `import { LAUNCHER } from "../testing/program.ts"; void LAUNCHER;`,
  "src/api/pod.test.ts": `export {};`,
  "src/testing/golden.test.ts": `export const ending = ".golden.yaml";`,
  "tools/layers.own.test.ts": `export {};`,
};
const SOURCES = Object.entries(TREE).map(([path, text]) => parseSource(path, text));

function affected(...changed: readonly string[]): readonly string[] | "all" {
  const tests = affectedTests(SOURCES, changed);
  return tests === "all" ? "all" : [...tests];
}

describe("affectedTests", () => {
  const ROWS = [
    { of: "a document affects the tests in tools/", changed: ["docs/store.md"], tests: ["tools/layers.own.test.ts"] },
    { of: "a test affects itself", changed: ["src/api/pod.test.ts"], tests: ["src/api/pod.test.ts", "tools/layers.own.test.ts"] },
    {
      of: "a file affects the tests that import it: transitively, as types, by import() and by program name",
      changed: ["src/base/heap.ts"],
      tests: ["src/base/heap.test.ts", "src/store/store.test.ts", "src/main/up.own.test.ts", "tools/layers.own.test.ts"],
    },
    {
      of: "a data file affects the tests beside it and those that mention its suffix",
      changed: ["src/api/pod.golden.yaml"],
      tests: ["src/api/pod.test.ts", "src/testing/golden.test.ts", "tools/layers.own.test.ts"],
    },
  ];
  for (const { of, changed, tests } of ROWS) test(of, () => deepEqual(affected(...changed), tests));

  for (const changed of ["package-lock.json", "tsconfig.json", "tools/setup.mjs", "tools/generate/version.ts", "examples/unknown.bin"])
    test(`${changed} affects every test`, () => equal(affected("docs/store.md", changed), "all"));

  test("without a change the tests in tools/ run", () => deepEqual(affected(), ["tools/layers.own.test.ts"]));
});
