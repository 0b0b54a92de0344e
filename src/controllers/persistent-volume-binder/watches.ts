/** Which claims and volumes a change concerns. Keys carry their kind, since both are reconciled. */
import { BIND_COMPLETED, hasAnnotation } from "../../api/core/v1/persistent-volume/binding.ts";
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import { isTerminal } from "../../api/core/v1/pod/readiness.ts";
import { volumeClaimNames } from "../../api/core/v1/pod/references.ts";
import type { PersistentVolume, PersistentVolumeClaim, Pod } from "../../api/generated/core/v1.ts";
import type { StorageClass } from "../../api/generated/storage.k8s.io/v1.ts";
import { defineIndex } from "../../client/informer/index.ts";
import type { ObjectKey } from "../../client/client.ts";
import type { Reader } from "../../client/informer/informer.ts";
import type { Change, WorkKey } from "../runtime/controller.ts";
import { kindName, objectText } from "../runtime/keys.ts";
import { groupOfClaim } from "./available-volumes.ts";
import { recycledVolume } from "./recycler-pod.ts";

export const VOLUME = kindName(persistentVolumes);
const CLAIM = kindName(persistentVolumeClaims);

export function claimKey({ namespace, name }: ObjectKey): WorkKey {
  return { kind: CLAIM, namespace, name };
}

export function volumeKey(name: string): WorkKey {
  return { kind: VOLUME, name };
}

/** Volumes by the claim ("namespace/name") that they reference. */
export const volumesByClaim = defineIndex(persistentVolumes, ({ spec }) => {
  const claimRef = spec?.claimRef;
  return claimRef === undefined ? [] : [objectText({ namespace: claimRef.namespace, name: claimRef.name ?? "" })];
});

/** Claims by the volume that they name. */
export const claimsByVolume = defineIndex(persistentVolumeClaims, ({ spec }) => (spec?.volumeName ? [spec.volumeName] : []));

/** Claims that may get any volume, by what it must match. */
export const claimsWithoutVolume = defineIndex(persistentVolumeClaims, (claim) => (isWithoutVolume(claim) ? [groupOfClaim(claim)] : []));

/** The same, all of them. */
const allWithoutVolume = defineIndex(persistentVolumeClaims, (claim) => (isWithoutVolume(claim) ? ["all"] : []));

export function isWithoutVolume(claim: PersistentVolumeClaim): boolean {
  return (claim.spec?.volumeName ?? "") === "" && !hasAnnotation(claim, BIND_COMPLETED);
}

/** Itself, and the claim that it references: one may complete, lose or regain its volume. */
export function* keysOfVolume({ object: { metadata, spec } }: Change<PersistentVolume>): Iterable<WorkKey> {
  yield volumeKey(metadata.name);
  const claimRef = spec?.claimRef;
  if (claimRef?.name !== undefined && claimRef.namespace !== undefined) {
    yield claimKey({ namespace: claimRef.namespace, name: claimRef.name });
  }
}

/** Itself, and the volumes that its deletion, or another choice of volume, releases. */
export function* keysOfClaim({ is, object, previous }: Change<PersistentVolumeClaim>, read: Reader): Iterable<WorkKey> {
  yield claimKey(object.metadata);
  const before = previous?.spec?.volumeName;
  if (is === "updated" && before === object.spec?.volumeName && previous?.metadata.uid === object.metadata.uid) return;
  if (before !== undefined && before !== "") yield volumeKey(before);
  for (const { metadata } of read.indexed(volumesByClaim, objectText(object.metadata))) yield volumeKey(metadata.name);
}

/** Claims that wait: a class may provision for them, become their default, or be gone. */
export function* keysOfClass(_change: Change<StorageClass>, read: Reader): Iterable<WorkKey> {
  for (const { metadata } of read.indexed(allWithoutVolume, "all")) yield claimKey(metadata);
}

/**
 * Claims that wait for a Pod: it appears, gets a node, or is deleted. Volumes that wait for a Pod: the one that empties them changes, or the last one
 * that uses them ends.
 */
export function* keysOfPod({ is, object, previous }: Change<Pod>, read: Reader): Iterable<WorkKey> {
  const recycled = recycledVolume(object.metadata);
  if (recycled !== undefined) yield volumeKey(recycled);
  if (is === "deleted" || isTerminal(object)) yield* releasedVolumesOf(object, read);
  if (is === "updated" && previous?.spec?.nodeName === object.spec?.nodeName) return;
  const { namespace } = object.metadata;
  for (const name of volumeClaimNames(object)) {
    const claim = read.get(persistentVolumeClaims, { namespace, name });
    if (claim !== undefined && isWithoutVolume(claim)) yield claimKey(claim.metadata);
  }
}

function* releasedVolumesOf(pod: Pod, read: Reader): Iterable<WorkKey> {
  const { namespace } = pod.metadata;
  for (const name of volumeClaimNames(pod))
    for (const { metadata, spec, status } of read.indexed(volumesByClaim, objectText({ namespace, name })))
      if (spec?.persistentVolumeReclaimPolicy === "Recycle" && status?.phase === "Released") yield volumeKey(metadata.name);
}
