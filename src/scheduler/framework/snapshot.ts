/** All nodes at one moment: that of the cycle that asks. Only types are here; scheduler/cache makes them. */
import type { NodeInfo } from "./node-info.ts";

export interface Snapshot {
  /** Nodes of different zones take turns, so that looking at a part of them looks at all zones. The order is stable between changes. */
  readonly nodes: readonly NodeInfo[];
  get(name: string): NodeInfo | undefined;
  readonly nodesWithAffinityPods: readonly NodeInfo[];
  readonly nodesWithRequiredAntiAffinityPods: readonly NodeInfo[];
  /** The newest generation among its nodes. Unequal to that of every snapshot in which anything of any node was different. */
  readonly generation: number;
  /**
   * Places in `nodes` that may hold another state than when this snapshot had that generation, each at least once; no node came, went or moved
   * since. Undefined: nobody knows any more, so all have to be looked at.
   */
  changedSince?(generation: number): readonly number[] | undefined;
}
