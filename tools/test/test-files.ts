/**
 * Finds the compiled test files. `x.test.ts` is pure and shares a process with all others of its kind; `x.own.test.ts` may own processes,
 * ports or files and runs in its own process; `x.machine.own.test.ts` runs real containers, one such file at a time. A hundred files take
 * 0.3 s in one process and 13 s in a hundred.
 */
import { readdirSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import { pathToFileURL } from "node:url";

export interface TestFile {
  /** Path of the source: "src/base/heap.test.ts". */
  readonly name: string;
  readonly compiled: string;
  readonly kind: TestKind;
}

export type TestKind = "shared" | "own" | "machine";

/** Files whose name contains one of the patterns, or all without patterns; sorted by name. */
export function findTestFiles(directory: string, patterns: readonly string[]): TestFile[] {
  // Shells complete a path to "./src/base/heap.test.ts".
  const parts = patterns.map((pattern) => pattern.replace(/^\.\//, ""));
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.js"))
    .map((path): TestFile => {
      const name = path.split(sep).join("/").replace(/\.js$/, ".ts");
      return { name, compiled: join(directory, path), kind: kindOf(name) };
    })
    .filter(({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function kindOf(name: string): TestKind {
  if (name.endsWith(".machine.own.test.ts")) return "machine";
  return name.endsWith(".own.test.ts") ? "own" : "shared";
}

/** Writes a file that imports all the files, each in a suite of its name, so that results and hooks stay separate. */
export function writeEntry(entry: string, files: readonly TestFile[]): void {
  const suites = files.map(({ name, compiled }) => {
    return `describe(${JSON.stringify(name)}, async () => { await import(${JSON.stringify(pathToFileURL(compiled).href)}); });`;
  });
  writeFileSync(entry, `import { describe } from "node:test";\n${suites.join("\n")}\n`);
}
