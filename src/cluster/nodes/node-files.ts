/**
 * Files of the further nodes of a cluster on this machine, below `nodes` in its home. Each has a directory with what is wanted of it, which
 * `k8ts node` writes, what the running cluster made of that, and the home of the node itself. Commands and cluster meet only in these files:
 * a command takes effect even if the cluster is restarted meanwhile. Names of files beside the nodes' directories are not those of nodes.
 */
import { readdir } from "node:fs/promises";
import { fileExists, joinPath, makePrivateDirectory, readWhole } from "../../host/files/files.ts";
import { writePrivateText } from "../../host/files/private-files.ts";
import { removeTree } from "../../host/files/shared-directory.ts";
import type { Clock } from "../../base/clock.ts";
import type { ClusterHome } from "../home/cluster-home.ts";
import { lockWithRetry } from "../home/lock-with-retry.ts";
import { NODE_NAME_LENGTH_MAX } from "../up-flags.ts";

export const NODE_STATES = ["running", "disconnected", "paused", "killed", "removed"] as const;

/**
 * "disconnected": its link is down, processes and Pods continue. "paused": its kubelet and network components are stopped (SIGSTOP), Pods
 * continue. "killed": all its processes and Pods were killed, as after a power failure.
 */
export type NodeState = (typeof NODE_STATES)[number];

export interface WantedNode {
  readonly name: string;
  /** 2, 3, …: last byte of its address, and part of the names of its link and namespace. */
  readonly index: number;
  readonly wanted: NodeState;
  /** Counts changes of what is wanted. */
  readonly generation: number;
}

export interface ObservedNode {
  /** That of the wanted node which this is about. */
  readonly generation: number;
  readonly state: NodeState | "failed";
  /** Why it failed. */
  readonly error?: string;
}

type Place = Pick<ClusterHome, "nodesDirectory">;

/** The node's own home, as `k8ts join --data-dir` has it. */
export function nodeHome(home: Place, name: string): string {
  return joinPath(home.nodesDirectory, name, "home");
}

/** Of the bootstrap token with which it joins. */
export function nodeTokenFile(home: Place, name: string): string {
  return joinPath(home.nodesDirectory, name, "token");
}

/** Of the range of the segment (segment.ts). */
export function segmentFile({ nodesDirectory }: Place): string {
  return joinPath(nodesDirectory, ".segment");
}

/** A holder reads and writes small files; it may be suspended. */
const LOCKED_WITHIN_MS = 60_000;

/** Runs what reads the wanted nodes and changes them: two commands at once must not choose the same index. */
export async function whileLocked<T>(home: Place, clock: Clock, work: () => Promise<T>): Promise<T> {
  const directory = joinPath(home.nodesDirectory, ".lock");
  await makePrivateDirectory(directory);
  const attempt = await lockWithRetry(directory, { withinMs: LOCKED_WITHIN_MS, clock });
  if ("heldBy" in attempt)
    throw new Error(`Cannot change the nodes of the cluster: ${attempt.heldBy} has been changing them for a minute; end it or try again`);
  try {
    return await work();
  } finally {
    await attempt.lock.release();
  }
}

/** "vm-2" of ("vm", 2); a long name is shortened. */
export function numberedName(nodeName: string, index: number): string {
  const suffix = `-${index}`;
  return `${nodeName.slice(0, NODE_NAME_LENGTH_MAX - suffix.length).replace(/[-.]+$/, "")}${suffix}`;
}

/** Sorted by index. Directories without a readable file are skipped. */
export async function readWantedNodes(home: Place): Promise<readonly WantedNode[]> {
  const names: readonly string[] = await readdir(home.nodesDirectory).catch(() => []);
  const found = await Promise.all(names.map((name) => readJson(joinPath(home.nodesDirectory, name, WANTED_FILE))));
  return found.filter(isWanted).toSorted((a, b) => a.index - b.index);
}

export async function writeWantedNode(home: Place, node: WantedNode): Promise<void> {
  await makePrivateDirectory(joinPath(home.nodesDirectory, node.name));
  await writePrivateText(joinPath(home.nodesDirectory, node.name, WANTED_FILE), `${JSON.stringify(node, undefined, 2)}\n`);
  // The running cluster watches the directory, not each node's.
  await writePrivateText(joinPath(home.nodesDirectory, CHANGED_FILE), `${node.name} ${node.generation}\n`);
}

/** Undefined: never observed, or removed. */
export async function readObservedNode(home: Place, name: string): Promise<ObservedNode | undefined> {
  const value = await readJson(joinPath(home.nodesDirectory, name, OBSERVED_FILE));
  return isObserved(value) ? value : undefined;
}

export async function writeObservedNode(home: Place, name: string, observed: ObservedNode): Promise<void> {
  await writePrivateText(joinPath(home.nodesDirectory, name, OBSERVED_FILE), `${JSON.stringify(observed, undefined, 2)}\n`);
}

/** What a change of a node is doing, for the command that waits for it. */
export interface NodeProgress {
  readonly generation: number;
  /** The last line of its output. */
  readonly line: string;
}

export async function readNodeProgress(home: Place, name: string): Promise<NodeProgress | undefined> {
  const value = await readJson(joinPath(home.nodesDirectory, name, PROGRESS_FILE));
  return isObserved(value) && "line" in value && typeof value.line === "string"
    ? { generation: value.generation, line: value.line }
    : undefined;
}

export async function writeNodeProgress(home: Place, name: string, progress: NodeProgress): Promise<void> {
  await writePrivateText(joinPath(home.nodesDirectory, name, PROGRESS_FILE), `${JSON.stringify(progress)}\n`);
}

/** Of a node of which nothing is left on the machine. */
export async function removeNodeFiles(home: Place, name: string): Promise<void> {
  await removeTree(joinPath(home.nodesDirectory, name));
}

/** True if the cluster has further nodes, or has had some whose segment may be left. */
export async function hasNodes(home: Place): Promise<boolean> {
  return (await fileExists(segmentFile(home))) || (await readWantedNodes(home)).length > 0;
}

/** The lowest indexes that no node has. */
export function freeIndexes(nodes: readonly Pick<WantedNode, "index">[], count: number): readonly number[] {
  const used = new Set(nodes.map(({ index }) => index));
  const free: number[] = [];
  for (let index = FIRST_INDEX; free.length < count && index <= INDEX_MAX; index++) if (!used.has(index)) free.push(index);
  return free;
}

/** 1 is this machine. */
export const FIRST_INDEX = 2;
/** Addresses of the segment, a /24, without network, gateway and broadcast. */
export const INDEX_MAX = 254;

const WANTED_FILE = "node.json";
const OBSERVED_FILE = "status.json";
const PROGRESS_FILE = "progress.json";
const CHANGED_FILE = ".changed";

async function readJson(path: string): Promise<unknown> {
  const bytes = await readWhole(path).catch(() => undefined);
  if (bytes === undefined) return undefined;
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

function isWanted(value: unknown): value is WantedNode {
  if (typeof value !== "object" || value === null) return false;
  const { name, index, wanted, generation } = value as Partial<WantedNode>;
  return (
    typeof name === "string" && Number.isInteger(index) && Number.isInteger(generation) && NODE_STATES.some((state) => state === wanted)
  );
}

function isObserved(value: unknown): value is ObservedNode {
  return typeof value === "object" && value !== null && Number.isInteger((value as Partial<ObservedNode>).generation);
}
