/**
 * That a cluster is being started in the background, for who wants to stop it: from its process being there to its record takes as long as
 * it takes to load the program, and in that time nothing else tells of it. A mark of a process that is gone means nothing.
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

/** Undefined if it is none, or half of one. */
function parsed(text: string): ProcessMark | undefined {
  try {
    const { pid, started } = (JSON.parse(text) ?? {}) as Partial<ProcessMark>;
    return Number.isInteger(pid) && typeof started === "string" ? { pid: pid as number, started } : undefined;
  } catch {
    return undefined;
  }
}
