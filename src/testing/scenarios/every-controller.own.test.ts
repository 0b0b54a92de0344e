import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packageDirectory } from "../package-directory.ts";

const CONTROLLERS = join(packageDirectory(import.meta.dirname), "src/controllers");

/** What is not a controller. */
const OTHERS = ["all.ts", "runtime"];

test("every controller is tried by cutting it after each of its calls", () => {
  const folders = readdirSync(CONTROLLERS).filter((name) => !OTHERS.includes(name));

  const untried = folders.filter((folder) => {
    const tests = readdirSync(join(CONTROLLERS, folder)).filter((name) => name.endsWith(".test.ts"));
    return !tests.some((name) => readFileSync(join(CONTROLLERS, folder, name), "utf8").includes("everyStepMayBeTheLast("));
  });

  assert.deepEqual(untried, []);
});
