import { equal, match } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

function bench(...argv: string[]) {
  return spawnSync(process.execPath, [join(import.meta.dirname, "run.js"), ...argv], { encoding: "utf8" });
}

test("--help lists the benchmarks and measures nothing", () => {
  const { status, stdout } = bench("--help");

  equal(status, 0);
  match(stdout, /^ {2}store\/commits {2}/m);
});

test("an unknown benchmark is an error, even beside a known one", () => {
  const { status, stderr, stdout } = bench("store", "nothing");

  equal(status, 2);
  match(stderr, /Cannot find the benchmark "nothing"/);
  equal(stdout, "");
});
