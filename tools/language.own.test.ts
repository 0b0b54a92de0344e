import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { packageDirectory } from "../src/testing/package-directory.ts";
import { languageViolations } from "./language.ts";
import { readTexts } from "./source/read-texts.ts";

test("sources, tests, tools, examples and documents use established terms", () => {
  const files = readTexts(
    packageDirectory(import.meta.dirname),
    ...["src", "tools", "bench", "test", "examples", "docs", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"],
  );
  deepEqual(languageViolations(files), []);
});

const REPORT = "write report, emit, log, notify, return or distinguish";
const SIMULATED = "write simulated";
const JITTER = "write jitter or random";

describe("a banned phrase is found wherever it is, with its file and line", () => {
  for (const { title, path = "src/base/a.ts", text, says } of [
    { title: "in a comment", text: "\n// It is told to stop.\n", says: [`src/base/a.ts:2: says "told"; ${REPORT}`] },
    { title: "at the start of a sentence", text: "/** Tells it. */", says: [`src/base/a.ts:1: says "tells"; ${REPORT}`] },
    { title: "in a string", text: `\n\nthrow new Error("comes by chance");`, says: [`src/base/a.ts:3: says "by chance"; ${JITTER}`] },
    {
      title: "over two lines of a doc comment",
      text: "/**\n * It comes by\n * chance.\n */",
      says: [`src/base/a.ts:2: says "by chance"; ${JITTER}`],
    },
    {
      title: "over two lines of line comments",
      text: "// It comes by\n  // chance.",
      says: [`src/base/a.ts:1: says "by chance"; ${JITTER}`],
    },
    { title: "at the start of an identifier", text: "const playedPods = [];", says: [`src/base/a.ts:1: says "played"; ${SIMULATED}`] },
    { title: "inside of an identifier", text: "countPlayedPods();", says: [`src/base/a.ts:1: says "played"; ${SIMULATED}`] },
    { title: "as words of an identifier", text: "const waitByChanceMs = 1;", says: [`src/base/a.ts:1: says "by chance"; ${JITTER}`] },
    { title: "in the name of a constant", text: "const BY_CHANCE_MS = 1;", says: [`src/base/a.ts:1: says "by chance"; ${JITTER}`] },
    { title: "in the name of a private member", text: "this.#told();", says: [`src/base/a.ts:1: says "told"; ${REPORT}`] },
    {
      title: "in the name of a file",
      path: "src/base/by-chance.ts",
      text: "",
      says: [`src/base/by-chance.ts:1: is named "by chance"; ${JITTER}`],
    },
    { title: "in the name of a folder", path: "src/played/a.ts", text: "", says: [`src/played/a.ts:1: is named "played"; ${SIMULATED}`] },
    { title: "in a document", path: "docs/a.md", text: "# A\n\n> comes by\n> chance", says: [`docs/a.md:3: says "by chance"; ${JITTER}`] },
    {
      title: "in a script",
      path: "examples/a.sh",
      text: "#!/bin/sh\n# comes by\n# chance",
      says: [`examples/a.sh:2: says "by chance"; ${JITTER}`],
    },
    {
      title: "twice in a line",
      text: "// told and told",
      says: [`src/base/a.ts:1: says "told"; ${REPORT}`, `src/base/a.ts:1: says "told"; ${REPORT}`],
    },
  ]) {
    test(title, () => deepEqual(languageViolations([{ path, text }], []), says));
  }
});

describe("what only looks like a banned phrase passes", () => {
  for (const { title, path = "src/base/a.ts", text } of [
    { title: "a longer word", text: "// The intolerable stolldom of heartbeats, displayed and untold." },
    { title: "a longer word of an identifier", text: "const heartbeatMs = displayedCount;" },
    { title: "words of two sentences", text: "// Sorted by. Chance is no input." },
    { title: "words of two paragraphs", text: "// Where they go\n\n// on their own" },
    { title: "words of two expressions", text: "sort(by, chance);" },
    { title: "generated code", path: "src/api/generated/a.ts", text: "// told" },
    { title: "golden files, which have upstream's texts", path: "src/api/a.golden.yaml", text: "# told" },
    { title: "the glossary, which lists them", path: "docs/glossary.md", text: "told" },
  ]) {
    test(title, () => deepEqual(languageViolations([{ path, text }], []), []));
  }
});

describe("texts that are defined elsewhere stay", () => {
  const file = { path: "src/base/a.ts", text: `\nevent("Nobody was told");\n// told` };

  test("the literal text is no violation, the rest of its file is checked", () => {
    deepEqual(languageViolations([file], ["Nobody was told"]), [`src/base/a.ts:3: says "told"; ${REPORT}`]);
  });

  test("an exception that does not occur is refused", () => {
    deepEqual(languageViolations([{ path: "src/base/a.ts", text: "" }], ["Nobody was told"]), [
      `tools/language.ts:1: excepts "Nobody was told", which does not occur; remove the line`,
    ]);
  });
});
