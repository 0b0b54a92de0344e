import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { SHARED_PROCESS, type FileResult } from "./file-result.ts";
import { judge, planSecondRuns } from "./second-run.ts";
import type { TestFile, TestKind } from "./test-files.ts";

const FILES = [file("a", "shared"), file("b", "shared"), file("c", "own"), file("d", "machine")];

function file(name: string, kind: TestKind): TestFile {
  return { name, kind, compiled: `${name}.js` };
}

function result(name: string, outcome: "passed" | "failed" | "problem"): FileResult {
  return {
    file: name,
    durationMs: 1,
    passed: outcome === "passed" ? 1 : 0,
    failed: outcome === "failed" ? [{ title: "x", details: "" }] : [],
    skipped: [],
    problem: outcome === "problem" ? "It did not run to completion" : undefined,
    output: "",
  };
}

describe("planSecondRuns", () => {
  const plan = (...results: readonly FileResult[]) => planSecondRuns(FILES, results).map(({ files }) => files.map(({ name }) => name));

  test("no rerun if all files passed", () => deepEqual(plan(result("a", "passed"), result("c", "passed")), []));
  test("each failed file is rerun alone", () => {
    deepEqual(plan(result("a", "passed"), result("b", "failed"), result("c", "problem"), result("d", "failed")), [["b"], ["c"], ["d"]]);
  });
  test("files of a shared process that failed as a whole are rerun together", () => {
    deepEqual(plan(result("a", "passed"), result("b", "problem"), result("c", "failed"), result(SHARED_PROCESS, "problem")), [
      ["a", "b"],
      ["c"],
    ]);
  });
});

describe("judge", () => {
  const verdict = (first: readonly FileResult[], second: readonly FileResult[]) => {
    const { results, flaky } = judge(first, second);
    return { passed: results.filter(({ passed }) => passed > 0).map((one) => one.file), flaky: flaky.map((one) => one.file) };
  };

  test("a file that fails twice has failed", () => {
    deepEqual(verdict([result("a", "passed"), result("c", "failed")], [result("c", "failed")]), { passed: ["a"], flaky: [] });
  });
  test("a file that passes the second time is flaky", () => {
    deepEqual(verdict([result("a", "passed"), result("c", "failed")], [result("c", "passed")]), { passed: ["a", "c"], flaky: ["c"] });
  });
  test("files interrupted by a crash of the shared process are not flaky; the process is", () => {
    const first = [result("a", "failed"), result("b", "problem"), result(SHARED_PROCESS, "problem")];
    deepEqual(verdict(first, [result("a", "passed"), result("b", "passed")]), { passed: ["a", "b"], flaky: ["a", SHARED_PROCESS] });
  });
  test("a shared process that crashes again has failed", () => {
    const first = [result("a", "passed"), result(SHARED_PROCESS, "problem")];
    deepEqual(verdict(first, [result("a", "passed"), result(SHARED_PROCESS, "problem")]), { passed: ["a"], flaky: [] });
  });
});
