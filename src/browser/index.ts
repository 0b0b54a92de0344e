/**
 * `k8ts/browser`: a cluster with simulated nodes inside of a page, for sites that want one of their own. The folder of this module also has
 * a complete page (index.html) that can be hosted as it is.
 */
import { seededRandom } from "../base/random.ts";
import { VirtualClock } from "../base/virtual-clock.ts";
import { startTabCluster as startOn, type TabCluster } from "./cluster/tab-cluster.ts";
import { eventLoopMacrotask } from "./host/event-loop.ts";
import type { NodesOptions } from "../components/simulated-nodes/simulated-nodes.ts";

export type { TabCluster } from "./cluster/tab-cluster.ts";
export type { Components, ComponentKind, ComponentState } from "./cluster/components.ts";
export type { ClusterConnection, ConnectionRequest, ConnectionResponse } from "../dashboard/data/connection.ts";

export interface BrowserClusterOptions {
  /** Default: three nodes. */
  readonly nodes?: NodesOptions & { readonly count: number };
  /** The same seed and the same requests give the same history. Default: 1. */
  readonly seed?: number;
  /** Virtual time at the start, in milliseconds since the epoch. Default: the start of 2026. */
  readonly startMs?: number;
}

/**
 * Starts it; virtual time stands still until `cluster.driver.advance(milliseconds)`. Requests need no time: `cluster.client`, and
 * `cluster.connection` for HTTP requests as values.
 */
export function startCluster({ nodes, seed = 1, startMs }: BrowserClusterOptions = {}): Promise<TabCluster> {
  const clock = new VirtualClock({ macrotask: eventLoopMacrotask, ...(startMs === undefined ? {} : { startMs }) });
  return startOn({ clock, random: seededRandom(seed), ...(nodes === undefined ? {} : { nodes }) });
}
