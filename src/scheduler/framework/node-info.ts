/**
 * A node with the Pods on it (those that run and those that were just decided), summed up. It is never changed: when something changes the
 * cache puts another in its place, so that whoever holds one holds a moment. Only types are here; scheduler/cache makes them.
 */
import type { HostPort } from "../../api/core/v1/pod/host-ports.ts";
import type { Node, Taint } from "../../api/generated/core/v1.ts";
import type { PodInfo } from "./pod-info.ts";
import type { Resources } from "./resources.ts";

export interface NodeInfo {
  readonly name: string;
  readonly node: Node;
  readonly labels: Readonly<Record<string, string>>;
  /** Of the node's spec, at hand since every Pod asks every node: whether it is cordoned, and its taints. */
  readonly isCordoned: boolean;
  readonly taints: readonly Taint[];
  /** In the order in which they came. */
  readonly pods: readonly PodInfo[];
  /** Those of `pods` that have any pod affinity or anti-affinity. */
  readonly podsWithAffinity: readonly PodInfo[];
  readonly podsWithRequiredAntiAffinity: readonly PodInfo[];
  /** The sum of what its Pods request. */
  readonly requested: Resources;
  readonly nonZeroRequestedMilliCpu: number;
  readonly nonZeroRequestedMemoryBytes: number;
  readonly allocatable: Resources;
  /** How many Pods it takes. */
  readonly allowedPods: number;
  /** One entry per port that a Pod holds. */
  readonly usedPorts: readonly HostPort[];
  /** Images that are there, by every name they have. */
  readonly images: ReadonlyMap<string, ImageState>;
  /** Grows with every change of any node, and is unlike that of every other state: what was computed for one can be kept for it. */
  readonly generation: number;

  /** Another one, as if the Pod were there too; for asking "what if". Has a generation of its own. */
  withPod(pod: PodInfo): NodeInfo;
  /** Another one without the Pod of this uid; itself if it is not there. */
  withoutPod(uid: string): NodeInfo;
  /** The same without all of these, which are among `pods`: quicker than one after the other. */
  withoutPods(pods: readonly PodInfo[]): NodeInfo;
}

export interface ImageState {
  readonly sizeBytes: number;
  /** Nodes of the cluster that have it. */
  readonly nodes: number;
}
