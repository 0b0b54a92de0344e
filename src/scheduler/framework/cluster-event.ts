/**
 * What happens in a cluster, as far as it may change a scheduler's answer. A Pod that was refused waits until one of the plugins that
 * refused it says that something happened which may have changed its mind. Only types are here.
 */
import type { Namespace, Node, Pod } from "../../api/generated/core/v1.ts";

/** What of a node changed. */
export type NodeChange =
  | "added"
  | "deleted"
  | "allocatable"
  | "labels"
  | "taints"
  | "conditions"
  | "annotations"
  | "unschedulable"
  | "images";

/** What of a Pod changed. "scaled-down": it requests less than before. "ungated": its last scheduling gate is gone. */
export type PodChange = "added" | "deleted" | "labels" | "scaled-down" | "tolerations" | "ungated" | "other";

export type ClusterEvent =
  | { readonly of: "node"; readonly changes: ReadonlySet<NodeChange>; readonly node: Node; readonly previous?: Node }
  /** A Pod that is on a node (or was, when it is deleted). */
  | { readonly of: "assigned-pod"; readonly changes: ReadonlySet<PodChange>; readonly pod: Pod; readonly previous?: Pod }
  /** The waiting Pod itself; told only for this Pod. */
  | { readonly of: "waiting-pod"; readonly changes: ReadonlySet<PodChange>; readonly pod: Pod; readonly previous?: Pod }
  /** "added", or its labels changed. */
  | { readonly of: "namespace"; readonly namespace: Namespace; readonly previous?: Namespace };

/** When a plugin's "no" is worth asking again. */
export type RetryRule =
  | RetryRuleOf<"node", NodeChange>
  | RetryRuleOf<"assigned-pod", PodChange>
  | RetryRuleOf<"waiting-pod", PodChange>
  | { readonly of: "namespace"; isWorthIt?(pod: Pod, event: Extract<ClusterEvent, { readonly of: "namespace" }>): boolean };

export interface RetryRuleOf<Of extends "node" | "assigned-pod" | "waiting-pod", Change> {
  readonly of: Of;
  readonly changes: readonly Change[];
  /** The queueing hint: whether this very event may help this very Pod. Absent: every such event may. Must not throw; it is called often. */
  isWorthIt?(pod: Pod, event: Extract<ClusterEvent, { readonly of: Of }>): boolean;
}
