/** Defaults of a claim, also in the claim template of an ephemeral volume. */
import { changed, withChanges } from "../../../changes.ts";
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec, PersistentVolumeClaimStatus } from "../../../generated/core/v1.ts";
import { roundedList, roundedRequirements } from "../pod/defaults/resources.ts";

export function defaultClaim(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  return withChanges(claim, { spec: defaultClaimSpec(claim.spec ?? {}), status: defaultStatus(claim.status ?? {}) });
}

export function defaultClaimSpec(spec: PersistentVolumeClaimSpec): PersistentVolumeClaimSpec {
  return withChanges(spec, {
    volumeMode: spec.volumeMode ?? "Filesystem",
    resources: changed(spec.resources, roundedRequirements),
  });
}

function defaultStatus(status: PersistentVolumeClaimStatus): PersistentVolumeClaimStatus {
  return withChanges(status, {
    phase: status.phase || "Pending",
    capacity: changed(status.capacity, roundedList),
    allocatedResources: changed(status.allocatedResources, roundedList),
  });
}
