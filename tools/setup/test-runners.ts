/**
 * The real vitest and jest, for the tests of the integration with them. Installed from npm as locked in test-runners/package-lock.json,
 * into the cache and not into node_modules, so that no other code can depend on them.
 */
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { Finding } from "../../src/testing/needs.ts";
import { packageDirectory } from "../../src/testing/package-directory.ts";
import { makeOnce } from "../../src/host/download/make-once.ts";
import { reasonIn } from "../../src/host/processes/program-failure.ts";
import type { Surroundings } from "./surroundings.ts";

type TestRunner = "vitest" | "jest";

/** Timeout for downloading 80 MB; without them the tests are skipped. */
const INSTALL_TIMEOUT_MS = 300_000;

/** Directory name that contains the versions: must change together with package.json. */
const FOLDER = "vitest-4.1.12-jest-30.5.2";

const PROGRAMS: Readonly<Record<TestRunner, string>> = { vitest: "vitest/vitest.mjs", jest: "jest/bin/jest.js" };

export async function testRunners(surroundings: Surroundings): Promise<Record<TestRunner, Finding>> {
  const { cache, step } = surroundings;
  const folder = join(cache, FOLDER);
  if (!existsSync(folder)) {
    const reason = await step("installing vitest 4 and jest 30", () => makeOnce(folder, (unfinished) => install(unfinished, surroundings)));
    if (reason !== undefined) return { vitest: { missing: reason }, jest: { missing: reason } };
  }
  return { vitest: { path: programIn(folder, "vitest") }, jest: { path: programIn(folder, "jest") } };
}

function programIn(folder: string, runner: TestRunner): string {
  return join(folder, "node_modules", PROGRAMS[runner]);
}

async function install(into: string, { npm }: Surroundings): Promise<void> {
  const list = join(packageDirectory(import.meta.dirname), "tools/setup/test-runners");
  for (const file of ["package.json", "package-lock.json"]) copyFileSync(join(list, file), join(into, file));
  // Not `npm ci`: it requires an entry for the binaries of every platform, of which a registry may have fewer.
  const quietly = ["--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", "--loglevel=error"];
  const { exitCode, output } = await npm(["install", "--prefix", into, ...quietly], { timeoutMs: INSTALL_TIMEOUT_MS });
  const missing = (Object.keys(PROGRAMS) as TestRunner[]).filter((runner) => !existsSync(programIn(into, runner)));
  if (exitCode !== 0 || missing.length > 0) throw new Error(`npm install of vitest and jest failed: ${reasonIn(output)}`);
}
