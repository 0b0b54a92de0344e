/**
 * The effective resources of a running Pod: for each container the maximum of desired, allocated and actual amounts, since they differ
 * during a resize; Pod-level amounts instead of the containers' sum; plus overhead.
 */
import type { Container, ContainerStatus, Pod } from "../../../generated/core/v1.ts";
import { findCondition } from "../../../machinery/conditions.ts";
import { addQuantities, compareQuantities, isZero, type Quantity } from "../../../machinery/quantity.ts";
import { isPodLevelResource, readQuantity, type ResourceList, aggregateOverContainers } from "../pod/resource-list.ts";
import { isSidecar } from "../pod/containers.ts";

export function podRequests(pod: Pod): ReadonlyMap<string, Quantity> {
  const requests = aggregateOverContainers(effectiveSpec(pod, "requests"), "requests");
  putPodLevel(requests, pod.spec?.resources?.requests);
  for (const [name, text] of Object.entries(pod.spec?.overhead ?? {})) {
    const before = requests.get(name);
    requests.set(name, before === undefined ? readQuantity(text) : addQuantities(before, readQuantity(text)));
  }
  return requests;
}

/** Overhead is added to existing limits only. */
export function podLimits(pod: Pod): ReadonlyMap<string, Quantity> {
  const limits = aggregateOverContainers(effectiveSpec(pod, "limits"), "limits");
  putPodLevel(limits, pod.spec?.resources?.limits);
  for (const [name, text] of Object.entries(pod.spec?.overhead ?? {})) {
    const before = limits.get(name);
    if (before !== undefined && !isZero(before)) limits.set(name, addQuantities(before, readQuantity(text)));
  }
  return limits;
}

/** The Pod without its status, for callers that need the desired amounts. */
export function asSpecified(pod: Pod): Pod {
  const { status: _, ...specified } = pod;
  return specified;
}

/** True if the Pod has Pod-level resources; then its containers need none. */
export function saysPodLevel({ spec }: Pod): boolean {
  const { requests = {}, limits = {} } = spec?.resources ?? {};
  return [...Object.keys(requests), ...Object.keys(limits)].some(isPodLevelResource);
}

function putPodLevel(sums: Map<string, Quantity>, list: ResourceList = {}): void {
  for (const [name, text] of Object.entries(list)) if (isPodLevelResource(name)) sums.set(name, readQuantity(text));
}

/** The spec with the effective amounts of each container. */
function effectiveSpec(pod: Pod, part: "requests" | "limits") {
  const { spec, status } = pod;
  const statuses = new Map([...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].map((one) => [one.name, one]));
  if (statuses.size === 0) return { ...spec, containers: spec?.containers ?? [] };
  const isInfeasible = findCondition(status?.conditions, "PodResizePending")?.reason === "Infeasible";
  const effective = (container: Container): Container => {
    const own = statuses.get(container.name);
    if (own?.resources === undefined) return container;
    const wanted = isInfeasible ? undefined : container.resources?.[part];
    return { ...container, resources: { ...container.resources, [part]: mostOf([wanted, ...grantedTo(own, part)]) } };
  };
  return {
    ...spec,
    containers: (spec?.containers ?? []).map(effective),
    // For terminated containers the actual amounts are irrelevant.
    initContainers: (spec?.initContainers ?? []).map((container) => (isSidecar(container) ? effective(container) : container)),
  };
}

function grantedTo({ resources, allocatedResources }: ContainerStatus, part: "requests" | "limits"): readonly (ResourceList | undefined)[] {
  return part === "requests" ? [resources?.requests, allocatedResources] : [resources?.limits];
}

function mostOf(lists: readonly (ResourceList | undefined)[]): ResourceList {
  const most = new Map<string, string>();
  for (const list of lists) {
    for (const [name, text] of Object.entries(list ?? {})) {
      const before = most.get(name);
      if (before === undefined || compareQuantities(readQuantity(text), readQuantity(before)) > 0) most.set(name, text);
    }
  }
  return Object.fromEntries(most);
}
