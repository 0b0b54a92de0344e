/**
 * The order in which Pods are evicted for a starved resource, and the message of an eviction. Pure. First those that use more than they
 * request, then those of lower priority, then those that exceed their requests most; PIDs have no requests. With upstream's messages.
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import { podRequests } from "../../api/core/v1/resource-quota/pod-demand.ts";
import { formatQuantity, parseQuantity, quantityOf, quantityToNumber } from "../../api/machinery/quantity.ts";
import type { PodStorage } from "../contracts/pod-storage.ts";
import type { PodStats } from "../contracts/runtime.ts";
import { SIGNALS, type Observations, type Signal, type StarvedResource } from "./signals.ts";
import { amountOf, type Threshold } from "./thresholds.ts";

/** Priority of system-cluster-critical: such Pods are not evicted, as upstream. */
const CRITICAL_PRIORITY = 2_000_000_000;

export function isCritical({ spec }: Pod): boolean {
  return (spec?.priority ?? 0) >= CRITICAL_PRIORITY;
}

/** Parts of a Pod's local storage that are on the starved file system. */
export interface MeasuredParts {
  readonly writableLayers: boolean;
  readonly logsAndVolumes: boolean;
}

export interface PodUsage {
  readonly stats?: PodStats | undefined;
  readonly storage?: PodStorage | undefined;
}

export type UsageOf = (pod: Pod) => PodUsage;

/** Without an image file system of its own, all of a Pod is on the node's. */
export function measuredParts(signal: Signal, { hasImageFilesystem }: { readonly hasImageFilesystem: boolean }): MeasuredParts {
  const isNode = signal.startsWith("nodefs.");
  return { writableLayers: !hasImageFilesystem || !isNode, logsAndVolumes: !hasImageFilesystem || isNode };
}

export interface Ranking {
  readonly resource: StarvedResource;
  readonly parts: MeasuredParts;
  readonly usageOf: UsageOf;
}

/** First the one to be evicted first. A Pod without statistics is evicted before others, as upstream. */
export function rankedPods(pods: readonly Pod[], { resource, parts, usageOf }: Ranking): readonly Pod[] {
  const ranked = pods.map((pod) => {
    const used = usedBy(usageOf(pod), resource, parts);
    const requested = requestedBy(pod, resource);
    return { pod, used, over: (used ?? 0) - requested, priority: pod.spec?.priority ?? 0 };
  });
  const isExceeding = ({ used, over }: (typeof ranked)[number]): boolean => used === undefined || (resource !== "pids" && over > 0);
  return ranked
    .toSorted(
      (a, b) =>
        Number(b.used === undefined) - Number(a.used === undefined) ||
        Number(isExceeding(b)) - Number(isExceeding(a)) ||
        a.priority - b.priority ||
        b.over - a.over,
    )
    .map(({ pod }) => pod);
}

/** Undefined: not known. */
function usedBy({ stats, storage }: PodUsage, resource: StarvedResource, parts: MeasuredParts): number | undefined {
  switch (resource) {
    case "memory":
      return stats?.memoryWorkingSetBytes;
    case "pids":
      return stats?.processes;
    case "ephemeral-storage":
    case "inodes":
      return stats === undefined || storage === undefined ? undefined : diskUsage({ stats, storage }, resource, parts);
  }
}

function diskUsage(
  { stats, storage }: { readonly stats: PodStats; readonly storage: PodStorage },
  resource: "ephemeral-storage" | "inodes",
  { writableLayers, logsAndVolumes }: MeasuredParts,
): number {
  const isBytes = resource === "ephemeral-storage";
  const layers = stats.containers.map(({ writableLayerBytes, writableLayerInodes }) =>
    isBytes ? writableLayerBytes : writableLayerInodes,
  );
  const trees = [...storage.logs.values(), ...storage.volumes.filter(({ isEphemeral }) => isEphemeral).map(({ used }) => used)];
  const others = trees.map((tree) => (isBytes ? tree?.usedBytes : tree?.inodesUsed));
  const parts = [...(writableLayers ? layers : []), ...(logsAndVolumes ? others : [])];
  return parts.reduce((sum: number, part) => sum + (part ?? 0), 0);
}

function requestedBy(pod: Pod, resource: StarvedResource): number {
  const request = podRequests(pod).get(resource);
  return request === undefined ? 0 : quantityToNumber(request);
}

// ── messages ────────────────────────────────────────────────────────────────────────────────────────

export interface EvictionCause {
  readonly threshold: Threshold;
  readonly observations: Observations;
  readonly usage: PodUsage;
}

/** "The node was low on resource: memory. Threshold quantity: 100Mi, available: 96Mi. Container c was using …". */
export function evictionMessage(pod: Pod, { threshold, observations, usage }: EvictionCause): string {
  const { resource } = SIGNALS[threshold.signal];
  const observed = observations.get(threshold.signal);
  const amounts = observed && [amountOf(threshold.value, observed.capacity), observed.available].map((one) => amountText(one, resource));
  const quantities = amounts === undefined ? "" : `Threshold quantity: ${amounts[0]}, available: ${amounts[1]}. `;
  return [`The node was low on resource: ${resource}. `, quantities, ...exceedingContainers(pod, resource, usage)].join("");
}

function amountText(amount: number, resource: StarvedResource): string {
  return formatQuantity(quantityOf(amount, resource === "memory" || resource === "ephemeral-storage" ? "BinarySI" : "DecimalSI"));
}

function exceedingContainers({ metadata, spec }: Pod, resource: StarvedResource, { stats, storage }: PodUsage): readonly string[] {
  if (resource !== "memory" && resource !== "ephemeral-storage") return [];
  const lines: string[] = [];
  const ofPod = spec?.resources?.requests?.[resource];
  if (resource === "memory" && ofPod !== undefined && stats?.memoryWorkingSetBytes !== undefined)
    lines.push(`Pod ${metadata.name} was using ${amountText(stats.memoryWorkingSetBytes, resource)}, ${requestText(ofPod, resource)}`);
  const known = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  for (const { name, memoryWorkingSetBytes, writableLayerBytes } of stats?.containers ?? []) {
    const container = known.find((one) => one.name === name);
    const logBytes = storage?.logs.get(name)?.usedBytes;
    const disk = writableLayerBytes === undefined || logBytes === undefined ? undefined : writableLayerBytes + logBytes;
    const used = resource === "memory" ? memoryWorkingSetBytes : disk;
    const request = container?.resources?.requests?.[resource] ?? "0";
    if (container === undefined || used === undefined || used <= quantityToNumber(parseQuantity(request))) continue;
    lines.push(`Container ${name} was using ${amountText(used, resource)}, ${requestText(request, resource)}`);
  }
  return lines;
}

function requestText(request: string, resource: StarvedResource): string {
  return `request is ${formatQuantity(parseQuantity(request))}, has larger consumption of ${resource}. `;
}
