/**
 * The tree of cgroups that Pods run in: "kubepods", below it one for the Burstable and one for the BestEffort, and one for each Pod, with
 * the limits of all its containers together. Paths are as the runtime's cgroup driver wants them: systemd has a slice for each level,
 * whose name repeats those above it. What is to be written is data; the machine writes it.
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
  /** Below where cgroups are mounted: "/kubepods/burstable/pod<uid>". */
  readonly path: string;
  readonly resources: LinuxResources;
}

type Place = Pick<CgroupOptions, "root" | "driver">;

const LEVELS: Readonly<Record<QosClass, readonly string[]>> = {
  Guaranteed: ["kubepods"],
  Burstable: ["kubepods", "burstable"],
  BestEffort: ["kubepods", "besteffort"],
};

/** Those above the Pods', outermost first. `pods` are all that run on the node. */
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

/** That of all Pods. */
export function podsCgroup(place: Place): Pick<Cgroup, "path"> {
  return { path: cgroupPath(LEVELS.Guaranteed, place) };
}

export function podCgroup(pod: Pod, place: Place): Cgroup {
  return {
    path: cgroupPath([...LEVELS[qosOf(pod)], `pod${pod.metadata.uid ?? ""}`], place),
    resources: podResources(pod),
  };
}

/** All that a Pod may have had of which only the uid is known. */
export function possiblePodCgroups(podUid: string, place: Place): readonly string[] {
  return Object.values(LEVELS).map((levels) => cgroupPath([...levels, `pod${podUid}`], place));
}

function cgroupPath(levels: readonly string[], { root, driver }: Place): string {
  if (driver === "cgroupfs") return `${withoutTrailing(root, "/")}/${levels.join("/")}`;
  const names = [...slicesOf(root), ...levels.map((level) => level.replaceAll("-", "_"))];
  return names.map((_, index) => `/${names.slice(0, index + 1).join("-")}.slice`).join("");
}

/** Of "/k8ts.slice" or "/k8ts": "k8ts". Of a path with several, the last slice says all. */
function slicesOf(root: string): readonly string[] {
  const parts = root.split("/").filter((part) => part !== "");
  const last = parts.at(-1);
  if (last === undefined) return [];
  return last.endsWith(".slice") ? last.slice(0, -".slice".length).split("-") : parts.map((part) => part.replaceAll("-", "_"));
}

/**
 * Of all containers together, with the overhead. A limit only if every container has one, or the Pod as a whole: otherwise those without
 * one would be limited by the others'.
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
