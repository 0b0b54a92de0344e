/** Runs a `k8ts` command that is rejected before it starts: its output and exit code. */
import type { Command } from "../../cli/framework/command.ts";
import { dispatch } from "../../cli/framework/dispatch.ts";

/** The command is named "it". */
export async function refused<Options>(command: Command<Options>, ...words: readonly string[]) {
  const notes: string[] = [];
  const exitCode = await dispatch(["it", ...words], [{ name: "it", summary: "It", load: async () => command }], {
    out: () => undefined,
    note: (line) => void notes.push(line),
    environment: {},
    version: "test",
    openIo: () => Promise.reject(new Error("The command was not rejected")),
  });
  return { exitCode, notes };
}
