/**
 * A Pod's resource requests, by upstream's rule: its containers and sidecars together, or an init container beside the sidecars started
 * before it, whichever is more; or the Pod-level requests; plus its overhead. During a resize the maximum of desired, allocated and actual
 * counts, so that nothing is assigned that may still be needed. Amounts are rounded up one by one, upstream rounds their sum: that differs
 * only for fractions of bytes.
 */
import { isSidecar } from "../../api/core/v1/pod/containers.ts";
import { isPodLevelResource, type ResourceList } from "../../api/core/v1/pod/resource-list.ts";
import type { Container, ContainerStatus, Pod } from "../../api/generated/core/v1.ts";
import { amountOf, resourcesOf } from "./amounts.ts";
import type { Resources } from "./resources.ts";

export interface PodRequests {
  readonly requests: Resources;
  readonly nonZeroMilliCpu: number;
  readonly nonZeroMemoryBytes: number;
}

/** Scoring default of a container without requests, so that a node full of such Pods does not look empty. Upstream's. */
export const DEFAULT_MILLI_CPU = 100;
export const DEFAULT_MEMORY_BYTES = 200 * 1024 * 1024;

/** Amounts by resource. */
type Amounts = Map<string, number>;

/** CPU and memory with these defaults are summed beside the real ones, under names that no resource can have. */
const NON_ZERO_CPU = " cpu";
const NON_ZERO_MEMORY = " memory";

export function requestsOf(pod: Pod): PodRequests {
  const total = ofContainers(pod);
  const isForWholePod = replaceByPodLevel(total, pod);
  addOverhead(total, pod.spec?.overhead);
  return {
    requests: resourcesOf(total),
    nonZeroMilliCpu: nonZero(total, "cpu", NON_ZERO_CPU, isForWholePod),
    nonZeroMemoryBytes: nonZero(total, "memory", NON_ZERO_MEMORY, isForWholePod),
  };
}

/** Pod-level requests are used as they are, unless none exist at all. */
function nonZero(total: Amounts, name: string, nonZeroName: string, isForWholePod: boolean): number {
  return (isForWholePod ? total.get(name) : undefined) ?? total.get(nonZeroName) ?? 0;
}

function ofContainers(pod: Pod): Amounts {
  const [first, ...others] = pod.spec?.containers ?? [];
  const running = first === undefined ? new Map<string, number>() : ownOf(first, pod, statusOf(first, pod.status?.containerStatuses));
  for (const container of others) addTo(running, ownOf(container, pod, statusOf(container, pod.status?.containerStatuses)));
  const inits = pod.spec?.initContainers ?? [];
  if (inits.length === 0) return running;
  const sidecars: Amounts = new Map();
  const peak: Amounts = new Map();
  for (const container of inits) {
    if (isSidecar(container)) {
      const own = ownOf(container, pod, statusOf(container, pod.status?.initContainerStatuses));
      addTo(running, own);
      addTo(sidecars, own);
    } else {
      const turn = ownOf(container, pod, undefined);
      addTo(turn, sidecars);
      raiseTo(peak, turn);
    }
  }
  raiseTo(running, peak);
  return running;
}

function statusOf({ name }: Container, statuses: readonly ContainerStatus[] | undefined): ContainerStatus | undefined {
  return statuses?.find((status) => status.name === name);
}

function ownOf({ resources }: Container, pod: Pod, status: ContainerStatus | undefined): Amounts {
  const own =
    status?.resources === undefined
      ? read(resources?.requests)
      : effective(pod, { wanted: resources?.requests, inForce: status.resources.requests, allotted: status.allocatedResources });
  own.set(NON_ZERO_CPU, own.get("cpu") ?? DEFAULT_MILLI_CPU);
  own.set(NON_ZERO_MEMORY, own.get("memory") ?? DEFAULT_MEMORY_BYTES);
  return own;
}

interface ResizeState {
  readonly wanted: ResourceList | undefined;
  readonly inForce: ResourceList | undefined;
  readonly allotted: ResourceList | undefined;
}

function effective(pod: Pod, { wanted, inForce, allotted }: ResizeState): Amounts {
  const most = read(isResizeInfeasible(pod) ? undefined : wanted);
  raiseTo(most, read(inForce));
  raiseTo(most, read(allotted));
  return most;
}

/** The node has reported that the resize is infeasible. */
function isResizeInfeasible(pod: Pod): boolean {
  return pod.status?.conditions?.find(({ type }) => type === "PodResizePending")?.reason === "Infeasible";
}

/** Pod-level requests replace the sum of the containers. Returns whether there are any. */
function replaceByPodLevel(total: Amounts, pod: Pod): boolean {
  const wanted = pod.spec?.resources?.requests;
  if (wanted === undefined) return false;
  const { resources, allocatedResources: allotted } = pod.status ?? {};
  const asked = resources === undefined ? read(wanted) : effective(pod, { wanted, inForce: resources.requests, allotted });
  let isAny = false;
  for (const name of Object.keys(wanted)) {
    if (!isPodLevelResource(name)) continue;
    total.set(name, asked.get(name) ?? 0);
    isAny = true;
  }
  return isAny;
}

function addOverhead(total: Amounts, overhead: ResourceList | undefined): void {
  if (overhead === undefined) return;
  const amounts = read(overhead);
  addTo(total, amounts);
  total.set(NON_ZERO_CPU, (total.get(NON_ZERO_CPU) ?? 0) + (amounts.get("cpu") ?? 0));
  total.set(NON_ZERO_MEMORY, (total.get(NON_ZERO_MEMORY) ?? 0) + (amounts.get("memory") ?? 0));
}

function read(list: ResourceList | undefined): Amounts {
  const amounts: Amounts = new Map();
  if (list === undefined) return amounts;
  for (const name of Object.keys(list)) amounts.set(name, amountOf(name, list[name] ?? "0"));
  return amounts;
}

function addTo(sums: Amounts, amounts: Amounts): void {
  for (const [name, amount] of amounts) sums.set(name, (sums.get(name) ?? 0) + amount);
}

function raiseTo(peaks: Amounts, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const peak = peaks.get(name);
    if (peak === undefined || amount > peak) peaks.set(name, amount);
  }
}
