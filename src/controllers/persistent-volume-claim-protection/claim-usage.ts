/**
 * Whether a Pod uses a claim, so that its volume must not go. A Pod that has ended still does: its node may not have let go of the volume.
 * One that has no node yet does not: no kubelet starts a Pod whose claim is going.
 */
import type { PersistentVolumeClaim, Pod } from "../../api/generated/core/v1.ts";
import { volumeClaimName } from "../../api/core/v1/pod/references.ts";
import { controllerReference } from "../runtime/keys.ts";

/** Both are of one namespace. */
export function podUsesClaim(pod: Pod, claim: PersistentVolumeClaim): boolean {
  const { nodeName = "", volumes = [] } = pod.spec ?? {};
  if (nodeName === "") return false;
  return volumes.some((volume) => {
    if (volumeClaimName(pod.metadata.name, volume) !== claim.metadata.name) return false;
    return volume.persistentVolumeClaim !== undefined || (isMadeFor(claim, pod) && !isShutDown(pod));
  });
}

/** Somebody else's claim may have the name that a Pod's own would get; the Pod does not use that. */
function isMadeFor(claim: PersistentVolumeClaim, { metadata }: Pod): boolean {
  return controllerReference(claim)?.uid === metadata.uid;
}

/**
 * The kubelet is done with it, or nobody waits for one. Its own claims may go before it: it may itself be held by a finalizer of somebody
 * who waits for them.
 */
function isShutDown({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
}
