/** What an API server leaves for its read workers in a file of their directory: known to both processes. */
import { deserialize, serialize } from "node:v8";
import type { ApiServerOptions } from "../../config/api-server-config.ts";
import { joinPath, readWhole } from "../../host/files/files.ts";

/** The command of a worker, followed by the directory, and the line with which it reports that it accepts connections. */
export const READ_WORKER_COMMAND = "read-worker";
export const READ_WORKER_READY_LINE = "serving reads";

/** The first inherited descriptor; others follow. */
export const FIRST_DESCRIPTOR = 3;

export interface ReadWorkerStart {
  readonly options: ApiServerOptions;
  /** Number of bound sockets that it inherits. */
  readonly descriptors: number;
}

export function storeSocketOf(directory: string): string {
  return joinPath(directory, "store");
}

export function relaySocketOf(directory: string): string {
  return joinPath(directory, "relay");
}

/** For writes, as messages. */
export function writesSocketOf(directory: string): string {
  return joinPath(directory, "writes");
}

/** The page on which the main process publishes its revision for one worker. */
export function pageOf(directory: string, number: number): string {
  return joinPath(directory, `page-${number}`);
}

export function startFileOf(directory: string): string {
  return joinPath(directory, "start");
}

/** As bytes, since options have values that JSON has not. */
export function encodeStart(start: ReadWorkerStart): Uint8Array {
  return serialize(start);
}

export async function readStart(directory: string): Promise<ReadWorkerStart> {
  try {
    return deserialize(await readWhole(startFileOf(directory))) as ReadWorkerStart;
  } catch (error) {
    const why = `Cannot read ${startFileOf(directory)}: read workers are started by an API server (k8ts apiserver --read-workers)`;
    throw new Error(why, { cause: error });
  }
}
