import { deepEqual, equal, match } from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { packageDirectory } from "../../src/testing/package-directory.ts";
import type { Surroundings } from "./surroundings.ts";
import { testRunners } from "./test-runners.ts";

const cache = mkdtempSync(join(tmpdir(), "k8ts-cache-"));
after(() => rmSync(cache, { recursive: true }));

const list = join(packageDirectory(import.meta.dirname), "tools/setup/test-runners");

const { devDependencies: locked } = JSON.parse(readFileSync(join(list, "package.json"), "utf8")) as {
  readonly devDependencies: Readonly<Record<string, string>>;
};

/** A machine on which only npm matters. */
function machineWith(npm: Surroundings["npm"]): Surroundings {
  return {
    ...{ platform: "linux", architecture: "x64", isRoot: false, isDebian: false, cache },
    step: (_what, work) => work(),
    which: () => undefined,
    run: () => Promise.reject(new Error("No program should run")),
    npm,
  };
}

test("without a network the reason is reported, and no partial installation is left", async () => {
  const { vitest, jest } = await testRunners(machineWith(async () => ({ exitCode: 1, output: "npm error code ENOTFOUND\n" })));

  match("missing" in vitest ? vitest.missing : "found", /npm install of vitest and jest failed: npm error code ENOTFOUND/);
  deepEqual(jest, vitest);
  deepEqual(readdirSync(cache), []);
});

test("the locked versions are installed once, and then used without network access", async () => {
  const calls: (readonly string[])[] = [];
  const npm: Surroundings["npm"] = async (args) => {
    calls.push(args);
    const into = args[args.indexOf("--prefix") + 1] ?? "";
    equal(readFileSync(join(into, "package-lock.json"), "utf8"), readFileSync(join(list, "package-lock.json"), "utf8"));
    for (const file of ["node_modules/vitest/vitest.mjs", "node_modules/jest/bin/jest.js"]) {
      mkdirSync(dirname(join(into, file)), { recursive: true });
      writeFileSync(join(into, file), "");
    }
    return { exitCode: 0, output: "" };
  };

  const first = await testRunners(machineWith(npm));
  const second = await testRunners(machineWith(npm));

  equal(calls.length, 1);
  deepEqual(first, second);
  deepEqual(readdirSync(cache), [`vitest-${locked["vitest"]}-jest-${locked["jest"]}`], "another version has another name");
  equal("path" in first.jest && existsSync(first.jest.path), true);
});
