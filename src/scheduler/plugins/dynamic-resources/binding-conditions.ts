/** Conditions that drivers set when a device is ready for the Pod, or failed: binding waits for them. Pure. */
import type { AllocatedDeviceStatus, DeviceRequestAllocationResult, ResourceClaim } from "../../../api/generated/resource.k8s.io/v1.ts";
import { parseTime } from "../../../api/machinery/time.ts";

export type Readiness = { readonly is: "ready" } | { readonly is: "waiting" } | { readonly is: "failed"; readonly message: string };

const READY: Readiness = { is: "ready" };
const WAITING: Readiness = { is: "waiting" };

/** A claim without binding conditions is ready once it is allocated. */
export function readinessOf({ metadata, status }: ResourceClaim): Readiness {
  if (status?.allocation === undefined) return WAITING;
  for (const result of resultsWithConditions(status.allocation.devices?.results)) {
    const device = status.devices?.find((each) => isSameDevice(each, result));
    if (device === undefined) return WAITING;
    const { conditions = [] } = device;
    const isTrue = (type: string) => conditions.some((condition) => condition.type === type && condition.status === "True");
    const failed = result.bindingFailureConditions?.find(isTrue);
    if (failed !== undefined) {
      const { reason = "", message = "" } = conditions.find(({ type }) => type === failed) ?? {};
      const details = `claim=${metadata.name}, reason=${reason}, message=${JSON.stringify(message)}`;
      return { is: "failed", message: `device binding failed: ${details}` };
    }
    if (result.bindingConditions?.every(isTrue) !== true) return WAITING;
  }
  return READY;
}

export function hasBindingConditions({ status }: ResourceClaim): boolean {
  return resultsWithConditions(status?.allocation?.devices?.results).length > 0;
}

/** Whether it waits for longer than it may. */
export function isOverdue(claim: ResourceClaim, timeoutMs: number, nowMs: number): boolean {
  const allocatedAt = claim.status?.allocation?.allocationTimestamp;
  return allocatedAt !== undefined && hasBindingConditions(claim) && (parseTime(allocatedAt) ?? nowMs) + timeoutMs < nowMs;
}

function resultsWithConditions(results: readonly DeviceRequestAllocationResult[] = []): readonly DeviceRequestAllocationResult[] {
  return results.filter(({ bindingConditions = [] }) => bindingConditions.length > 0);
}

function isSameDevice(a: AllocatedDeviceStatus, b: DeviceRequestAllocationResult): boolean {
  return a.device === b.device && a.driver === b.driver && a.pool === b.pool;
}
