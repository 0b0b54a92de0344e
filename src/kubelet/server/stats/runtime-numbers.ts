/** Collects the resource usage of a node and its Pods from its runtime, and of the machine if there is one. */
import type { ServedKubelet } from "../call.ts";
import { liveStats } from "./live-statistics.ts";
import type { NodeNumbersSource } from "./node-statistics.ts";
import type { ResourceNumbers } from "./resource-metrics.ts";

export async function runtimeNumbers(
  { runtime }: Pick<ServedKubelet, "runtime">,
  nodeNumbers?: NodeNumbersSource,
): Promise<ResourceNumbers> {
  const [node = {}, pods = [], sandboxes] = await Promise.all([
    nodeNumbers?.() ?? runtime.nodeStats?.(),
    runtime.stats?.(),
    runtime.list(),
  ]);
  return { node, pods: liveStats(pods, sandboxes), sandboxes };
}
