/**
 * Creates NodeInfos. Each is derived from another by a change, so that deciding a Pod costs one small object and one copy of a chunk of its list.
 * Sums are updated incrementally; beyond 2^53, where that would be inexact, they are recomputed. Not here: Pod assignments, and image
 * counts (scheduler/cache).
 */
import type { HostPort } from "../../api/core/v1/pod/host-ports.ts";
import type { Node, Taint } from "../../api/generated/core/v1.ts";
import { amountOf, amountsOf, resourcesOf } from "./amounts.ts";
import type { ImageState, NodeInfo } from "./node-info.ts";
import type { PodInfo } from "./pod-info.ts";
import { PodList, type PodPlace } from "./pod-list.ts";
import { NO_RESOURCES, type Resources } from "./resources.ts";

const NO_LABELS: Readonly<Record<string, string>> = Object.freeze({});
const NO_TAINTS: readonly Taint[] = Object.freeze([]);
const NO_PODS: readonly PodInfo[] = Object.freeze([]);
const NO_PORTS: readonly HostPort[] = Object.freeze([]);
const NO_IMAGES: ReadonlyMap<string, ImageState> = new Map();

let generation = 0;

/** One for all clusters of the process: two states never share one. */
export function nextGeneration(): number {
  generation += 1;
  return generation;
}

/** A node without Pods. */
export function makeNodeInfo(node: Node, images: ReadonlyMap<string, ImageState> = NO_IMAGES): NodeInfoValue {
  return new NodeInfoValue({ ...partsOfNode(node), ...WITHOUT_PODS, images });
}

/** A node known only by name, from its Pods. It has no capacity. */
export function makeUnknownNodeInfo(name: string): NodeInfoValue {
  return makeNodeInfo(unknownNode(name));
}

function unknownNode(name: string): Node {
  return { apiVersion: "v1", kind: "Node", metadata: { name } };
}

interface Parts extends Omit<NodeInfo, "pods" | "podCount" | "generation" | "withPod" | "withoutPod" | "withoutPods"> {
  readonly list: PodList;
}

const WITHOUT_PODS = {
  list: PodList.EMPTY,
  podsWithAffinity: NO_PODS,
  podsWithRequiredAntiAffinity: NO_PODS,
  requested: NO_RESOURCES,
  nonZeroRequestedMilliCpu: 0,
  nonZeroRequestedMemoryBytes: 0,
  usedPorts: NO_PORTS,
};

function partsOfNode(node: Node): Pick<Parts, "name" | "node" | "labels" | "isCordoned" | "taints" | "allocatable" | "allowedPods"> {
  const allocatable = node.status?.allocatable;
  return {
    name: node.metadata.name,
    node,
    labels: node.metadata.labels ?? NO_LABELS,
    isCordoned: node.spec?.unschedulable === true,
    taints: node.spec?.taints ?? NO_TAINTS,
    allocatable: resourcesOf(amountsOf(allocatable)),
    allowedPods: amountOf("pods", allocatable?.["pods"] ?? "0"),
  };
}

export class NodeInfoValue implements NodeInfo {
  readonly name: string;
  readonly node: Node;
  readonly labels: Readonly<Record<string, string>>;
  readonly isCordoned: boolean;
  readonly taints: readonly Taint[];
  readonly podCount: number;
  readonly list: PodList;
  readonly podsWithAffinity: readonly PodInfo[];
  readonly podsWithRequiredAntiAffinity: readonly PodInfo[];
  readonly requested: Resources;
  readonly nonZeroRequestedMilliCpu: number;
  readonly nonZeroRequestedMemoryBytes: number;
  readonly allocatable: Resources;
  readonly allowedPods: number;
  readonly usedPorts: readonly HostPort[];
  readonly images: ReadonlyMap<string, ImageState>;
  readonly generation = nextGeneration();

  constructor(parts: Parts) {
    this.name = parts.name;
    this.node = parts.node;
    this.labels = parts.labels;
    this.isCordoned = parts.isCordoned;
    this.taints = parts.taints;
    this.podCount = parts.list.length;
    this.list = parts.list;
    this.podsWithAffinity = parts.podsWithAffinity;
    this.podsWithRequiredAntiAffinity = parts.podsWithRequiredAntiAffinity;
    this.requested = parts.requested;
    this.nonZeroRequestedMilliCpu = parts.nonZeroRequestedMilliCpu;
    this.nonZeroRequestedMemoryBytes = parts.nonZeroRequestedMemoryBytes;
    this.allocatable = parts.allocatable;
    this.allowedPods = parts.allowedPods;
    this.usedPorts = parts.usedPorts;
    this.images = parts.images;
  }

  get pods(): readonly PodInfo[] {
    return this.list.all;
  }

  withPod(pod: PodInfo): NodeInfoValue {
    return this.#changed(this.list.with(pod), undefined, pod);
  }

  withoutPod(uid: string): NodeInfoValue {
    return this.#without(this.list.findUid(uid));
  }

  /** The same for one of its Pods, which is found faster. */
  withoutPodInfo(pod: PodInfo): NodeInfoValue {
    return this.#without(this.list.find(pod) ?? this.list.findUid(pod.uid));
  }

  withoutPods(removed: readonly PodInfo[]): NodeInfoValue {
    const left = this.pods.filter((pod) => !removed.includes(pod));
    if (left.length === this.podCount) return this;
    return this.#with(PodList.of(left), sumsOf(left), removed.some(hasAffinity), removed.some(hasPorts));
  }

  /** Replaces a Pod version, keeping its position; appends if there was none. `previous`: that version, if known, which is found faster. */
  withPodVersion(pod: PodInfo, previous?: PodInfo): NodeInfoValue {
    const known = previous === undefined ? undefined : this.list.find(previous);
    const place = known ?? this.list.findUid(pod.uid);
    if (place === undefined) return this.withPod(pod);
    return this.#changed(this.list.replaced(place, pod), this.list.at(place), pod);
  }

  /** The same Pods on another version of the node. */
  withNode(node: Node, images: ReadonlyMap<string, ImageState>): NodeInfoValue {
    return new NodeInfoValue({
      ...partsOfNode(node),
      images,
      list: this.list,
      podsWithAffinity: this.podsWithAffinity,
      podsWithRequiredAntiAffinity: this.podsWithRequiredAntiAffinity,
      requested: this.requested,
      nonZeroRequestedMilliCpu: this.nonZeroRequestedMilliCpu,
      nonZeroRequestedMemoryBytes: this.nonZeroRequestedMemoryBytes,
      usedPorts: this.usedPorts,
    });
  }

  /** The same Pods on a node that is no longer known. */
  withoutNode(): NodeInfoValue {
    return this.withNode(unknownNode(this.name), NO_IMAGES);
  }

  #without(place: PodPlace | undefined): NodeInfoValue {
    return place === undefined ? this : this.#changed(this.list.removed(place), this.list.at(place), undefined);
  }

  #changed(list: PodList, removed: PodInfo | undefined, added: PodInfo | undefined): NodeInfoValue {
    const sums = sumsAfter(this, removed, added) ?? sumsOf(list.all);
    return this.#with(list, sums, hasAffinity(removed) || hasAffinity(added), hasPorts(removed) || hasPorts(added));
  }

  /** Member by member: preemption creates thousands per Pod, and spreading takes longer than all the rest. */
  #with(list: PodList, sums: Sums, isAffinityChanged: boolean, arePortsChanged: boolean): NodeInfoValue {
    return new NodeInfoValue({
      name: this.name,
      node: this.node,
      labels: this.labels,
      isCordoned: this.isCordoned,
      taints: this.taints,
      list,
      podsWithAffinity: isAffinityChanged ? list.all.filter(hasAffinity) : this.podsWithAffinity,
      podsWithRequiredAntiAffinity: isAffinityChanged ? list.all.filter(hasRequiredAntiAffinity) : this.podsWithRequiredAntiAffinity,
      requested: sums.requested,
      nonZeroRequestedMilliCpu: sums.nonZeroRequestedMilliCpu,
      nonZeroRequestedMemoryBytes: sums.nonZeroRequestedMemoryBytes,
      allocatable: this.allocatable,
      allowedPods: this.allowedPods,
      usedPorts: arePortsChanged ? list.all.flatMap(({ hostPorts }) => hostPorts) : this.usedPorts,
      images: this.images,
    });
  }
}

export function hasAffinity(pod: PodInfo | undefined): boolean {
  if (pod === undefined) return false;
  return (
    pod.requiredAffinity.length > 0 ||
    pod.requiredAntiAffinity.length > 0 ||
    pod.preferredAffinity.length > 0 ||
    pod.preferredAntiAffinity.length > 0
  );
}

function hasRequiredAntiAffinity({ requiredAntiAffinity }: PodInfo): boolean {
  return requiredAntiAffinity.length > 0;
}

function hasPorts(pod: PodInfo | undefined): boolean {
  return pod !== undefined && pod.hostPorts.length > 0;
}

type Sums = Pick<NodeInfo, "requested" | "nonZeroRequestedMilliCpu" | "nonZeroRequestedMemoryBytes">;

/** Undefined: too large to be exact. */
function sumsAfter(sums: Sums, removed: PodInfo | undefined, added: PodInfo | undefined): Sums | undefined {
  const nonZeroRequestedMilliCpu = sums.nonZeroRequestedMilliCpu - (removed?.nonZeroMilliCpu ?? 0) + (added?.nonZeroMilliCpu ?? 0);
  const nonZeroRequestedMemoryBytes =
    sums.nonZeroRequestedMemoryBytes - (removed?.nonZeroMemoryBytes ?? 0) + (added?.nonZeroMemoryBytes ?? 0);
  const requested = resourcesAfter(sums.requested, removed?.requests ?? NO_RESOURCES, added?.requests ?? NO_RESOURCES);
  const isExact = isSafe(sums) && isSafe({ requested, nonZeroRequestedMilliCpu, nonZeroRequestedMemoryBytes });
  return isExact ? { requested, nonZeroRequestedMilliCpu, nonZeroRequestedMemoryBytes } : undefined;
}

function isSafe({ requested, nonZeroRequestedMilliCpu, nonZeroRequestedMemoryBytes }: Sums): boolean {
  if (nonZeroRequestedMilliCpu > Number.MAX_SAFE_INTEGER || nonZeroRequestedMemoryBytes > Number.MAX_SAFE_INTEGER) return false;
  if (requested.milliCpu > Number.MAX_SAFE_INTEGER || requested.memoryBytes > Number.MAX_SAFE_INTEGER) return false;
  if (requested.ephemeralStorageBytes > Number.MAX_SAFE_INTEGER) return false;
  for (const amount of requested.scalars.values()) if (amount > Number.MAX_SAFE_INTEGER) return false;
  return true;
}

function resourcesAfter(sum: Resources, removed: Resources, added: Resources): Resources {
  return {
    milliCpu: sum.milliCpu - removed.milliCpu + added.milliCpu,
    memoryBytes: sum.memoryBytes - removed.memoryBytes + added.memoryBytes,
    ephemeralStorageBytes: sum.ephemeralStorageBytes - removed.ephemeralStorageBytes + added.ephemeralStorageBytes,
    scalars: scalarsAfter(sum.scalars, removed.scalars, added.scalars),
  };
}

type Scalars = ReadonlyMap<string, number>;

/** A name with nothing left is removed, so that the sum does not depend on history. */
function scalarsAfter(sum: Scalars, removed: Scalars, added: Scalars): Scalars {
  if (removed.size === 0 && added.size === 0) return sum;
  const scalars = new Map(sum);
  for (const [name, amount] of removed) scalars.set(name, (scalars.get(name) ?? 0) - amount);
  for (const [name, amount] of added) scalars.set(name, (scalars.get(name) ?? 0) + amount);
  for (const name of removed.keys()) if (scalars.get(name) === 0) scalars.delete(name);
  for (const name of added.keys()) if (scalars.get(name) === 0) scalars.delete(name);
  return scalars;
}

function sumsOf(pods: readonly PodInfo[]): Sums {
  let requested = NO_RESOURCES;
  let nonZeroRequestedMilliCpu = 0;
  let nonZeroRequestedMemoryBytes = 0;
  for (const pod of pods) {
    requested = resourcesAfter(requested, NO_RESOURCES, pod.requests);
    nonZeroRequestedMilliCpu += pod.nonZeroMilliCpu;
    nonZeroRequestedMemoryBytes += pod.nonZeroMemoryBytes;
  }
  return { requested, nonZeroRequestedMilliCpu, nonZeroRequestedMemoryBytes };
}
