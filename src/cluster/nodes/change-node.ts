/**
 * `k8ts node`: changes what is wanted of the nodes of a running cluster on this machine, and waits until the cluster has done it. Not here:
 * how it is done (node-fleet.ts).
 */
import { fileExists } from "../../host/files/files.ts";
import type { Io } from "../../cli/framework/command.ts";
import { findHome, namesOf, type ClusterHome } from "../home/cluster-home.ts";
import { findRunningProcess } from "../home/find-running-process.ts";
import type { HomeChoice } from "../home/home-flags.ts";
import type { ClusterRecord } from "../home/cluster-record.ts";
import {
  freeIndexes,
  INDEX_MAX,
  numberedName,
  readNodeProgress,
  readObservedNode,
  readWantedNodes,
  whileLocked,
  writeWantedNode,
  type NodeState,
  type WantedNode,
} from "./node-files.ts";

const LOOK_EVERY_MS = 100;
/** Longer than the cluster's own timeouts of a join and of a graceful stop (node-fleet.ts), whose errors have the reason. */
const CHANGED_WITHIN_MS = 10 * 60_000;

export interface RunningCluster {
  readonly home: ClusterHome;
  readonly record: ClusterRecord;
}

/** Rejects, with the remedy, if it is not running. `action`: "add a node". */
export async function runningCluster(
  choice: HomeChoice,
  action: string,
  { environment }: Pick<Io, "environment">,
): Promise<RunningCluster> {
  const home = await findHome(choice, environment);
  const seen = home === undefined ? undefined : await findRunningProcess(home);
  if (home === undefined || seen?.process === undefined || seen.record === undefined) {
    const { name, commandArguments } = home ?? namesOf(choice, environment);
    throw new Error(`Cannot ${action}: cluster "${name}" is not running; start it with "k8ts up${commandArguments}"`);
  }
  if (seen.record.node?.runtimeEndpoint === undefined)
    throw new Error(`Cannot ${action}: cluster "${home.name}" runs no containers, its nodes are simulated`);
  if (!(await fileExists(home.nodesDirectory)))
    throw new Error(
      `Cannot ${action}: cluster "${home.name}" has one node on this machine only, since k8ts does not manage its Pod network or its API ` +
        "server has no address that other nodes reach; start it with k8ts up --nodes 2 to see the reason",
    );
  return { home, record: seen.record };
}

/** `name` absent: the next of the first node's name. Resolves with the name. */
export async function addNode({ home, record }: RunningCluster, name: string | undefined, io: Io): Promise<string> {
  const add = async (): Promise<WantedNode> => {
    const node = nodeToAdd(await readWantedNodes(home), name, record.node?.name ?? "node");
    await writeWantedNode(home, node);
    return node;
  };
  const node = await io.clock.external(whileLocked(home, io.clock, add));
  await waitForChange(home, node, io);
  return node.name;
}

/** Pure. Throws if there is no address left, or the name is in use. */
export function nodeToAdd(present: readonly WantedNode[], name: string | undefined, machineName: string): WantedNode {
  const isUsed = (chosen: string): boolean => chosen === machineName || present.some((node) => node.name === chosen);
  const free = freeIndexes(present, INDEX_MAX);
  // A user may have given another node the name of this number.
  const index = name === undefined ? free.find((one) => !isUsed(numberedName(machineName, one))) : free[0];
  if (index === undefined) throw new Error(`Cannot add a node: the cluster has ${INDEX_MAX - 1} nodes on this machine, the maximum`);
  const chosen = name ?? numberedName(machineName, index);
  if (isUsed(chosen)) throw new Error(`Cannot add node ${chosen}: the cluster has a node of this name; choose another one`);
  return { name: chosen, index, wanted: "running", generation: 0 };
}

export async function changeNode({ home, record }: RunningCluster, name: string, wanted: NodeState, io: Io): Promise<void> {
  const change = async (): Promise<WantedNode> => {
    const present = await readWantedNodes(home);
    const node = present.find((one) => one.name === name);
    if (node === undefined) {
      const names = present.map((one) => one.name).join(", ");
      const why = name === record.node?.name ? "it is this machine itself; k8ts down stops it" : `it is not one of ${names || "none"}`;
      throw new Error(`Cannot change node ${name}: ${why}`);
    }
    const changed = { ...node, wanted, generation: node.generation + 1 };
    await writeWantedNode(home, changed);
    return changed;
  };
  await waitForChange(home, await io.clock.external(whileLocked(home, io.clock, change)), io);
}

/** Resolves when the cluster has done it. Rejects with the reason if it could not, or stops meanwhile. */
async function waitForChange(home: ClusterHome, node: WantedNode, { note, clock, signal }: Io): Promise<void> {
  const giveUpAtMs = clock.monotonic() + CHANGED_WITHIN_MS;
  for (let said = ""; ;) {
    const observed = await clock.external(readObservedNode(home, node.name));
    if (observed !== undefined && observed.generation >= node.generation) {
      if (observed.state !== "failed") return;
      throw new Error(`Node ${node.name} is not ${node.wanted}: ${observed.error ?? "unknown reason"}`);
    }
    const progress = await clock.external(readNodeProgress(home, node.name));
    if (progress?.generation === node.generation && progress.line !== said) note((said = progress.line));
    const wanted = (await clock.external(readWantedNodes(home))).find(({ name }) => name === node.name);
    if (wanted === undefined && node.wanted === "removed") return;
    if (wanted === undefined || wanted.generation > node.generation)
      throw new Error(`Node ${node.name} is not ${node.wanted}: another command changed it meanwhile (${wanted?.wanted ?? "removed"})`);
    if ((await clock.external(findRunningProcess(home))).process === undefined)
      throw new Error(`Node ${node.name} is not ${node.wanted} yet: the cluster stopped; the next k8ts up completes it`);
    if (clock.monotonic() >= giveUpAtMs)
      throw new Error(
        `Node ${node.name} is not ${node.wanted} yet after ${CHANGED_WITHIN_MS / 60_000} minutes; see the log of the cluster (k8ts logs)`,
      );
    await clock.sleep(LOOK_EVERY_MS, signal);
  }
}
