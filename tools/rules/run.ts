/**
 * `node out/tools/rules/run.js [--kind KIND]`: prints, per kind, the validation rules of upstream that no test of src/api covers. Fails if
 * an uncovered rule has no explanation, or an explanation is unused. The tables were extracted from upstream's sources by a program, and
 * may have unreachable rules (explained.ts then says so).
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { packageDirectory } from "../../src/testing/package-directory.ts";
import { runProcess } from "../test/run-process.ts";
import { findTestFiles, writeEntry } from "../test/test-files.ts";
import { explanations } from "./explained.ts";
import { reportOf } from "./report.ts";
import { readRules, coveredRules, type Yielded } from "./rules.ts";

/** All tests of the kinds together take seconds. */
const TESTS_TIMEOUT_MS = 300_000;

const compiledRoot = dirname(dirname(import.meta.dirname));
const tables = join(packageDirectory(compiledRoot), "tools", "rules", "tables");

async function main(): Promise<number> {
  const { kind } = parseArgs({ options: { kind: { type: "string" } } }).values;
  const rules = readRules(tables);
  if (kind !== undefined && !rules.some(({ kinds }) => kinds.includes(kind))) {
    console.error(`Cannot list the rules of "${kind}": the tables do not have this kind`);
    return 2;
  }
  const { yielded, failed } = await yieldedByTests();
  const { lines, ok } = reportOf(rules, coveredRules(rules, yielded), explanations, { kind });
  console.log(lines.join("\n"));
  for (const title of failed) console.error(`This test failed, so the rules that it covers are missing above: ${title}`);
  return ok && failed.length === 0 ? 0 : 1;
}

/** Runs the pure tests of src/api in one process, with the recorder in front of them. */
async function yieldedByTests(): Promise<{ readonly yielded: readonly Yielded[]; readonly failed: readonly string[] }> {
  const directory = mkdtempSync(join(tmpdir(), "k8ts-rules-"));
  try {
    const files = findTestFiles(compiledRoot, ["src/api/"]).filter(({ kind }) => kind === "shared");
    const tests = join(directory, "tests.mjs");
    const entry = join(directory, "entry.mjs");
    const file = join(directory, "yielded.json");
    writeEntry(tests, files);
    writeFileSync(entry, `import ${JSON.stringify(new URL("./recorder.js", import.meta.url).href)};\nawait import("./tests.mjs");\n`);
    const environment = { ...process.env, K8TS_RULES_FILE: file };
    const { lines } = await runProcess({ file: entry, timeoutMs: TESTS_TIMEOUT_MS, environment, signal: new AbortController().signal });
    const failed = lines.flatMap((line) => (line.type === "closes" && !line.isSuite && line.failed !== undefined ? [line.name] : []));
    return { yielded: JSON.parse(readFileSync(file, "utf8")) as readonly Yielded[], failed };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

process.exitCode = await main();
