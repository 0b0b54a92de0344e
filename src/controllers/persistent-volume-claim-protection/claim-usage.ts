/**
 * Whether a Pod uses a claim, so that its volume must not be deleted. A completed Pod still does: its node may not have released the
 * volume. One without a node does not: no kubelet starts a Pod whose claim is terminating.
 */
import type { PersistentVolumeClaim, Pod } from "../../api/generated/core/v1.ts";
import { volumeClaimName } from "../../api/core/v1/pod/references.ts";
import { controllerReference } from "../runtime/keys.ts";

/** Both are in the same namespace. */
export function podUsesClaim(pod: Pod, claim: PersistentVolumeClaim): boolean {
  const { nodeName = "", volumes = [] } = pod.spec ?? {};
  if (nodeName === "") return false;
  return volumes.some((volume) => {
    if (volumeClaimName(pod.metadata.name, volume) !== claim.metadata.name) return false;
    return volume.persistentVolumeClaim !== undefined || (isMadeFor(claim, pod) && !isShutDown(pod));
  });
}

/** A foreign claim may have the name that a Pod's own would get; the Pod does not use that. */
function isMadeFor(claim: PersistentVolumeClaim, { metadata }: Pod): boolean {
  return controllerReference(claim)?.uid === metadata.uid;
}

/**
 * The kubelet is done with it, or none exists. Its own claims may be deleted before it: it may itself be held by a finalizer that waits
 * for them.
 */
function isShutDown({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
}
