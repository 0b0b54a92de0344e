/**
 * Computes the Node object of a kubelet, with upstream's messages: pure functions of facts. Contributions of other components are kept:
 * their conditions, labels, and resources that the machine does not have (extended resources patched into the capacity). Not here: when it
 * is written (node-status.ts).
 */
import type { ContainerImage, Node, NodeCondition, NodeStatus } from "../../api/generated/core/v1.ts";
import { isHugePages, readQuantity, type ResourceList } from "../../api/core/v1/pod/resource-list.ts";
import { findCondition } from "../../api/machinery/conditions.ts";
import { formatQuantity, signOf, subtractQuantities } from "../../api/machinery/quantity.ts";
import { formatTime } from "../../api/machinery/time.ts";
import { deepEqual } from "../../base/deep.ts";
import type { Draft } from "../../client/client.ts";
import { KUBELET_VERSION, type NodeFacts } from "./node-facts.ts";
import type { Image, RuntimeFeatures } from "../contracts/runtime.ts";
import type { PressureCondition } from "../eviction/signals.ts";
import { joinedErrors } from "../../base/joined-errors.ts";

export interface NodeDescription {
  readonly name: string;
  readonly facts: NodeFacts;
  readonly runtimeVersion: string;
  readonly images: readonly Image[];
  /** Undefined: the runtime does not report them. */
  readonly features?: RuntimeFeatures | undefined;
  /** Attached volumes that Pods use; undefined on a node without volumes. */
  readonly volumesInUse?: readonly string[] | undefined;
  /** Why Pods cannot run; undefined if the runtime is ready. */
  readonly trouble?: string | undefined;
  /** Default: none. */
  readonly pressure?: readonly PressureCondition[];
}

/** Volumes are attached by the attach/detach controller, not by the kubelet. */
const MANAGED_ATTACH = "volumes.kubernetes.io/controller-managed-attach-detach";

/** Upstream's limits: the image list serves the scheduler and is not an inventory. */
const IMAGES_MAX = 50;
const NAMES_PER_IMAGE_MAX = 5;

export function newNode(description: NodeDescription, nowMs: number): Draft<Node> {
  const { name, facts } = description;
  const { podCidrs = [], taints = [], providerId } = facts;
  const [podCidr] = podCidrs;
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: labelsOf(description), annotations: { [MANAGED_ATTACH]: "true", ...facts.annotations } },
    spec: {
      ...(podCidr === undefined ? {} : { podCIDR: podCidr, podCIDRs: podCidrs }),
      ...(providerId === undefined ? {} : { providerID: providerId }),
      ...(taints.length === 0 ? {} : { taints }),
    },
    status: nodeStatus(undefined, description, nowMs),
  };
}

export function labelsOf({ name, facts }: Pick<NodeDescription, "name" | "facts">): Readonly<Record<string, string>> {
  const { architecture, operatingSystem } = facts.system;
  return {
    "beta.kubernetes.io/arch": architecture,
    "beta.kubernetes.io/os": operatingSystem,
    "kubernetes.io/arch": architecture,
    "kubernetes.io/hostname": hostnameOf(name, facts),
    "kubernetes.io/os": operatingSystem,
    ...facts.labels,
  };
}

function hostnameOf(name: string, { addresses }: NodeFacts): string {
  return addresses.find(({ type }) => type === "Hostname")?.address ?? name;
}

/** Upstream corrects only these in an existing Node; others may have been changed on purpose. */
const RECONCILED_LABELS = [
  "kubernetes.io/hostname",
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
  "node.kubernetes.io/instance-type",
  "beta.kubernetes.io/instance-type",
  "kubernetes.io/os",
  "kubernetes.io/arch",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch",
];

/** Labels and annotations of an existing Node to be set, as a merge patch; undefined if all are correct. */
export function metadataPatch(node: Node, description: NodeDescription) {
  const wanted = labelsOf(description);
  const { labels = {}, annotations = {} } = node.metadata;
  const wrong = RECONCILED_LABELS.filter((key) => wanted[key] !== undefined && wanted[key] !== "" && labels[key] !== wanted[key]);
  const isAttachWrong = annotations[MANAGED_ATTACH] !== "true";
  if (wrong.length === 0 && !isAttachWrong) return undefined;
  return {
    metadata: {
      ...(wrong.length === 0 ? {} : { labels: Object.fromEntries(wrong.map((key) => [key, wanted[key] as string])) }),
      ...(isAttachWrong ? { annotations: { [MANAGED_ATTACH]: "true" } } : {}),
    },
  };
}

/** The complete status, in which only the kubelet's own parts differ from before. */
export function nodeStatus(before: NodeStatus | undefined, description: NodeDescription, nowMs: number): NodeStatus {
  const { facts, runtimeVersion, images, volumesInUse } = description;
  const capacity = { ...before?.capacity, ...facts.capacity };
  const port = facts.kubeletPort;
  const { volumesInUse: usedBefore, runtimeHandlers: _handlers, features: _features, ...kept } = before ?? {};
  const used = volumesInUse ?? usedBefore ?? [];
  return {
    ...kept,
    ...(used.length === 0 ? {} : { volumesInUse: used }),
    capacity,
    allocatable: { ...before?.allocatable, ...allocatableOf(capacity, facts) },
    conditions: nodeConditions(before?.conditions, capacity, description, nowMs),
    addresses: facts.addresses,
    ...(port === undefined ? {} : { daemonEndpoints: { kubeletEndpoint: { Port: port } } }),
    nodeInfo: {
      ...facts.system,
      containerRuntimeVersion: runtimeVersion,
      kubeletVersion: facts.kubeletVersion ?? KUBELET_VERSION,
      kubeProxyVersion: "",
    },
    ...(images.length === 0 ? {} : { images: imagesOf(images) }),
    declaredFeatures: DECLARED_FEATURES,
    ...featuresOf(description),
  };
}

function featuresOf({ features }: NodeDescription): Pick<NodeStatus, "runtimeHandlers" | "features"> {
  if (features === undefined) return {};
  const { handlers, hasSupplementalGroupsPolicy: supplementalGroupsPolicy } = features;
  const runtimeHandlers = handlers.map(
    ({ name, hasRecursiveReadOnlyMounts: recursiveReadOnlyMounts, hasUserNamespaces: userNamespaces }) => ({
      name,
      features: { recursiveReadOnlyMounts, userNamespaces },
    }),
  );
  return { ...(handlers.length === 0 ? {} : { runtimeHandlers }), features: { supplementalGroupsPolicy } };
}

/** Features that Pods may need of a kubelet (scheduler plugin NodeDeclaredFeatures), ordered by name. */
const DECLARED_FEATURES = ["RestartAllContainersOnContainerExits"];

/** The capacity without reserved resources; huge pages are subtracted from memory. */
export function allocatableOf(capacity: ResourceList, { reserved = {} }: NodeFacts): ResourceList {
  const allocatable = new Map(Object.entries(capacity));
  const take = (name: string, text: string): void => {
    const rest = subtractQuantities(readQuantity(allocatable.get(name) ?? "0"), readQuantity(text));
    allocatable.set(name, signOf(rest) < 0 ? "0" : formatQuantity(rest));
  };
  for (const [name, text] of Object.entries(reserved)) if (allocatable.has(name)) take(name, text);
  for (const [name, text] of Object.entries(capacity)) if (isHugePages(name) && signOf(readQuantity(text)) > 0) take("memory", text);
  return Object.fromEntries(allocatable);
}

/** Largest first. */
function imagesOf(images: readonly Image[]): readonly ContainerImage[] {
  return (
    images
      // An image without a name is of no use to the scheduler.
      .filter(({ names }) => names.length > 0)
      .toSorted((a, b) => b.sizeBytes - a.sizeBytes || (a.id < b.id ? -1 : 1))
      .slice(0, IMAGES_MAX)
      .map(({ names, sizeBytes }) => ({ names: names.slice(0, NAMES_PER_IMAGE_MAX), sizeBytes }))
  );
}

// ── conditions ──────────────────────────────────────────────────────────────────────────────────────

const PRESSURES = [
  {
    type: "MemoryPressure",
    without: { reason: "KubeletHasSufficientMemory", message: "kubelet has sufficient memory available", event: "NodeHasSufficientMemory" },
    under: {
      reason: "KubeletHasInsufficientMemory",
      message: "kubelet has insufficient memory available",
      event: "NodeHasInsufficientMemory",
    },
  },
  {
    type: "DiskPressure",
    without: { reason: "KubeletHasNoDiskPressure", message: "kubelet has no disk pressure", event: "NodeHasNoDiskPressure" },
    under: { reason: "KubeletHasDiskPressure", message: "kubelet has disk pressure", event: "NodeHasDiskPressure" },
  },
  {
    type: "PIDPressure",
    without: { reason: "KubeletHasSufficientPID", message: "kubelet has sufficient PID available", event: "NodeHasSufficientPID" },
    under: { reason: "KubeletHasInsufficientPID", message: "kubelet has insufficient PID available", event: "NodeHasInsufficientPID" },
  },
] as const;

function pressureConditions(pressure: readonly PressureCondition[]) {
  return PRESSURES.map(({ type, without, under }) => {
    const isUnder = pressure.includes(type);
    const { reason, message } = isUnder ? under : without;
    return { type, status: isUnder ? "True" : "False", reason, message };
  });
}

/** Reasons of Events about conditions that changed. */
export function changedPressures(before: Node, after: Node): readonly string[] {
  return PRESSURES.flatMap(({ type, without, under }) => {
    const [was, is] = [before, after].map(({ status }) => findCondition(status?.conditions, type)?.status);
    return was === undefined || was === is ? [] : [is === "True" ? under.event : without.event];
  });
}

const REQUIRED_RESOURCES = ["cpu", "memory", "pods", "ephemeral-storage"];

function nodeConditions(
  before: readonly NodeCondition[] | undefined,
  capacity: ResourceList,
  { trouble, pressure = [] }: NodeDescription,
  nowMs: number,
): readonly NodeCondition[] {
  const own = [...pressureConditions(pressure), readyOf(capacity, trouble)];
  const conditions = (before ?? []).map((condition) => own.find(({ type }) => type === condition.type) ?? condition);
  const missing = own.filter(({ type }) => findCondition(before, type) === undefined);
  const now = formatTime(nowMs);
  return [...conditions, ...missing].map((condition) => {
    if (!own.includes(condition as (typeof own)[number])) return condition;
    const previous = findCondition(before, condition.type);
    const isSame = previous?.status === condition.status && previous.lastTransitionTime !== undefined;
    const { type, status, reason, message } = condition as (typeof own)[number];
    const since = isSame ? previous.lastTransitionTime : now;
    return { type, status, lastHeartbeatTime: now, lastTransitionTime: since, reason, message };
  });
}

function readyOf(capacity: ResourceList, trouble: string | undefined) {
  const missing = REQUIRED_RESOURCES.filter((name) => capacity[name] === undefined);
  const lacks = missing.length === 0 ? [] : [`missing node capacity for resources: ${missing.join(", ")}`];
  const wrong = [...(trouble === undefined ? [] : [trouble]), ...lacks];
  if (wrong.length === 0) return { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" };
  return { type: "Ready", status: "False", reason: "KubeletNotReady", message: joinedErrors(wrong) };
}

/** Whether anything but the timestamps differs. */
export function hasStatusChanged(before: NodeStatus | undefined, status: NodeStatus): boolean {
  return !deepEqual(withoutHeartbeats(before), withoutHeartbeats(status));
}

function withoutHeartbeats(status: NodeStatus | undefined) {
  return { ...status, conditions: status?.conditions?.map(({ lastHeartbeatTime: _time, ...condition }) => condition) };
}
