/** Which nodes need a volume, and whether it is attached at all: what Pods, claims, volumes and drivers say. */
import { nodes } from "../../api/core/v1/node.ts";
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { volumeClaimName } from "../../api/core/v1/pod/references.ts";
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from "../../api/generated/core/v1.ts";
import { csiDrivers } from "../../api/storage.k8s.io/v1/csi-driver.ts";
import type { CsiVolumeId } from "../../api/storage.k8s.io/v1/volume-attachment/attachment-name.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { objectText } from "../runtime/keys.ts";
import { isTerminated, refersToClaim } from "../shared/claim-users.ts";
import { podsByClaim } from "../shared/pods-by-claim.ts";
import { attachableVolume, inlineKeys, podsByInlineVolume, type AttachableVolume } from "./attachable-volumes.ts";

/** On a Node: its volumes are attached by this controller. */
const MANAGED = "volumes.kubernetes.io/controller-managed-attach-detach";

export function isManaged({ metadata }: Node): boolean {
  return Object.hasOwn(metadata.annotations ?? {}, MANAGED);
}

/** Undefined if the volume is not attached: its driver does not attach. */
export function attachableId({ object: { spec } }: AttachableVolume, read: Reader): CsiVolumeId | undefined {
  const { driver, volumeHandle } = spec?.csi ?? {};
  if (driver === undefined || volumeHandle === undefined) return undefined;
  // Without a CSIDriver the default holds.
  const isAttached = read.get(csiDrivers, { name: driver })?.spec.attachRequired ?? true;
  return isAttached ? { driver, handle: volumeHandle } : undefined;
}

/** Several nodes may have it. One that says nothing about it is left to the driver. */
export function isShared({ object: { spec } }: AttachableVolume): boolean {
  const modes = spec?.accessModes ?? [];
  return modes.length === 0 || modes.includes("ReadWriteMany") || modes.includes("ReadOnlyMany");
}

/** Pods that need the volume on their node, by node. */
export function podsByNeedingNode(volume: AttachableVolume, read: Reader): ReadonlyMap<string, readonly Pod[]> {
  const found = new Map<string, Pod[]>();
  for (const pod of volume.isInline ? read.indexed(podsByInlineVolume, volume.key) : podsOfClaim(volume.object, read)) {
    const nodeName = neededOn(pod);
    const node = nodeName === undefined ? undefined : read.get(nodes, { name: nodeName });
    if (nodeName === undefined || node === undefined || !isManaged(node)) continue;
    const others = found.get(nodeName);
    if (others === undefined) found.set(nodeName, [pod]);
    else others.push(pod);
  }
  return found;
}

function podsOfClaim(volume: PersistentVolume, read: Reader): readonly Pod[] {
  const { namespace, name = "", uid } = volume.spec?.claimRef ?? {};
  const claim = name === "" ? undefined : read.get(persistentVolumeClaims, { namespace, name });
  if (claim === undefined || claim.metadata.uid !== uid || !isBoundTo(claim, volume)) return [];
  return read.indexed(podsByClaim, objectText(claim.metadata)).filter((pod) => refersToClaim(pod, claim));
}

function isBoundTo({ spec, status }: PersistentVolumeClaim, { metadata }: PersistentVolume): boolean {
  return status?.phase === "Bound" && spec?.volumeName === metadata.name;
}

/** The node that must have the Pod's volumes; undefined if none must. */
export function neededOn(pod: Pod): string | undefined {
  const { nodeName = "" } = pod.spec ?? {};
  return nodeName === "" || isTerminated(pod) ? undefined : nodeName;
}

/** Keys of the volumes that the Pod's claims are bound to, and of those that it names itself. */
export function* volumesOf(pod: Pod, read: Reader): Iterable<string> {
  yield* inlineKeys(pod);
  const { namespace, name: podName } = pod.metadata;
  for (const volume of pod.spec?.volumes ?? []) {
    const name = volumeClaimName(podName, volume);
    const claim = name === undefined ? undefined : read.get(persistentVolumeClaims, { namespace, name });
    const { volumeName = "" } = claim?.spec ?? {};
    if (volumeName !== "" && attachableVolume(volumeName, read) !== undefined) yield volumeName;
  }
}
