/** Which Pods need the volume of a claim. Not here: when a claim may be deleted, for which more Pods count (persistent-volume-claim-protection). */
import { isTerminal } from "../../api/core/v1/pod/readiness.ts";
import { volumeClaimName } from "../../api/core/v1/pod/references.ts";
import type { ContainerStatus, PersistentVolumeClaim, Pod } from "../../api/generated/core/v1.ts";
import { controllerReference } from "../runtime/keys.ts";

/** A claim of an ephemeral volume counts only for the Pod that owns it. Both are in the same namespace. */
export function refersToClaim(pod: Pod, claim: PersistentVolumeClaim): boolean {
  return (pod.spec?.volumes ?? []).some((volume) => {
    if (volumeClaimName(pod.metadata.name, volume) !== claim.metadata.name) return false;
    return volume.ephemeral === undefined || controllerReference(claim)?.uid === pod.metadata.uid;
  });
}

/** As upstream: it has ended, or it is terminating and none of its containers runs. */
export function isTerminated(pod: Pod): boolean {
  if (isTerminal(pod)) return true;
  if (pod.metadata.deletionTimestamp === undefined) return false;
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = pod.status ?? {};
  return [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses].every(isStopped);
}

function isStopped({ state }: ContainerStatus): boolean {
  return state?.terminated !== undefined || state?.waiting !== undefined;
}
