/**
 * What a Pod was allocated of its node: the CPU and memory that it was admitted with, and since then what resizes of it found room for. What
 * its specification asks for beyond that is a wish, and nothing that the kubelet does or counts goes by it.
 *
 * A kubelet that starts anew has no other record than what the one before it told the API: what it had seen and did not call pending was
 * allocated; otherwise the requests are told as allocated, and of limits those that are in force.
 */
import type { Container, ContainerStatus, Pod, PodStatus, ResourceRequirements } from "../../api/generated/core/v1.ts";
import { readQuantity, type ResourceList } from "../../api/core/v1/pod/resource-list.ts";
import { findCondition } from "../../api/machinery/conditions.ts";
import { formatQuantity, subtractQuantities } from "../../api/machinery/quantity.ts";

export interface Allocation {
  /** Of init containers and regular ones, by name. */
  readonly containers: ReadonlyMap<string, ResourceRequirements>;
  /** Of the Pod as a whole. */
  readonly pod?: ResourceRequirements | undefined;
}

/** The others cannot be changed. */
export const RESIZABLE = ["cpu", "memory"] as const;

/** All that it asks for. */
export function allocationOf({ spec }: Pod): Allocation {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  return { containers: new Map(containers.map(({ name, resources }) => [name, resources ?? {}])), pod: spec?.resources };
}

/** The Pod as if it asked for no more and no less than it was allocated; the same one if it does not. */
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

/** Whether these differ in what can be changed while something runs. The server has brought both into one form. */
export function isResized(before: ResourceRequirements = {}, after: ResourceRequirements = {}): boolean {
  return RESIZABLE.some((resource) => isChanged(before, after, resource));
}

export function isChanged(before: ResourceRequirements, after: ResourceRequirements, resource: string): boolean {
  return (["requests", "limits"] as const).some((part) => before[part]?.[resource] !== after[part]?.[resource]);
}

// ── after a restart ─────────────────────────────────────────────────────────────────────────────────

/** Of a Pod that a kubelet before this one may have seen to. */
export function recalledAllocation(pod: Pod): Allocation {
  const { metadata, status } = pod;
  const all = allocationOf(pod);
  const isSeen = status?.observedGeneration === metadata.generation;
  if (status === undefined || (isSeen && findCondition(status.conditions, "PodResizePending") === undefined)) return all;
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  const containers = Array.from(all.containers, ([name, wanted]) => {
    return [name, toldOf(statuses.find((one) => one.name === name)) ?? wanted] as const;
  });
  return { containers: new Map(containers), pod: toldOfWhole(pod, status) };
}

function toldOf(status: ContainerStatus | undefined): ResourceRequirements | undefined {
  if (status?.resources === undefined) return undefined;
  const { allocatedResources: requests = status.resources.requests } = status;
  return { ...status.resources, ...(requests === undefined ? {} : { requests }) };
}

/** What is told of the whole is told of every Pod, and with what it costs to run it at all. */
function toldOfWhole({ spec }: Pod, { resources, allocatedResources }: PodStatus): ResourceRequirements | undefined {
  const wanted = spec?.resources;
  if (wanted === undefined || resources === undefined) return wanted;
  const told = (list: ResourceList | undefined, amounts: ResourceList | undefined): ResourceList | undefined => {
    if (list === undefined) return undefined;
    return Object.fromEntries(Object.keys(list).map((name) => [name, withoutOverhead(name, amounts?.[name]) ?? list[name] ?? "0"]));
  };
  const withoutOverhead = (name: string, text: string | undefined): string | undefined => {
    const overhead = spec?.overhead?.[name];
    if (text === undefined || overhead === undefined) return text;
    return formatQuantity(subtractQuantities(readQuantity(text), readQuantity(overhead)));
  };
  const requests = told(wanted.requests, allocatedResources);
  const limits = told(wanted.limits, resources.limits);
  return { ...wanted, ...(requests === undefined ? {} : { requests }), ...(limits === undefined ? {} : { limits }) };
}
