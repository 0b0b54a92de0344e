/** Builds dist/ if the sources are newer than it. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { unlessFresh } from "./sources.mjs";
import { root, run, StepFailed, step } from "./step.mjs";

export async function build() {
  const stamp = join(root, ".cache/dist.stamp");
  if (!existsSync(join(root, "dist/k8ts.js"))) rmSync(stamp, { force: true });
  await unlessFresh({ stamp, folders: ["src", "tools", "docs/learn"] }, () =>
    step("building", async () => {
      const { exitCode, output } = await run(process.execPath, [join(root, "tools/build.mjs")]);
      if (exitCode !== 0) throw new StepFailed(`Cannot build:\n${output}`);
      return /** @type {const} */ ("whole");
    }),
  );
}
