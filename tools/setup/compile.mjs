/**
 * Compiles everything (sources, tests, tools, benchmarks) into out/, for the test run and the benchmarks, and bundles the program that
 * tests start as a process: loading 1,900 modules costs a second of processor time at each of hundreds of starts. Incremental: TypeScript records
 * what it has emitted, last of all, so that an interrupted run is repeated; outputs without a source are removed. TypeScript emits despite
 * type errors, so the test run can continue and count them as one failed check (tools/checks/types.own.test.ts).
 */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { unlessFresh } from "./sources.mjs";
import { root, run, StepFailed, step } from "./step.mjs";

const OUT = join(root, "out");
/** TypeScript's record of an incremental compilation, as tsconfig.json names it. */
const RECORD = join(OUT, "tsc.tsbuildinfo");

/** @param {{ typeErrors: "end the set-up" | "are counted by the test run" }} options */
export async function compile({ typeErrors }) {
  await unlessFresh({ stamp: join(OUT, "stamp"), folders: ["src", "tools", "test", "bench", "docs/learn"] }, () =>
    step("compiling", async () => {
      if (!existsSync(RECORD)) rmSync(OUT, { recursive: true, force: true });
      const { generate } = await import("../generate.mjs");
      await generate();
      // Generated sources exist now: TypeScript would not emit again what is removed here and unchanged.
      removeOrphanedOutputs();
      const tsc = join(root, "node_modules/typescript/bin/tsc");
      const { exitCode, output } = await run(process.execPath, [tsc, "-p", root]);
      const isEmitted = existsSync(join(OUT, "tools/test/run.js"));
      if (exitCode !== 0 && (typeErrors === "end the set-up" || !isEmitted)) throw new StepFailed(`Cannot compile:\n${output}`);
      await bundleProgram();
      const { bundleBrowser } = await import("./browser-bundle.mjs");
      await bundleBrowser(join(OUT, "browser"));
      return exitCode === 0 ? "whole" : "faulty";
    }),
  );
}

/** `out/program/launcher.js`, which src/testing/servers/launcher.ts names. */
async function bundleProgram() {
  const [{ build }, { BUNDLE_OPTIONS }] = await Promise.all([import("esbuild"), import("./bundle-options.mjs")]);
  const outdir = join(OUT, "program");
  const entryPoints = { launcher: join(root, "src/main/launcher.ts") };
  await build({ ...BUNDLE_OPTIONS, external: [...BUNDLE_OPTIONS.external], entryPoints, outdir });
}

/** A test file that was deleted or renamed must not run any more. */
function removeOrphanedOutputs() {
  if (!existsSync(OUT)) return;
  for (const entry of readdirSync(OUT, { recursive: true, withFileTypes: true })) {
    const output = join(entry.parentPath, entry.name);
    const source = join(root, relative(OUT, output)).replace(/\.js(\.map)?$/, ".ts");
    if (/\.js(\.map)?$/.test(entry.name) && !existsSync(source)) rmSync(output);
  }
}
