/**
 * `k8ts up` alone, which the build bundles into one script, dist/up.cjs: one file is read faster than 250 modules are, and its compiled code
 * can be cached (host/processes/cached-script.ts).
 */
import type { CommandEntry } from "../cli/framework/command.ts";
import { runProgram } from "./program.ts";

/** Without the others: its summary is printed only beside them. */
const UP: CommandEntry = { name: "up", summary: "", load: async () => (await import("../cli/commands/up.ts")).up };

/** `started`: see runProgram. */
export async function runUp(started: (parts: readonly string[]) => void): Promise<void> {
  await runProgram([UP], started);
}
