/**
 * The condition Unused of a claim: whether no Pod uses it, and since when. Behind the gate PersistentVolumeClaimUnusedSinceTime, as upstream.
 * A Pod counts as soon as it refers to the claim, and until it has ended.
 */
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { volumeClaimNames } from "../../api/core/v1/pod/references.ts";
import type { PersistentVolumeClaim, PersistentVolumeClaimCondition, Pod } from "../../api/generated/core/v1.ts";
import { formatTime } from "../../api/machinery/time.ts";
import type { Change, Pass, WorkKey } from "../runtime/controller.ts";
import { objectText } from "../runtime/keys.ts";
import { isTerminated, refersToClaim } from "../shared/claim-users.ts";
import { podsByClaim } from "../shared/pods-by-claim.ts";

/** Kind of work keys of single claims. */
export const UNUSED_KEY = "unused";

const UNUSED = "Unused";

export function unusedKeysOfClaim({ is, object }: Change<PersistentVolumeClaim>): readonly WorkKey[] {
  if (is === "deleted" || object.metadata.deletionTimestamp !== undefined) return [];
  return [unusedKey(object.metadata.namespace ?? "", object.metadata.name)];
}

/** Those of the Pod's claims. */
export function unusedKeysOfPod({ object, previous }: Change<Pod>): readonly WorkKey[] {
  if (previous !== undefined && previous.metadata.uid === object.metadata.uid && isTerminated(previous) === isTerminated(object)) return [];
  return [...volumeClaimNames(object)].map((name) => unusedKey(object.metadata.namespace ?? "", name));
}

function unusedKey(namespace: string, name: string): WorkKey {
  return { kind: UNUSED_KEY, namespace, name };
}

export async function reportUnused({ namespace, name }: WorkKey, { read, write, clock }: Pass): Promise<void> {
  const claim = read.get(persistentVolumeClaims, { namespace, name });
  if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return;
  const users = read.indexed(podsByClaim, objectText(claim.metadata));
  const isUsed = users.some((pod) => !isTerminated(pod) && refersToClaim(pod, claim));
  const conditions = claim.status?.conditions ?? [];
  const status = isUsed ? "False" : "True";
  if (conditions.find(({ type }) => type === UNUSED)?.status === status) return;
  const said = isUsed
    ? { reason: "PodUsingPVC", message: "A pod is currently referencing this PVC" }
    : { reason: "NoPodsUsingPVC", message: "No pods are currently referencing this PVC" };
  const next: PersistentVolumeClaimCondition = { type: UNUSED, status, lastTransitionTime: formatTime(clock.now()), ...said };
  const others = conditions.filter(({ type }) => type !== UNUSED);
  await write.updateStatus(persistentVolumeClaims, { ...claim, status: { ...claim.status, conditions: [...others, next] } });
}
