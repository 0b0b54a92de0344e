/** The write strategy of the status: the driver status of deallocated devices is removed. */
import type { ResourceClaimStatus } from "../../../generated/resource.k8s.io/v1.ts";
import { without } from "../../../members.ts";
import { sharedDeviceKey } from "./shared-device.ts";

export function withoutDeallocated(next: ResourceClaimStatus, previous: ResourceClaimStatus): ResourceClaimStatus {
  const deallocated = new Set((previous.allocation?.devices?.results ?? []).map(sharedDeviceKey));
  for (const result of next.allocation?.devices?.results ?? []) deallocated.delete(sharedDeviceKey(result));
  const devices = (next.devices ?? []).filter((device) => !deallocated.has(sharedDeviceKey(device)));
  if (devices.length === 0) return without(next, "devices");
  return devices.length === next.devices?.length ? next : { ...next, devices };
}
