/** All nodes at the instant of a cycle. Types only; scheduler/cache creates them. */
import type { NodeInfo } from "./node-info.ts";

export interface Snapshot {
  /** Nodes of different zones alternate, so that examining a part covers all zones. The order is stable between changes. */
  readonly nodes: readonly NodeInfo[];
  get(name: string): NodeInfo | undefined;
  readonly nodesWithAffinityPods: readonly NodeInfo[];
  readonly nodesWithRequiredAntiAffinityPods: readonly NodeInfo[];
  /** Number of Pods on nodes, including assumed ones, that use this PersistentVolumeClaim ("namespace/name"). */
  claimUses(claimKey: string): number;
  /** The newest generation among its nodes. Unique to this state of all nodes. */
  readonly generation: number;
  /**
   * Slots in `nodes` that may have changed since this snapshot had that generation, each at least once; no node was added, removed or moved
   * since. Undefined: unknown, so that all have to be examined.
   */
  changedSince?(generation: number): readonly number[] | undefined;
}
