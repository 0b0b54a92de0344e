/** Removes what the further nodes of a cluster have on this machine, after any end of it: processes, containers, mounts, the segment. */
import type { Clock } from "../../base/clock.ts";
import type { Environment } from "../../cli/framework/command.ts";
import { findHome, type ClusterHome } from "../home/cluster-home.ts";
import { readRecord } from "../home/cluster-record.ts";
import { cleanUpMachine, countedByKind } from "../machine/clean-up-machine.ts";
import { kernelOwner } from "../machine/container-paths.ts";
import { terminateProcess } from "../../host/processes/detached-program.ts";
import { hasNodes, nodeHome, readWantedNodes } from "./node-files.ts";
import { removeSegment } from "./segment.ts";

interface NodePlace {
  /** The node's home. */
  readonly directory: string;
  readonly environment: Environment;
  readonly clock: Clock;
}

/** Kills everything of a node. Its files are kept. */
export async function killNode({ directory, environment, clock }: NodePlace): Promise<readonly string[]> {
  const home = await findHome({ directory }, environment);
  if (home === undefined) return [];
  const record = await readRecord(home.record);
  if (record !== undefined) await terminateProcess(record.process, { graceMs: 0, clock });
  return cleanUpMachine(home, clock);
}

/** Of a cluster that is not running. Resolves with counts for output: "3 processes". */
export async function cleanUpNodes(home: ClusterHome, { environment, clock }: Omit<NodePlace, "directory">): Promise<readonly string[]> {
  if (!(await hasNodes(home))) return [];
  const removed: string[] = [];
  for (const { name } of await readWantedNodes(home))
    removed.push(
      ...(await killNode({ directory: nodeHome(home, name), environment, clock })).map((counted) => `${counted} of node ${name}`),
    );
  return [...removed, ...countedByKind(await removeSegment(kernelOwner(home)))];
}
