/** Asks the user before data is deleted. Not here: deleting it. */
import { hasTerminal } from "../../host/processes/exec-program.ts";
import { promptUser } from "../../host/processes/standard-input.ts";
import type { FlagSet } from "./flags.ts";

export const confirmationFlag = { yes: { type: "boolean", doc: "Do not ask for confirmation." } } as const satisfies FlagSet;

/** `what`: "cluster \"a\" and all data in /d, including 2 volumes". Rejects, with the remedy, if no user can answer. */
export async function confirmDeletion(what: string): Promise<boolean> {
  if (!hasTerminal())
    throw new Error(`Cannot ask for confirmation to delete ${what}: standard input is not a terminal; confirm with --yes`);
  return /^y(es)?$/i.test((await promptUser(`Delete ${what}? [y/N] `)).trim());
}

/** "1 volume of PersistentVolumeClaims". */
export function volumesText(count: number): string {
  return `${count === 1 ? "1 volume" : `${count} volumes`} of PersistentVolumeClaims`;
}
