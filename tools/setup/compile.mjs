/**
 * Compiles everything (sources, tests, tools, benchmarks) into a clean out/, for the test run and the benchmarks. TypeScript emits despite
 * type errors, so the test run can continue and count them as one failed check (tools/checks/types.own.test.ts).
 */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { unlessFresh } from "./sources.mjs";
import { root, run, StepFailed, step } from "./step.mjs";

/** @param {{ typeErrors: "end the set-up" | "are counted by the test run" }} options */
export async function compile({ typeErrors }) {
  const out = join(root, "out");
  await unlessFresh({ stamp: join(out, "stamp"), folders: ["src", "tools", "test", "bench"] }, () =>
    step("compiling", async () => {
      rmSync(out, { recursive: true, force: true });
      const { generate } = await import("../generate.mjs");
      await generate();
      const { exitCode, output } = await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", root]);
      const isEmitted = existsSync(join(out, "tools/test/run.js"));
      if (exitCode !== 0 && (typeErrors === "end the set-up" || !isEmitted)) throw new StepFailed(`Cannot compile:\n${output}`);
      return exitCode === 0 ? "whole" : "faulty";
    }),
  );
}
