/**
 * Finds the process that runs a home's cluster: the one in its record, or, if the record is corrupt, the holder of the home's lock. Without
 * a record the holder may as well be starting the cluster or cleaning up after it.
 */
import { livingHolder } from "../../host/files/directory-lock.ts";
import { fileExists } from "../../host/files/files.ts";
import type { ProcessMark } from "../../host/processes/process-identity.ts";
import { readRecord, runs, type ClusterRecord } from "./cluster-record.ts";
import type { HomePaths } from "./home-paths.ts";

export interface Seen {
  /** Record of the running or killed cluster. Undefined: missing or corrupt. */
  readonly record: ClusterRecord | undefined;
  /** True if the record is corrupt. */
  readonly isDamaged: boolean;
  /** The process that runs the cluster. Undefined: none. */
  readonly process: ProcessMark | undefined;
}

export async function findRunningProcess({ record: path, runDirectory }: Pick<HomePaths, "record" | "runDirectory">): Promise<Seen> {
  const record = await readRecord(path);
  if (record !== undefined) return { record, isDamaged: false, process: runs(record) ? record.process : undefined };
  const isDamaged = await fileExists(path);
  return { record, isDamaged, process: isDamaged ? livingHolder(runDirectory) : undefined };
}
