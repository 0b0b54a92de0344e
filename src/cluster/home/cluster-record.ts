/**
 * What runs in a home, for everybody who asks from outside (`k8ts status`, `down`, `logs`, a second `up`): one small file, replaced whole,
 * removed at a clean stop. What a killed process left is told apart by the process's start time. It names things and holds no secret.
 */
import { readFile } from "node:fs/promises";
import { removeFile } from "../../host/files/files.ts";
import { writePrivateText } from "../../host/files/private-files.ts";
import { isAlive, type ProcessMark } from "../../host/processes/process-identity.ts";

export interface ClusterRecord {
  readonly name: string;
  readonly state: "starting" | "running" | "stopping";
  /** Who runs it: number and start time of the process. */
  readonly process: ProcessMark;
  /** Of k8ts. */
  readonly version: string;
  /** Of the API, such as v1.36.0. */
  readonly kubernetesVersion: string;
  /** Whether everything is in one process. */
  readonly mode: "one process" | "one process per component";
  readonly isDetached: boolean;
  /** When it was started, RFC 3339. */
  readonly since: string;
  readonly logFile: string;
  readonly runtimeDirectory: string;
  /** What comes with the start is absent until it has come. */
  readonly server?: string;
  readonly context?: string;
  /** Where the context was put; absent if it was not. */
  readonly kubeconfig?: string;
  /** The home's own, of the administrator. */
  readonly adminKubeconfig?: string;
  readonly node?: RecordedNode;
  readonly parts?: readonly RecordedPart[];
}

/** The node that this machine is to the cluster. */
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
  /** Of one that has a process of its own; absent also while that is waited for to be started again. */
  readonly process?: ProcessMark;
}

export async function writeRecord(path: string, record: ClusterRecord): Promise<void> {
  await writePrivateText(path, `${JSON.stringify(record, undefined, 2)}\n`);
}

export async function removeRecord(path: string): Promise<void> {
  await removeFile(path);
}

/** Undefined if there is none, or none that can be understood: then who holds the home tells whether it runs (find-running-process.ts). */
export async function readRecord(path: string): Promise<ClusterRecord | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    return isRecord(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Whether its process lives. */
export function runs(record: ClusterRecord): boolean {
  return isAlive(record.process);
}

function isRecord(value: unknown): value is ClusterRecord {
  if (typeof value !== "object" || value === null) return false;
  const { name, process, logFile } = value as Partial<ClusterRecord>;
  const hasProcess = typeof process === "object" && Number.isInteger(process.pid) && process.pid > 0 && typeof process.started === "string";
  return typeof name === "string" && typeof logFile === "string" && hasProcess;
}
