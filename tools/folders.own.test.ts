import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { packageDirectory } from "../src/testing/package-directory.ts";
import { folderViolations } from "./folders.ts";
import { readTexts, type TextFile } from "./source/read-texts.ts";

test("no folder has too many source files, and every room of src/ has a short README", () => {
  const files = readTexts(packageDirectory(import.meta.dirname), "src", "tools", "bench", "test");
  deepEqual(folderViolations(files), []);
});

const README: TextFile = { path: "src/a/README.md", text: "# a\n" };

function sources(folder: string, count: number, ending = ".ts"): TextFile[] {
  return Array.from({ length: count }, (_, index) => ({ path: `${folder}/f${index}${ending}`, text: "" }));
}

describe("each folder that is not in order is named", () => {
  for (const { title, files, says } of [
    { title: "25 source files are allowed", files: [README, ...sources("src/a", 25)], says: [] },
    {
      title: "26 source files are refused",
      files: [README, ...sources("src/a", 26)],
      says: ["src/a: holds 26 source files, at most 25 are allowed; group them in folders"],
    },
    {
      title: "a folder outside of src/ has the same limit",
      files: sources("tools/b", 26),
      says: ["tools/b: holds 26 source files, at most 25 are allowed; group them in folders"],
    },
    { title: "tests are not counted", files: [README, ...sources("src/a", 25), ...sources("src/a", 25, ".own.test.ts")], says: [] },
    { title: "folders inside are counted alone", files: [README, ...sources("src/a", 25), ...sources("src/a/b", 25)], says: [] },
    {
      title: "main has a lower limit",
      files: [{ path: "src/main/README.md", text: "# main\n" }, ...sources("src/main", 15)],
      says: ["src/main: holds 15 source files, at most 14 are allowed; group them in folders"],
    },
    {
      title: "a room of src/ without a README is refused, also if only a folder inside has files",
      files: [...sources("src/a/b", 1), { path: "src/a/b/README.md", text: "" }],
      says: ["src/a: has no README.md that says what it does and where to start reading"],
    },
    { title: "a README of 40 lines is allowed", files: [{ ...README, text: "line\n".repeat(40) }], says: [] },
    {
      title: "a README of 41 lines is refused",
      files: [{ ...README, text: "line\n".repeat(41) }],
      says: ["src/a/README.md: has 41 lines, at most 40 are allowed"],
    },
    { title: "folders outside of src/ need no README", files: sources("tools/b", 1), says: [] },
  ]) {
    test(title, () => deepEqual(folderViolations(files), says));
  }
});
