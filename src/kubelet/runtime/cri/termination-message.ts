/**
 * The termination message of a container: the content of its terminationMessagePath or, if it failed without any and its policy is
 * FallbackToLogsOnError, the end of its log. Limits and messages are upstream's.
 */
import { readRegularTail } from "../../../host/files/files.ts";
import { isMissing, openGrowingFile, type GrowingFile } from "../../../host/files/log-files.ts";
import { mapOf } from "./messages/common.ts";
import type { ContainerStatusMessage } from "./messages/container.ts";
import { TERMINATION_MESSAGE_PATH, TERMINATION_MESSAGE_POLICY } from "./labels.ts";
import { LineCutter, LogLines, tailStart } from "./logs/log-lines.ts";

const MESSAGE_BYTES_MAX = 4_096;
const LOG_BYTES_MAX = 2_048;
const LOG_LINES_MAX = 80;

/** Log path that runtimes report for a container that never ran. */
const CANNOT_RUN = "ContainerCannotRun";

/** What an exited container wrote to its file; "" if nothing, undefined if the file was removed, as it is with its Pod. */
export async function messageFromFile(status: ContainerStatusMessage): Promise<string | undefined> {
  const path = mapOf(status.annotations).get(TERMINATION_MESSAGE_PATH) ?? "";
  const hostPath = status.mounts.find(({ containerPath }) => containerPath === path)?.hostPath;
  return path === "" || hostPath === undefined ? "" : fileEnd(hostPath);
}

/** Whether the termination message of an exited container may come from its log. */
export function mayReadLog({ annotations, exitCode, reason }: ContainerStatusMessage): boolean {
  return mapOf(annotations).get(TERMINATION_MESSAGE_POLICY) === "FallbackToLogsOnError" && exitCode !== 0 && reason !== CANNOT_RUN;
}

async function fileEnd(path: string): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await readRegularTail(path, MESSAGE_BYTES_MAX));
  } catch (error) {
    return isMissing(error) ? undefined : `Error on reading termination log ${path}: ${messageOf(error)}`;
  }
}

/** The end of its log. */
export async function messageFromLog({ logPath: path }: ContainerStatusMessage): Promise<string> {
  try {
    const file = await openGrowingFile(path);
    if (file === undefined)
      return `Error on reading termination message from logs: failed to open log file "${path}": no such file or directory`;
    try {
      return await lastLines(file);
    } finally {
      await file[Symbol.asyncDispose]();
    }
  } catch (error) {
    return `Error on reading termination message from logs: ${messageOf(error)}`;
  }
}

async function lastLines(file: GrowingFile): Promise<string> {
  const { sizeBytes } = await file.state();
  const [cutter, lines] = [new LineCutter(), new LogLines()];
  let text = "";
  for (let position = await tailStart(file, sizeBytes, LOG_LINES_MAX); ;) {
    const chunk = await file.read(position);
    if (chunk.length === 0) return text;
    position += chunk.length;
    for (const bytes of cutter.cut(chunk)) {
      const line = lines.parse(bytes);
      if (line !== undefined) text = lastBytes(`${text}${line.text}${line.isPartial === true ? "" : "\n"}`);
    }
  }
}

function lastBytes(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return bytes.length <= LOG_BYTES_MAX ? text : new TextDecoder().decode(bytes.subarray(-LOG_BYTES_MAX));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
