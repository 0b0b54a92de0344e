/**
 * The cgroup hierarchy of Pods: "kubepods", below it one per QoS class Burstable and BestEffort, and one per Pod with the limits of all its
 * containers. Paths follow the cgroup driver: systemd has a slice per level whose name repeats its parents'. The values to write are data;
 * the machine writes them.
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import type { QosClass } from "../../api/core/v1/pod/qos.ts";
import { hugePageSize, isHugePages, readQuantity, type ResourceList } from "../../api/core/v1/pod/resource-list.ts";
import { podLimits, podRequests } from "../../api/core/v1/resource-quota/pod-demand.ts";
import { quantityMilliValue, quantityToNumber, type Quantity } from "../../api/machinery/quantity.ts";
import { withoutTrailing } from "../../base/text.ts";
import type { LinuxResources } from "../contracts/container-run.ts";
import type { CgroupOptions } from "./node-view.ts";
import { bytesOf, CPU_PERIOD_MICROSECONDS, CPU_SHARES_MIN, cpuQuotaOf, cpuSharesOf, milliOf, qosOf, withoutStatus } from "./resources.ts";

export interface Cgroup {
  /** Relative to the cgroup mount: "/kubepods/burstable/pod<uid>". */
  readonly path: string;
  readonly resources: LinuxResources;
}

type Place = Pick<CgroupOptions, "root" | "driver">;

const LEVELS: Readonly<Record<QosClass, readonly string[]>> = {
  Guaranteed: ["kubepods"],
  Burstable: ["kubepods", "burstable"],
  BestEffort: ["kubepods", "besteffort"],
};

/** Parents of the Pod cgroups, outermost first. `pods` are all that run on the node. */
export function nodeCgroups(
  pods: readonly Pod[],
  { allocatable, ...place }: Place & { readonly allocatable: ResourceList },
): readonly Cgroup[] {
  let burstableMilliCpu = 0;
  for (const pod of pods) {
    if (qosOf(pod) === "Burstable") burstableMilliCpu += milliOrZero(podRequests(withoutStatus(pod)).get("cpu"));
  }
  const memoryLimitBytes = bytesOf(allocatable, "memory");
  const all: LinuxResources = {
    cpuShares: cpuSharesOf(milliOf(allocatable, "cpu")),
    ...(memoryLimitBytes === 0 ? {} : { memoryLimitBytes }),
  };
  return [
    { path: cgroupPath(LEVELS.Guaranteed, place), resources: all },
    { path: cgroupPath(LEVELS.Burstable, place), resources: { cpuShares: cpuSharesOf(burstableMilliCpu) } },
    { path: cgroupPath(LEVELS.BestEffort, place), resources: { cpuShares: CPU_SHARES_MIN } },
  ];
}

/** Cgroup of all Pods. */
export function podsCgroup(place: Place): Pick<Cgroup, "path"> {
  return { path: cgroupPath(LEVELS.Guaranteed, place) };
}

export function podCgroup(pod: Pod, place: Place): Cgroup {
  return {
    path: cgroupPath([...LEVELS[qosOf(pod)], `pod${pod.metadata.uid ?? ""}`], place),
    resources: podResources(pod),
  };
}

/** All cgroups that a Pod of which only the uid is known may have. */
export function possiblePodCgroups(podUid: string, place: Place): readonly string[] {
  return Object.values(LEVELS).map((levels) => cgroupPath([...levels, `pod${podUid}`], place));
}

function cgroupPath(levels: readonly string[], { root, driver }: Place): string {
  if (driver === "cgroupfs") return `${withoutTrailing(root, "/")}/${levels.join("/")}`;
  const names = [...slicesOf(root), ...levels.map((level) => level.replaceAll("-", "_"))];
  return names.map((_, index) => `/${names.slice(0, index + 1).join("-")}.slice`).join("");
}

/** "k8ts" of "/k8ts.slice" or "/k8ts". In a path of several slices the last one contains all names. */
function slicesOf(root: string): readonly string[] {
  const parts = root.split("/").filter((part) => part !== "");
  const last = parts.at(-1);
  if (last === undefined) return [];
  return last.endsWith(".slice") ? last.slice(0, -".slice".length).split("-") : parts.map((part) => part.replaceAll("-", "_"));
}

/**
 * Sum of all containers plus the overhead. A limit is set only if every container or the Pod has one: otherwise containers without a limit
 * would be limited by the others'.
 */
function podResources(pod: Pod): LinuxResources {
  const qos = qosOf(pod);
  const hugepageLimits = hugePagesOf(podRequests(withoutStatus(pod)));
  const pages = hugepageLimits.length === 0 ? {} : { hugepageLimits };
  if (qos === "BestEffort") return { cpuShares: CPU_SHARES_MIN, ...pages };
  const limits = podLimits(withoutStatus(pod));
  const cpuQuota = qos === "Guaranteed" || areAllLimited(pod, "cpu") ? cpuQuotaOf(milliOrZero(limits.get("cpu"))) : undefined;
  const memory = limits.get("memory");
  const isMemoryLimited = memory !== undefined && (qos === "Guaranteed" || areAllLimited(pod, "memory"));
  return {
    cpuShares: cpuSharesOf(milliOrZero(podRequests(withoutStatus(pod)).get("cpu"))),
    ...(cpuQuota === undefined ? {} : { cpuQuota, cpuPeriod: CPU_PERIOD_MICROSECONDS }),
    ...(isMemoryLimited ? { memoryLimitBytes: quantityToNumber(memory) } : {}),
    ...pages,
  };
}

function areAllLimited({ spec }: Pod, name: "cpu" | "memory"): boolean {
  if (bytesOf(spec?.resources?.limits ?? {}, name) !== 0) return true;
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].every(
    ({ resources }) => bytesOf(resources?.limits ?? {}, name) !== 0,
  );
}

/** Page sizes as the kernel writes them. */
function hugePagesOf(requests: ReadonlyMap<string, Quantity>): NonNullable<LinuxResources["hugepageLimits"]> {
  return [...requests]
    .filter(([name]) => isHugePages(name))
    .map(([name, quantity]) => ({
      pageSize: kernelPageSize(quantityToNumber(readQuantity(hugePageSize(name)))),
      limit: quantityToNumber(quantity),
    }));
}

function kernelPageSize(sizeBytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB", "PB"];
  let [size, unit] = [sizeBytes, 0];
  for (; size % 1024 === 0 && unit < units.length - 1; unit++) size /= 1024;
  return `${size}${units[unit]}`;
}

function milliOrZero(quantity: Quantity | undefined): number {
  return quantity === undefined ? 0 : quantityMilliValue(quantity);
}
