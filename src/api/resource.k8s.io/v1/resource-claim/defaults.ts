/** Defaults of a claim: one device per request, and tolerations with the operator Equal. */
import { changed, changedItems, withChanges } from "../../../changes.ts";
import type {
  DeviceRequest,
  DeviceRequestAllocationResult,
  DeviceSubRequest,
  DeviceToleration,
  ExactDeviceRequest,
  ResourceClaimSpec,
  ResourceClaimStatus,
} from "../../../generated/resource.k8s.io/v1.ts";
import { listOrAbsent } from "../../../members.ts";

export function defaultClaimSpec(spec: ResourceClaimSpec): ResourceClaimSpec {
  const { devices = {} } = spec;
  const requests = listOrAbsent(changedItems(devices.requests ?? [], defaultRequest));
  return withChanges(spec, { devices: withChanges(devices, { requests }) });
}

export function defaultClaimStatus(status: ResourceClaimStatus): ResourceClaimStatus {
  const allocation = changed(status.allocation, (result) =>
    withChanges(result, {
      devices: changed(result.devices, (devices) => withChanges(devices, { results: changedItems(devices.results, defaultResult) })),
    }),
  );
  return withChanges(status, { allocation });
}

function defaultRequest(request: DeviceRequest): DeviceRequest {
  return withChanges(request, {
    exactly: changed(request.exactly, defaultWanted<ExactDeviceRequest>),
    firstAvailable: changedItems(request.firstAvailable, defaultWanted<DeviceSubRequest>),
  });
}

function defaultWanted<T extends ExactDeviceRequest | DeviceSubRequest>(wanted: T): T {
  const allocationMode = wanted.allocationMode ?? "ExactCount";
  const count = wanted.count ?? (allocationMode === "ExactCount" ? 1 : undefined);
  const tolerations = changedItems(wanted.tolerations, defaultToleration);
  return withChanges<ExactDeviceRequest | DeviceSubRequest>(wanted, { allocationMode, count, tolerations }) as T;
}

function defaultResult(result: DeviceRequestAllocationResult): DeviceRequestAllocationResult {
  return withChanges(result, { tolerations: changedItems(result.tolerations, defaultToleration) });
}

function defaultToleration(toleration: DeviceToleration): DeviceToleration {
  return withChanges(toleration, { operator: toleration.operator ?? "Equal" });
}
