/** What `k8ts node list` and `k8ts image load` know of the nodes of a cluster on this machine, from its files. */
import { readWhole } from "../../host/files/files.ts";
import { findRunningProcess } from "../home/find-running-process.ts";
import { homePaths } from "../home/home-paths.ts";
import { readRecord } from "../home/cluster-record.ts";
import type { ClusterHome } from "../home/cluster-home.ts";
import { kernelOwner } from "../machine/container-paths.ts";
import { nodeHome, readObservedNode, readWantedNodes, segmentFile } from "./node-files.ts";
import { nodeAddress, nodeNamespace } from "./segment.ts";

export interface ListedNode {
  readonly name: string;
  /** "stopped": the cluster is not running. */
  readonly state: string;
  readonly address: string;
  readonly namespace: string;
  /** Such as unix:///run/containerd/containerd.sock. Absent: its container runtime is not running. */
  readonly runtimeEndpoint?: string;
}

export async function listedNodes(home: ClusterHome): Promise<readonly ListedNode[]> {
  const isRunning = (await findRunningProcess(home)).process !== undefined;
  const cidr = await readWhole(segmentFile(home)).then(
    (bytes) => new TextDecoder().decode(bytes).trim(),
    () => undefined,
  );
  const wanted = await readWantedNodes(home);
  return Promise.all(
    wanted.map(async ({ name, index, generation }) => {
      const observed = await readObservedNode(home, name);
      const record = isRunning ? await readRecord(homePaths(nodeHome(home, name)).record) : undefined;
      const runtimeEndpoint = record?.node?.runtimeEndpoint;
      return {
        name,
        state: !isRunning ? "stopped" : observed?.generation === generation ? observed.state : "changing",
        address: cidr === undefined ? "" : nodeAddress({ cidr }, index),
        namespace: nodeNamespace(kernelOwner(home), index),
        ...(runtimeEndpoint === undefined ? {} : { runtimeEndpoint }),
      };
    }),
  );
}
