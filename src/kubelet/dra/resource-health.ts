/** Health of the devices of a container in its status (`allocatedResourcesStatus`), one entry per claim or request that it uses. Pure. */
import { claimReferenceOf } from "../../api/core/v1/pod/claim-reference.ts";
import type { Container, Pod, ResourceHealth, ResourceStatus } from "../../api/generated/core/v1.ts";
import type { ClaimState } from "./claim-states.ts";
import type { DeviceHealth } from "./device-health.ts";
import { isFor } from "./used-requests.ts";

export interface ResourceHealthView {
  /** Undefined if the claim is not prepared. */
  claim(name: string): ClaimState | undefined;
  readonly health: Pick<DeviceHealth, "of">;
}

/** Empty if no claim of the container has devices. */
export function resourceHealth(pod: Pod, container: Container, { claim: stateOf, health }: ResourceHealthView): readonly ResourceStatus[] {
  const statuses = new Map<string, readonly ResourceHealth[]>();
  for (const { name, request = "" } of container.resources?.claims ?? []) {
    const entry = pod.spec?.resourceClaims?.find((each) => each.name === name);
    const reference = entry === undefined ? undefined : claimReferenceOf(pod, entry);
    if (reference === undefined || "problem" in reference || reference.name === undefined) continue;
    const devices = devicesOf(stateOf(reference.name), request, health);
    if (devices.length > 0) statuses.set(request === "" ? `claim:${name}` : `claim:${name}/${request}`, devices);
  }
  return Array.from(statuses, ([name, resources]) => ({ name, resources }));
}

/** One entry per resource id: several devices may share one. */
function devicesOf(state: ClaimState | undefined, request: string, health: Pick<DeviceHealth, "of">): readonly ResourceHealth[] {
  const found = new Map<string, ResourceHealth>();
  for (const [driver, devices] of Object.entries(state?.drivers ?? {})) {
    for (const device of devices) {
      if (!isFor(device, request)) continue;
      const resourceID = device.cdiDeviceIds[0] ?? `${driver}/${device.poolName}/${device.deviceName}`;
      const { health: is, message } = health.of(driver, device);
      if (!found.has(resourceID)) found.set(resourceID, { resourceID, health: is, ...(message === "" ? {} : { message }) });
    }
  }
  return [...found.values()];
}
