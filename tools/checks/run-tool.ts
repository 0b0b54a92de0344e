/** Runs a program of node_modules for a check and waits for its exit. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { packageDirectory } from "../../src/testing/package-directory.ts";

/** Root directory of the clone. */
export const root = packageDirectory(import.meta.dirname);

/** `script` is the program's file inside node_modules; `output` has both standard streams. */
export function runTool(script: string, args: readonly string[]): { readonly exitCode: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "node_modules", script), ...args], {
    cwd: root,
    encoding: "utf8",
  });
  return { exitCode: status, output: stdout + stderr };
}
