import { deepEqual } from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { layerViolations } from "../layers.ts";
import { purityViolations } from "../purity.ts";
import { readSources } from "./read-sources.ts";

/** Valid code with every file extension. */
const MISTAKES = `/** Planted. */\nvoid import("node:fs");\nvoid Date.now();\n`;

/** Result of `check` for a clone with these files, each with the same mistakes. */
function plantFiles<T>(files: readonly string[], check: (root: string) => T): T {
  const root = mkdtempSync(join(tmpdir(), "k8ts-sources-"));
  try {
    for (const file of files) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), MISTAKES);
    }
    return check(root);
  } finally {
    rmSync(root, { recursive: true });
  }
}

describe("no name of a file or folder hides its content from the checks", () => {
  for (const file of [
    "src/base/a.ts",
    "src/base/generated/a.ts",
    "src/base/a.mts",
    "src/base/a.cts",
    "src/base/a.tsx",
    "src/base/a.js",
    "src/base/a.mjs",
    "src/base/a.cjs",
    "src/base/a.jsx",
  ]) {
    test(file, () => {
      const sources = plantFiles([file], (root) => readSources(root, "src"));
      deepEqual(
        layerViolations(sources).map((violation) => violation.replace(/: base may import .*/, "")),
        [`${file}:2: imports node:fs`],
      );
      deepEqual(purityViolations(sources), [`${file}:3: uses Date.now; base takes clock.now`]);
    });
  }
});

test("files are sorted by name, and files that are not code are ignored", () => {
  const files = ["src/main/b.ts", "src/base/notes.md", "src/base/table.json", "tools/a.mjs", "src/base/a.ts", "other/a.ts"];
  const paths = plantFiles(files, (root) => readSources(root, "tools", "src", "missing").map(({ path }) => path));
  deepEqual(paths, ["src/base/a.ts", "src/main/b.ts", "tools/a.mjs"]);
});
