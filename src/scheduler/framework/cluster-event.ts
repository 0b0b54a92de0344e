/**
 * Cluster events that may change a scheduling result. A rejected Pod waits until one of the rejecting plugins considers an event relevant.
 * Types only.
 */
import type { Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod } from "../../api/generated/core/v1.ts";
import type { DeviceClass, ResourceClaim, ResourceSlice } from "../../api/generated/resource.k8s.io/v1.ts";
import type { CSIDriver, CSINode, CSIStorageCapacity, StorageClass, VolumeAttachment } from "../../api/generated/storage.k8s.io/v1.ts";

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
  | "images"
  | "declared-features";

/**
 * What changed in a Pod. "scaled-down": it requests less than before. "ungated": its last scheduling gate was removed. "claim-names": a
 * ResourceClaim was created for it.
 */
export type PodChange = "added" | "deleted" | "labels" | "scaled-down" | "tolerations" | "ungated" | "claim-names" | "other";

/** Other kinds whose changes are events. */
export interface ObjectKinds {
  readonly PersistentVolumeClaim: PersistentVolumeClaim;
  readonly PersistentVolume: PersistentVolume;
  readonly StorageClass: StorageClass;
  readonly CSINode: CSINode;
  readonly CSIDriver: CSIDriver;
  readonly CSIStorageCapacity: CSIStorageCapacity;
  readonly VolumeAttachment: VolumeAttachment;
  readonly ResourceClaim: ResourceClaim;
  readonly DeviceClass: DeviceClass;
  readonly ResourceSlice: ResourceSlice;
}

export type ObjectKind = keyof ObjectKinds;

export type ObjectChange = "added" | "updated" | "deleted";

/** A change of an object of one of these kinds; `previous` if it was updated. */
export type ObjectEvent<Kind extends ObjectKind = ObjectKind> = {
  readonly [K in Kind]: {
    readonly of: "object";
    readonly kind: K;
    readonly change: ObjectChange;
    readonly object: ObjectKinds[K];
    readonly previous?: ObjectKinds[K];
  };
}[Kind];

export type ClusterEvent =
  | { readonly of: "node"; readonly changes: ReadonlySet<NodeChange>; readonly node: Node; readonly previous?: Node }
  /** A Pod that is on a node (or was, when it is deleted). */
  | { readonly of: "assigned-pod"; readonly changes: ReadonlySet<PodChange>; readonly pod: Pod; readonly previous?: Pod }
  /** The waiting Pod itself; delivered only for this Pod. */
  | { readonly of: "waiting-pod"; readonly changes: ReadonlySet<PodChange>; readonly pod: Pod; readonly previous?: Pod }
  /** "added", or its labels changed. */
  | { readonly of: "namespace"; readonly namespace: Namespace; readonly previous?: Namespace }
  | ObjectEvent;

/** When a plugin's rejection should be reconsidered. */
export type RetryRule =
  | RetryRuleOf<"node", NodeChange>
  | RetryRuleOf<"assigned-pod", PodChange>
  | RetryRuleOf<"waiting-pod", PodChange>
  | { readonly of: "namespace"; isWorthIt?(pod: Pod, event: Extract<ClusterEvent, { readonly of: "namespace" }>): boolean }
  | ObjectRetryRule;

/** For changes of an object of one kind. */
export type ObjectRetryRule<Kind extends ObjectKind = ObjectKind> = {
  readonly [K in Kind]: {
    readonly of: "object";
    readonly kind: K;
    readonly changes: readonly ObjectChange[];
    isWorthIt?(pod: Pod, event: ObjectEvent<K>): boolean;
  };
}[Kind];

export interface RetryRuleOf<Of extends "node" | "assigned-pod" | "waiting-pod", Change> {
  readonly of: Of;
  readonly changes: readonly Change[];
  /** Queueing hint: whether this event may help this Pod. Absent: every such event may. Must not throw; called often. */
  isWorthIt?(pod: Pod, event: Extract<ClusterEvent, { readonly of: Of }>): boolean;
}
