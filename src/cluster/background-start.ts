/**
 * Marks that a cluster is being started in the background, for commands that stop it: between the creation of its process and of its record
 * the program loads, and nothing else shows the start. The mark of an exited process is ignored.
 */
import { readFile } from "node:fs/promises";
import { removeFile } from "../host/files/files.ts";
import { writePrivateText } from "../host/files/private-files.ts";
import { isAlive, processMark, type ProcessMark } from "../host/processes/process-identity.ts";
import type { HomePaths } from "./home/home-paths.ts";

type Place = Pick<HomePaths, "startMark">;

export async function markStart({ startMark }: Place, pid: number): Promise<void> {
  await writePrivateText(startMark, JSON.stringify(processMark(pid)));
}

export async function unmarkStart({ startMark }: Place): Promise<void> {
  await removeFile(startMark);
}

export async function isBeingStarted({ startMark }: Place): Promise<boolean> {
  const text = await readFile(startMark, "utf8").catch(() => "null");
  const mark = parsed(text);
  return mark !== undefined && isAlive(mark);
}

/** Undefined if it is missing or incomplete. */
function parsed(text: string): ProcessMark | undefined {
  try {
    const { pid, started } = (JSON.parse(text) ?? {}) as Partial<ProcessMark>;
    return Number.isInteger(pid) && typeof started === "string" ? { pid: pid as number, started } : undefined;
  } catch {
    return undefined;
  }
}
