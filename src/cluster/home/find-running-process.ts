/**
 * Which process runs the cluster of a home: the one that its record names, or, if there is a record that cannot be understood, the one that
 * holds the home. Without any record, whoever holds it may as well be about to start it, or be cleaning up after it.
 */
import { livingHolder } from "../../host/files/directory-lock.ts";
import { fileExists } from "../../host/files/files.ts";
import type { ProcessMark } from "../../host/processes/process-identity.ts";
import { readRecord, runs, type ClusterRecord } from "./cluster-record.ts";
import type { HomePaths } from "./home-paths.ts";

export interface Seen {
  /** Of what runs, or was killed. Undefined: there is none, or it is damaged. */
  readonly record: ClusterRecord | undefined;
  /** Whether there is a record that cannot be understood. */
  readonly isDamaged: boolean;
  /** Who runs it. Undefined: nobody does. */
  readonly process: ProcessMark | undefined;
}

export async function findRunningProcess({ record: path, runDirectory }: Pick<HomePaths, "record" | "runDirectory">): Promise<Seen> {
  const record = await readRecord(path);
  if (record !== undefined) return { record, isDamaged: false, process: runs(record) ? record.process : undefined };
  const isDamaged = await fileExists(path);
  return { record, isDamaged, process: isDamaged ? livingHolder(runDirectory) : undefined };
}
