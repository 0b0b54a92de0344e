import { equal } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import test from "node:test";

test("every validation rule of upstream is shown by a test or explained", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, "run.js")], { encoding: "utf8" });

  equal(status, 0, `${stdout}${stderr}`);
});

test("a kind that there is not is told, and its rules are not said to be complete", () => {
  const { status, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, "run.js"), "--kind", "Nope"], { encoding: "utf8" });

  equal(status, 2);
  equal(stderr, 'Cannot list the rules of "Nope": the tables do not have this kind\n');
});
