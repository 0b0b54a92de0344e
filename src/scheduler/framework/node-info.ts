/**
 * A node with its Pods (running and assumed), aggregated. Immutable: on a change the cache replaces it, so that a reference is a consistent
 * state. Types only; scheduler/cache creates them.
 */
import type { HostPort } from "../../api/core/v1/pod/host-ports.ts";
import type { Node, Taint } from "../../api/generated/core/v1.ts";
import type { PodInfo } from "./pod-info.ts";
import type { Resources } from "./resources.ts";

export interface NodeInfo {
  readonly name: string;
  readonly node: Node;
  readonly labels: Readonly<Record<string, string>>;
  /** From the node's spec, since every Pod checks every node: whether it is cordoned, and its taints. */
  readonly isCordoned: boolean;
  readonly taints: readonly Taint[];
  /** Number of `pods`, which does not need the list of a node with thousands. */
  readonly podCount: number;
  /** In order of arrival. */
  readonly pods: readonly PodInfo[];
  /** Those of `pods` with any pod affinity or anti-affinity. */
  readonly podsWithAffinity: readonly PodInfo[];
  readonly podsWithRequiredAntiAffinity: readonly PodInfo[];
  /** Sum of the Pods' requests. */
  readonly requested: Resources;
  readonly nonZeroRequestedMilliCpu: number;
  readonly nonZeroRequestedMemoryBytes: number;
  readonly allocatable: Resources;
  /** Pod capacity. */
  readonly allowedPods: number;
  /** One entry per host port in use. */
  readonly usedPorts: readonly HostPort[];
  /** Images, by every name. */
  readonly images: ReadonlyMap<string, ImageState>;
  /** Increases with every change of any node, and is unique: computed results can be cached by it. */
  readonly generation: number;

  /** A copy with the Pod, for what-if queries. Has its own generation. */
  withPod(pod: PodInfo): NodeInfo;
  /** A copy without the Pod of this uid; itself if it is missing. */
  withoutPod(uid: string): NodeInfo;
  /** The same without all of these, which are among `pods`: faster than one after the other. */
  withoutPods(pods: readonly PodInfo[]): NodeInfo;
}

export interface ImageState {
  readonly sizeBytes: number;
  /** Nodes of the cluster that have it. */
  readonly nodes: number;
}
