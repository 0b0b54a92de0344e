/** When a Pod must be evicted because of the taints of the devices that it uses. Pure. */
import type { Pod } from "../../api/generated/core/v1.ts";
import type {
  DeviceRequestAllocationResult,
  DeviceTaint,
  DeviceToleration,
  ResourceClaim,
  ResourceSlice,
} from "../../api/generated/resource.k8s.io/v1.ts";
import { parseTime } from "../../api/machinery/time.ts";

/** The slices of the pool of a device. */
export type SlicesOfPool = (device: Pick<DeviceRequestAllocationResult, "driver" | "pool">) => readonly ResourceSlice[];

export function hasEvictingTaint({ spec }: ResourceSlice): boolean {
  return spec.devices?.some(({ taints }) => taints?.some(isEvicting)) === true;
}

/** The earliest time of all claims that are reserved for the Pod; undefined if it can stay. */
export function podEvictionMs(pod: Pod, claims: readonly ResourceClaim[], slicesOf: SlicesOfPool): number | undefined {
  if ((pod.spec?.nodeName ?? "") === "") return undefined;
  const reserved = claims.filter(({ status }) => status?.reservedFor?.some(({ uid }) => uid === pod.metadata.uid) === true);
  return earliest(reserved.map((claim) => claimEvictionMs(claim, slicesOf)));
}

export function claimEvictionMs({ status }: ResourceClaim, slicesOf: SlicesOfPool): number | undefined {
  const results = status?.allocation?.devices?.results ?? [];
  return earliest(results.flatMap((result) => taintsOf(result, slicesOf).map((taint) => taintEvictionMs(taint, result.tolerations ?? []))));
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Those that evict. Slices of an older generation of the pool no longer describe its devices. */
function taintsOf(result: DeviceRequestAllocationResult, slicesOf: SlicesOfPool): readonly DeviceTaint[] {
  const slices = slicesOf(result);
  const generation = Math.max(...slices.map(({ spec }) => spec.pool.generation));
  const current = slices.filter(({ spec }) => spec.pool.generation === generation);
  const device = current.flatMap(({ spec }) => spec.devices ?? []).find(({ name }) => name === result.device);
  return device?.taints?.filter(isEvicting) ?? [];
}

function isEvicting({ effect }: DeviceTaint): boolean {
  return effect === "NoExecute";
}

/** Of several tolerations with a limit the shortest counts; one without tolerates the taint forever. */
function taintEvictionMs(taint: DeviceTaint, tolerations: readonly DeviceToleration[]): number | undefined {
  const addedMs = parseTime(taint.timeAdded ?? "");
  const seconds = tolerations.filter((toleration) => tolerates(toleration, taint)).map(({ tolerationSeconds }) => tolerationSeconds);
  if (addedMs === undefined || seconds.includes(undefined)) return undefined;
  return addedMs + Math.max(0, earliest(seconds) ?? 0) * 1_000;
}

/** Unlike a Node's, an empty effect does not tolerate evictions, as upstream. */
function tolerates({ key = "", operator = "Equal", value = "", effect }: DeviceToleration, taint: DeviceTaint): boolean {
  if (effect !== taint.effect || (key !== "" && key !== taint.key)) return false;
  return operator === "Exists" || value === (taint.value ?? "");
}
