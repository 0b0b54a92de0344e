/**
 * Builders of nodes and Pods for scheduler tests: each names only what its case is about, with ordinary defaults. Scheduler types are
 * derived by the production code.
 */
import type {
  Affinity,
  Container,
  ContainerImage,
  Node,
  NodeCondition,
  Pod,
  PodSpec,
  PodStatus,
  Taint,
  Toleration,
  TopologySpreadConstraint,
} from "../../../api/generated/core/v1.ts";
import type { OwnerReference } from "../../../api/machinery/object.ts";
import { makeNodeInfo } from "../make-node-info.ts";
import { podInfoOf } from "../make-pod-info.ts";
import type { ImageState, NodeInfo } from "../node-info.ts";
import type { PodInfo } from "../pod-info.ts";
import type { Snapshot } from "../snapshot.ts";
import { buildPod } from "../../../api/testing/pod.ts";

type Texts = Readonly<Record<string, string>>;

export interface NodeParts {
  /** Besides "kubernetes.io/hostname", which is its name. */
  readonly labels?: Texts;
  /** Its labels "topology.kubernetes.io/zone" and "topology.kubernetes.io/region". */
  readonly zone?: string;
  readonly region?: string;
  readonly annotations?: Texts;
  readonly taints?: readonly Taint[];
  readonly unschedulable?: boolean;
  /** Allocatable: 4 CPUs, 32Gi of memory, 100Gi of storage and 110 Pods by default. */
  readonly cpu?: string;
  readonly memory?: string;
  readonly storage?: string;
  readonly pods?: string;
  /** Other resources, by name. */
  readonly extended?: Texts;
  readonly images?: readonly ContainerImage[];
  readonly conditions?: readonly NodeCondition[];
}

export function aNode(name: string, parts: NodeParts = {}): Node {
  const { cpu = "4", memory = "32Gi", storage = "100Gi", pods = "110", extended = {} } = parts;
  const allocatable = { cpu, memory, "ephemeral-storage": storage, pods, ...extended };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      uid: `uid-of-node-${name}`,
      labels: {
        "kubernetes.io/hostname": name,
        ...(parts.region !== undefined && { "topology.kubernetes.io/region": parts.region }),
        ...(parts.zone !== undefined && { "topology.kubernetes.io/zone": parts.zone }),
        ...parts.labels,
      },
      ...(parts.annotations && { annotations: parts.annotations }),
    },
    spec: {
      ...(parts.unschedulable !== undefined && { unschedulable: parts.unschedulable }),
      ...(parts.taints && { taints: parts.taints }),
    },
    status: {
      capacity: allocatable,
      allocatable,
      ...(parts.images && { images: parts.images }),
      conditions: parts.conditions ?? [{ type: "Ready", status: "True" }],
    },
  };
}

export interface PodPort {
  readonly port: number;
  readonly ip?: string;
  readonly protocol?: "TCP" | "UDP" | "SCTP";
}

export interface PodParts {
  /** "default" by default. */
  readonly namespace?: string;
  readonly uid?: string;
  readonly labels?: Texts;
  readonly annotations?: Texts;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly createdAt?: string;
  readonly deletedAt?: string;
  /** Requests of its first container: none by default. */
  readonly cpu?: string;
  readonly memory?: string;
  readonly storage?: string;
  readonly extended?: Texts;
  /** Ports of the node. */
  readonly ports?: readonly (number | PodPort)[];
  /** One container for each, called "c0", "c1", …; one of the image "web" by default. */
  readonly images?: readonly string[];
  /** Replaces those that the parts above describe. */
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  /** The node that it is on. */
  readonly node?: string;
  readonly priority?: number;
  readonly tolerations?: readonly Toleration[];
  readonly nodeSelector?: Texts;
  readonly affinity?: Affinity;
  readonly spread?: readonly TopologySpreadConstraint[];
  readonly gates?: readonly string[];
  readonly overhead?: Texts;
  readonly schedulerName?: string;
  readonly preemptionPolicy?: "Never" | "PreemptLowerPriority";
  /** status.nominatedNodeName */
  readonly nominatedNode?: string;
  /** status.startTime */
  readonly startedAt?: string;
  readonly phase?: NonNullable<PodStatus["phase"]>;
  /** Anything else, replacing what the parts above build. */
  readonly spec?: Partial<PodSpec>;
  readonly status?: PodStatus;
}

export function aPod(name: string, parts: PodParts = {}): Pod {
  return buildPod({ metadata: metadataOf(name, parts), spec: specOf(parts), status: statusOf(parts) });
}

function metadataOf(name: string, parts: PodParts): Pod["metadata"] {
  const { namespace = "default", labels, annotations, ownerReferences, createdAt = "2026-01-01T00:00:00Z", deletedAt } = parts;
  return {
    name,
    namespace,
    uid: parts.uid ?? `uid-of-${namespace}-${name}`,
    creationTimestamp: createdAt,
    ...(deletedAt !== undefined && { deletionTimestamp: deletedAt }),
    ...(labels && { labels }),
    ...(annotations && { annotations }),
    ...(ownerReferences && { ownerReferences }),
  };
}

function specOf(parts: PodParts): PodSpec {
  const { initContainers, node, priority, tolerations, nodeSelector, affinity, spread, gates, overhead, preemptionPolicy } = parts;
  return {
    containers: parts.containers ?? containersOf(parts),
    schedulerName: parts.schedulerName ?? "default-scheduler",
    ...(initContainers && { initContainers }),
    ...(node !== undefined && { nodeName: node }),
    ...(priority !== undefined && { priority }),
    ...(tolerations && { tolerations }),
    ...(nodeSelector && { nodeSelector }),
    ...(affinity && { affinity }),
    ...(spread && { topologySpreadConstraints: spread }),
    ...(gates && { schedulingGates: gates.map((gate) => ({ name: gate })) }),
    ...(overhead && { overhead }),
    ...(preemptionPolicy && { preemptionPolicy }),
    ...parts.spec,
  };
}

function containersOf({ images = ["web"], cpu, memory, storage, extended, ports }: PodParts): readonly Container[] {
  const requests: Record<string, string> = {
    ...(cpu !== undefined && { cpu }),
    ...(memory !== undefined && { memory }),
    ...(storage !== undefined && { "ephemeral-storage": storage }),
    ...extended,
  };
  const first = { ...(Object.keys(requests).length > 0 && { resources: { requests } }), ...(ports && { ports: ports.map(containerPort) }) };
  return images.map((image, index) => ({ name: `c${index}`, image, ...(index === 0 && first) }));
}

function containerPort(given: number | PodPort): NonNullable<Container["ports"]>[number] {
  const { port, ip, protocol = "TCP" } = typeof given === "number" ? { port: given, ip: undefined } : given;
  return { containerPort: port, hostPort: port, protocol, ...(ip !== undefined && { hostIP: ip }) };
}

function statusOf({ phase, node, nominatedNode, startedAt, status }: PodParts): PodStatus {
  return {
    phase: phase ?? (node === undefined ? "Pending" : "Running"),
    ...(nominatedNode !== undefined && { nominatedNodeName: nominatedNode }),
    ...(startedAt !== undefined && { startTime: startedAt }),
    ...status,
  };
}

export function podInfo(pod: Pod): PodInfo {
  return podInfoOf(pod);
}

/** A node with these Pods, whatever their nodeName. Its images are on one node until `snapshotOf` has seen them all. */
export function nodeInfo(node: Node, ...pods: readonly Pod[]): NodeInfo {
  const images = new Map<string, ImageState>();
  for (const { names = [], sizeBytes = 0 } of node.status?.images ?? [])
    for (const name of names) images.set(name, { sizeBytes, nodes: 1 });
  let info: NodeInfo = makeNodeInfo(node, images);
  for (const pod of pods) info = info.withPod(podInfoOf(pod));
  return info;
}

/** These nodes in this order. Counts their images over all of them. */
export function snapshotOf(...nodes: readonly NodeInfo[]): Snapshot {
  countImages(nodes);
  return {
    nodes,
    get: (name) => nodes.find((node) => node.name === name),
    nodesWithAffinityPods: nodes.filter(({ podsWithAffinity }) => podsWithAffinity.length > 0),
    nodesWithRequiredAntiAffinityPods: nodes.filter(({ podsWithRequiredAntiAffinity }) => podsWithRequiredAntiAffinity.length > 0),
    claimUses: (key) => nodes.flatMap(({ pods }) => pods).filter(({ claimKeys }) => claimKeys.includes(key)).length,
    generation: Math.max(0, ...nodes.map(({ generation }) => generation)),
  };
}

/** In place, as the cache does: a test already holds the nodes, and means these. */
function countImages(nodes: readonly NodeInfo[]): void {
  for (const { images } of nodes) {
    for (const [name, state] of images) {
      (state as { nodes: number }).nodes = nodes.filter((node) => node.images.has(name)).length;
    }
  }
}
