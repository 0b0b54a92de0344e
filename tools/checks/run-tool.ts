/** Runs a program of node_modules for a check, to its end. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { packageDirectory } from "../../src/testing/package-directory.ts";

/** The directory of the clone. */
export const root = packageDirectory(import.meta.dirname);

/** `script` is the program's file inside node_modules; both of its streams are `output`. */
export function runTool(script: string, args: readonly string[]): { readonly exitCode: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "node_modules", script), ...args], {
    cwd: root,
    encoding: "utf8",
  });
  return { exitCode: status, output: stdout + stderr };
}
