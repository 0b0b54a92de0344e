/**
 * Prepares a fresh clone: `node tools/setup.mjs start|test|build|bench`, called by the npm scripts first. Installs and compiles what is
 * missing, with a line for each step that does something; prints nothing if nothing is missing. Interrupted steps are repeated: every step
 * records its completion last. Plain JavaScript without dependencies, since it runs before they are installed. Not here: which programs the
 * tests need (setup/find-tools.ts, which this compiles and then calls).
 */
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "./setup/build.mjs";
import { compile } from "./setup/compile.mjs";
import { withLock } from "./setup/lock.mjs";
import { installContainers } from "./setup/containers.mjs";
import { checkNode } from "./setup/node-version.mjs";
import { installPackages } from "./setup/packages.mjs";
import { npm, root, run, StepFailed, step } from "./setup/step.mjs";

const PURPOSES = ["start", "test", "build", "bench"];

/** @param {string | undefined} purpose */
async function setUp(purpose) {
  if (purpose === undefined || !PURPOSES.includes(purpose)) {
    throw new StepFailed(`Cannot set up for ${JSON.stringify(purpose ?? "")}: it must be one of ${PURPOSES.join(", ")}`);
  }
  checkNode(process.versions.node);
  const cache = join(root, ".cache");
  mkdirSync(cache, { recursive: true });
  await withLock(join(cache, "setup.lock"), async () => {
    await installPackages();
    // Benchmarks measure what is shipped.
    if (purpose === "start" || purpose === "bench") await build();
    if (purpose === "start") await installContainers(cache);
    if (purpose === "test") await compile({ typeErrors: "are counted by the test run" });
    if (purpose === "bench") await compile({ typeErrors: "end the set-up" });
    if (purpose === "test" || purpose === "bench") await findTools(cache);
  });
}

/** @param {string} cache */
async function findTools(cache) {
  const compiled = await import(pathToFileURL(join(root, "out/tools/setup/find-tools.js")).href);
  const downloads = resolve(root, process.env["K8TS_CACHE"] || cache);
  await compiled.findTools({ findings: join(cache, "tools.json"), cache: downloads, step, run, npm });
}

try {
  await setUp(process.argv[2]);
} catch (error) {
  console.error(error instanceof StepFailed ? error.message : error);
  process.exitCode = 1;
}
