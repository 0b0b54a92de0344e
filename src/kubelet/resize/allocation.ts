/**
 * Resources allocated to a Pod: the CPU and memory that it was admitted with, and accepted resizes since. Requests beyond them are only
 * desired; the kubelet neither applies nor counts them.
 *
 * A restarted kubelet restores them from the reported status: the spec of an observed Pod without a pending resize was allocated; otherwise
 * the reported requests are the allocated ones, and the limits in effect.
 */
import type { Container, ContainerStatus, Pod, PodStatus, ResourceRequirements } from "../../api/generated/core/v1.ts";
import { readQuantity, type ResourceList } from "../../api/core/v1/pod/resource-list.ts";
import { findCondition } from "../../api/machinery/conditions.ts";
import { formatQuantity, subtractQuantities } from "../../api/machinery/quantity.ts";

export interface Allocation {
  /** Init and regular containers by name. */
  readonly containers: ReadonlyMap<string, ResourceRequirements>;
  /** Pod-level resources. */
  readonly pod?: ResourceRequirements | undefined;
}

/** Other resources cannot be resized. */
export const RESIZABLE = ["cpu", "memory"] as const;

/** Everything that the Pod requests. */
export function allocationOf({ spec }: Pod): Allocation {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  return { containers: new Map(containers.map(({ name, resources }) => [name, resources ?? {}])), pod: spec?.resources };
}

/** The Pod with allocated resources in place of requested ones; the same object if they are equal. */
export function withAllocation(pod: Pod, { containers, pod: whole }: Allocation): Pod {
  const { spec } = pod;
  if (spec === undefined) return pod;
  const isWholeResized = isResized(whole, spec.resources);
  const wanting = ({ name, resources }: Container): boolean => containers.has(name) && isResized(containers.get(name), resources);
  const all = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  if (!isWholeResized && !all.some(wanting)) return pod;
  const allocated = (container: Container): Container =>
    wanting(container) ? { ...container, resources: containers.get(container.name) ?? {} } : container;
  const { resources, initContainers, ...rest } = spec;
  const ofWhole = isWholeResized ? whole : resources;
  return {
    ...pod,
    spec: {
      ...rest,
      ...(ofWhole === undefined ? {} : { resources: ofWhole }),
      ...(initContainers === undefined ? {} : { initContainers: initContainers.map(allocated) }),
      containers: (spec.containers ?? []).map(allocated),
    },
  };
}

/** Whether they differ in a resource that can be resized. The API server has normalized both. */
export function isResized(before: ResourceRequirements = {}, after: ResourceRequirements = {}): boolean {
  return RESIZABLE.some((resource) => isChanged(before, after, resource));
}

export function isChanged(before: ResourceRequirements, after: ResourceRequirements, resource: string): boolean {
  return (["requests", "limits"] as const).some((part) => before[part]?.[resource] !== after[part]?.[resource]);
}

// ── after a restart ─────────────────────────────────────────────────────────────────────────────────

/** Allocation of a Pod that an earlier kubelet process may have run. */
export function restoredAllocation(pod: Pod): Allocation {
  const { metadata, status } = pod;
  const all = allocationOf(pod);
  const isSeen = status?.observedGeneration === metadata.generation;
  if (status === undefined || (isSeen && findCondition(status.conditions, "PodResizePending") === undefined)) return all;
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  const containers = Array.from(all.containers, ([name, wanted]) => {
    return [name, reportedResources(statuses.find((one) => one.name === name)) ?? wanted] as const;
  });
  return { containers: new Map(containers), pod: reportedPodResources(pod, status) };
}

function reportedResources(status: ContainerStatus | undefined): ResourceRequirements | undefined {
  if (status?.resources === undefined) return undefined;
  const { allocatedResources: requests = status.resources.requests } = status;
  return { ...status.resources, ...(requests === undefined ? {} : { requests }) };
}

/** Reported Pod-level resources exist for every Pod and include the overhead. */
function reportedPodResources({ spec }: Pod, { resources, allocatedResources }: PodStatus): ResourceRequirements | undefined {
  const wanted = spec?.resources;
  if (wanted === undefined || resources === undefined) return wanted;
  const reported = (list: ResourceList | undefined, amounts: ResourceList | undefined): ResourceList | undefined => {
    if (list === undefined) return undefined;
    return Object.fromEntries(Object.keys(list).map((name) => [name, withoutOverhead(name, amounts?.[name]) ?? list[name] ?? "0"]));
  };
  const withoutOverhead = (name: string, text: string | undefined): string | undefined => {
    const overhead = spec?.overhead?.[name];
    if (text === undefined || overhead === undefined) return text;
    return formatQuantity(subtractQuantities(readQuantity(text), readQuantity(overhead)));
  };
  const requests = reported(wanted.requests, allocatedResources);
  const limits = reported(wanted.limits, resources.limits);
  return { ...wanted, ...(requests === undefined ? {} : { requests }), ...(limits === undefined ? {} : { limits }) };
}
