import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { packageDirectory } from "../src/testing/package-directory.ts";
import { readSources } from "./source/read-sources.ts";
import { parseSource } from "./source/source.ts";
import { tidinessViolations } from "./tidy.ts";

test("the sources, tools, tests and benchmarks are tidy", () => {
  deepEqual(tidinessViolations(readSources(packageDirectory(import.meta.dirname), "src", "tools", "test", "bench")), []);
});

describe("each violation is reported with its file and line", () => {
  const OPENING = "/** Keeps something true. */\n";
  for (const { it, path = "src/base/a.ts", text, says } of [
    {
      it: "work left for later",
      text: `${OPENING}// ${"TO"}${"DO"}: more\n`,
      says: ["src/base/a.ts:2: says TODO; finish it, or write an issue"],
    },
    {
      it: "work left for later in a long comment",
      text: `/**\n * All.\n * ${"FIX"}${"ME"}\n */\n`,
      says: ["src/base/a.ts:3: says FIXME; finish it, or write an issue"],
    },
    { it: "the same text in a string", text: `${OPENING}const a = "TODO";`, says: [] },
    {
      it: "a test that silences others",
      path: "src/a.test.ts",
      text: `\ntest.only("x", () => {});`,
      says: ["src/a.test.ts:2: calls only(), which silences all other tests"],
    },
    {
      it: "no opening comment",
      text: "export const a = 1;",
      says: ["src/base/a.ts:1: does not open with a doc comment that describes it"],
    },
    {
      it: "an opening line comment",
      text: "// About a.\nexport const a = 1;",
      says: ["src/base/a.ts:1: does not open with a doc comment that describes it"],
    },
    {
      it: "an HTTP server of its own",
      text: `${OPENING}import { createServer } from "node:https";\n`,
      says: ["src/base/a.ts:2: creates an HTTP server; call src/host/http/node-servers.ts, which decides the limits of headers"],
    },
    { it: "a TCP server of its own", text: `${OPENING}import { createServer } from "node:net";\n`, says: [] },
    { it: "a #! line before the opening comment", text: `#!/usr/bin/env node\n${OPENING}`, says: [] },
    { it: "a test without an opening comment", path: "src/a.test.ts", text: "const a = 1;", says: [] },
    { it: "a default export", text: `${OPENING}export default 1;`, says: ["src/base/a.ts:2: has a default export; give it a name"] },
    {
      it: "a default export by another name",
      text: `${OPENING}const a = 1;\nexport { a as default };`,
      says: ["src/base/a.ts:3: has a default export; give it a name"],
    },
    {
      it: "a default export of another file",
      text: `${OPENING}export { default } from "./b.ts";`,
      says: ["src/base/a.ts:2: has a default export; give it a name"],
    },
    {
      it: "a source with another ending",
      path: "src/base/a.test.mts",
      text: OPENING,
      says: ["src/base/a.test.mts:1: ends in .mts; files in src/ must end in .ts to be compiled and tested"],
    },
    { it: "a script of the tools", path: "tools/a.mjs", text: OPENING, says: [] },
    { it: "a named export", text: `${OPENING}export const a = 1;`, says: [] },
  ]) {
    test(it, () => deepEqual(tidinessViolations([parseSource(path, text)]), says));
  }
});
