/**
 * Converts requests and limits to kernel values: cpu shares and quota, memory bytes, huge pages and oom_score_adj. Pod-level resources
 * apply where a container sets none. Swap is always disabled. Not here: the Pod's own cgroup (pod-cgroup.ts), and writing any of it.
 */
import type { Pod, PodSpec } from "../../api/generated/core/v1.ts";
import { isSidecar, type AnyContainer } from "../../api/core/v1/pod/containers.ts";
import { qosClassOf, type QosClass } from "../../api/core/v1/pod/qos.ts";
import {
  aggregateOverContainers,
  hugePageSize,
  isHugePages,
  readQuantity,
  type ResourceList,
} from "../../api/core/v1/pod/resource-list.ts";
import { podLimits, podRequests, saysPodLevel } from "../../api/core/v1/resource-quota/pod-demand.ts";
import { quantityMilliValue, quantityToNumber } from "../../api/machinery/quantity.ts";
import type { LinuxResources } from "../contracts/container-run.ts";
import type { CgroupOptions } from "./node-view.ts";

/** The kernel's limits. No request gets the minimum, not the kernel's default of 1024. */
export const CPU_SHARES_MIN = 2;
const CPU_SHARES_MAX = 262_144;
const CPU_SHARES_PER_CPU = 1024;
/** CFS period in microseconds: 100 ms. */
export const CPU_PERIOD_MICROSECONDS = 100_000;
/** The kernel's minimum is 1 ms. */
const CPU_QUOTA_MIN_MICROSECONDS = 1_000;

export function cpuSharesOf(milliCpu: number): number {
  const shares = Math.floor((milliCpu * CPU_SHARES_PER_CPU) / 1000);
  return Math.min(Math.max(shares, CPU_SHARES_MIN), CPU_SHARES_MAX);
}

/** Undefined: unlimited. */
export function cpuQuotaOf(milliCpu: number): number | undefined {
  if (milliCpu === 0) return undefined;
  return Math.max(Math.floor((milliCpu * CPU_PERIOD_MICROSECONDS) / 1000), CPU_QUOTA_MIN_MICROSECONDS);
}

/** QoS class that the API server computed when the Pod was created. */
export function qosOf({ spec, status }: Pod): QosClass {
  return status?.qosClass ?? qosClassOf(spec ?? { containers: [] });
}

// ── a container ─────────────────────────────────────────────────────────────────────────────────────

export interface ResourcesView {
  readonly pod: Pod;
  readonly container: AnyContainer;
  readonly capacity: ResourceList;
  readonly cgroups: CgroupOptions;
}

export function containerResources(view: ResourcesView): LinuxResources {
  const { pod, container, cgroups } = view;
  const { requests = {} } = container.resources ?? {};
  const basics = basicResources({
    // Without a request, the limit is the request; without a container limit, the Pod-level limit.
    requestMilliCpu: requests["cpu"] === undefined ? undefined : milliOf(requests, "cpu"),
    limitMilliCpu: milliOf(limitsOf(pod, container, "cpu"), "cpu"),
    memoryLimitBytes: bytesOf(limitsOf(pod, container, "memory"), "memory"),
  });
  return {
    ...basics,
    oomScoreAdj: oomScoreAdjOf(view),
    hugepageLimits: hugePageLimitsOf(view),
    ...withoutSwap(basics.memoryLimitBytes, cgroups),
  };
}

/** The container's limits; where it has none, the Pod-level ones. */
function limitsOf(pod: Pod, { resources }: AnyContainer, name: "cpu" | "memory"): ResourceList {
  const own = resources?.limits ?? {};
  return saysPodLevel(pod) && bytesOf(own, name) === 0 ? (pod.spec?.resources?.limits ?? {}) : own;
}

interface Amounts {
  readonly requestMilliCpu: number | undefined;
  readonly limitMilliCpu: number;
  readonly memoryLimitBytes: number;
}

function basicResources({ requestMilliCpu, limitMilliCpu, memoryLimitBytes }: Amounts): LinuxResources {
  const cpuQuota = cpuQuotaOf(limitMilliCpu);
  return {
    cpuShares: cpuSharesOf(requestMilliCpu ?? limitMilliCpu),
    cpuPeriod: CPU_PERIOD_MICROSECONDS,
    ...(cpuQuota === undefined ? {} : { cpuQuota }),
    ...(memoryLimitBytes === 0 ? {} : { memoryLimitBytes }),
  };
}

/** With cgroups v2 the OOM killer kills the whole container, not one process of it. */
function withoutSwap(memoryLimitBytes: number | undefined, { version, canLimitSwap }: CgroupOptions): LinuxResources {
  if (version === 2) return { unified: { "memory.oom.group": "1", ...(canLimitSwap ? { "memory.swap.max": "0" } : {}) } };
  // Here the limit is for memory plus swap.
  return canLimitSwap && memoryLimitBytes !== undefined ? { memorySwapLimitBytes: memoryLimitBytes } : {};
}

/** For each page size of the machine; the limit is 0 where the container requests none. */
function hugePageLimitsOf({ pod, container, cgroups }: ResourcesView): NonNullable<LinuxResources["hugepageLimits"]> {
  const limits = new Map<number, number>();
  const ofPod = saysPodLevel(pod) ? (pod.spec?.resources?.limits ?? {}) : {};
  for (const list of [ofPod, container.resources?.limits ?? {}]) {
    for (const name of Object.keys(list)) if (isHugePages(name)) limits.set(pageBytesOf(hugePageSize(name)), bytesOf(list, name));
  }
  return cgroups.hugePageSizes.map((pageSize) => ({ pageSize, limit: limits.get(kernelPageBytes(pageSize)) ?? 0 }));
}

function pageBytesOf(quantity: string): number {
  return quantityToNumber(readQuantity(quantity));
}

/** The kernel writes "2MB" for the quantity "2Mi". */
function kernelPageBytes(pageSize: string): number {
  return pageBytesOf(pageSize.replace(/B$/, "i"));
}

// ── oom_score_adj ───────────────────────────────────────────────────────────────────────────────────

/** −1000 (never) to 1000 (first). Upstream's value: slightly above −1000, which is reserved for system processes. */
const OOM_SCORE_OF_GUARANTEED = -997;
const OOM_SCORE_OF_BEST_EFFORT = 1000;
const OOM_SCORE_OF_BURSTABLE_MIN = 3;
const OOM_SCORE_OF_BURSTABLE_MAX = 999;

/**
 * A process's OOM score is its share of memory in thousandths plus this. A container that exceeds its request reaches 1000 and is killed
 * among the first; a larger memory request lowers the score.
 */
export function oomScoreAdjOf({ pod, container, capacity }: Omit<ResourcesView, "cgroups">): number {
  if (pod.spec?.priorityClassName === "system-node-critical") return OOM_SCORE_OF_GUARANTEED;
  const qos = qosOf(pod);
  if (qos === "Guaranteed") return OOM_SCORE_OF_GUARANTEED;
  if (qos === "BestEffort") return OOM_SCORE_OF_BEST_EFFORT;
  const spec = pod.spec ?? { containers: [] };
  let request = requestedMemory(container);
  // A sidecar must not be killed before the main containers.
  if (isSidecarOf(spec, container)) request = Math.max(request, Math.min(...spec.containers.map(requestedMemory)));
  const memory = bytesOf(capacity, "memory");
  const share = memory === 0 ? 0 : Math.trunc((1000 * (request + unclaimedMemoryEach(pod))) / memory);
  return Math.min(Math.max(1000 - share, OOM_SCORE_OF_BURSTABLE_MIN), OOM_SCORE_OF_BURSTABLE_MAX);
}

function isSidecarOf({ initContainers = [] }: PodSpec, { name }: AnyContainer): boolean {
  return initContainers.some((container) => container.name === name && isSidecar(container));
}

function requestedMemory({ resources }: AnyContainer): number {
  return bytesOf(resources?.requests ?? {}, "memory");
}

/** The part of a Pod-level request that no container requests is distributed among them. */
function unclaimedMemoryEach({ spec }: Pod): number {
  const ofPod = bytesOf(spec?.resources?.requests ?? {}, "memory");
  if (spec === undefined || ofPod === 0) return 0;
  const claimed = aggregateOverContainers(spec, "requests").get("memory");
  const count = spec.containers.length + (spec.initContainers?.length ?? 0);
  return Math.trunc((ofPod - (claimed === undefined ? 0 : quantityToNumber(claimed))) / count);
}

// ── all containers together ─────────────────────────────────────────────────────────────────────────

/** For runtimes that size the sandbox in advance. The overhead is the runtime's own. */
export function sandboxResources(whole: Pod): LinuxResources {
  const pod: Pod = { ...withoutStatus(whole), spec: { ...(whole.spec ?? { containers: [] }), overhead: {} } };
  const request = podRequests(pod).get("cpu");
  const limits = podLimits(pod);
  const [cpu, memory] = [limits.get("cpu"), limits.get("memory")];
  return basicResources({
    requestMilliCpu: request === undefined ? undefined : quantityMilliValue(request),
    limitMilliCpu: cpu === undefined ? 0 : quantityMilliValue(cpu),
    memoryLimitBytes: memory === undefined ? 0 : quantityToNumber(memory),
  });
}

/** Desired resources, regardless of those in use. */
export function withoutStatus(pod: Pod): Pod {
  const { status: _, ...wanted } = pod;
  return wanted;
}

export function bytesOf(list: ResourceList, name: string): number {
  const text = Object.hasOwn(list, name) ? list[name] : undefined;
  return text === undefined ? 0 : quantityToNumber(readQuantity(text));
}

export function milliOf(list: ResourceList, name: string): number {
  const text = Object.hasOwn(list, name) ? list[name] : undefined;
  return text === undefined ? 0 : quantityMilliValue(readQuantity(text));
}
