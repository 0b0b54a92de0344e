/**
 * Describes the running cluster of a home for other processes (`k8ts status`, `down`, `logs`, a second `up`): one small file, replaced
 * atomically, removed at a graceful stop. The record of a killed process is detected by the process's start time. Contains no secrets.
 */
import { readFile } from "node:fs/promises";
import { removeFile } from "../../host/files/files.ts";
import { writePrivateText } from "../../host/files/private-files.ts";
import { isAlive, type ProcessMark } from "../../host/processes/process-identity.ts";

export interface ClusterRecord {
  readonly name: string;
  readonly state: "starting" | "running" | "stopping";
  /** PID and start time of the process that runs the cluster. */
  readonly process: ProcessMark;
  /** Version of k8ts. */
  readonly version: string;
  /** Kubernetes version, such as v1.36.0. */
  readonly kubernetesVersion: string;
  /** Process model. */
  readonly mode: "one process" | "one process per component";
  readonly isDetached: boolean;
  /** "node": this machine is a node of a cluster that runs elsewhere. Absent: the cluster itself. */
  readonly role?: "node";
  /** Start time, RFC 3339. */
  readonly since: string;
  readonly logFile: string;
  readonly runtimeDirectory: string;
  /** Fields below are absent until the start has got that far. */
  readonly server?: string;
  readonly context?: string;
  /** kubeconfig that has the context; absent if none was written. */
  readonly kubeconfig?: string;
  /** The administrator's kubeconfig in the home. */
  readonly adminKubeconfig?: string;
  readonly node?: RecordedNode;
  readonly parts?: readonly RecordedPart[];
}

/** The node of this machine. */
export interface RecordedNode {
  readonly name: string;
  /** Such as unix:///run/containerd/containerd.sock. Absent: Pods are simulated. */
  readonly runtimeEndpoint?: string;
  /** Such as "containerd 1.6.20". */
  readonly runtime?: string;
}

export interface RecordedPart {
  readonly name: string;
  readonly description: string;
  /** Process of a component with --processes; absent while it waits to be restarted. */
  readonly process?: ProcessMark;
}

export async function writeRecord(path: string, record: ClusterRecord): Promise<void> {
  await writePrivateText(path, `${JSON.stringify(record, undefined, 2)}\n`);
}

export async function removeRecord(path: string): Promise<void> {
  await removeFile(path);
}

/** Undefined if it is missing or corrupt: then the holder of the lock shows whether the cluster runs (find-running-process.ts). */
export async function readRecord(path: string): Promise<ClusterRecord | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    return isRecord(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** True if its process is alive. */
export function runs(record: ClusterRecord): boolean {
  return isAlive(record.process);
}

function isRecord(value: unknown): value is ClusterRecord {
  if (typeof value !== "object" || value === null) return false;
  const { name, process, logFile } = value as Partial<ClusterRecord>;
  const hasProcess = typeof process === "object" && Number.isInteger(process.pid) && process.pid > 0 && typeof process.started === "string";
  return typeof name === "string" && typeof logFile === "string" && hasProcess;
}
