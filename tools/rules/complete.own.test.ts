import { equal } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import test from "node:test";

test("every validation rule of upstream is covered by a test or explained", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, "run.js")], { encoding: "utf8" });

  equal(status, 0, `${stdout}${stderr}`);
});

test("an unknown kind is an error", () => {
  const { status, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, "run.js"), "--kind", "Nope"], { encoding: "utf8" });

  equal(status, 2);
  equal(stderr, 'Cannot list the rules of "Nope": the tables do not have this kind\n');
});
