/** Which volumes and nodes a change concerns. Keys are volumes (attachable-volumes.ts), even if they no longer exist, and Nodes. */
import { isNodeReady } from "../../api/core/v1/node/health.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import { podsByNode } from "../../api/core/v1/pod/by-node.ts";
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from "../../api/generated/core/v1.ts";
import type { CSIDriver, VolumeAttachment } from "../../api/generated/storage.k8s.io/v1.ts";
import { volumeAttachments } from "../../api/storage.k8s.io/v1/volume-attachment.ts";
import { deepEqual } from "../../base/deep.ts";
import { defineIndex } from "../../client/informer/index.ts";
import type { Reader } from "../../client/informer/informer.ts";
import type { Change, WorkKey } from "../runtime/controller.ts";
import { kindName } from "../runtime/keys.ts";
import { csiVolume, keyOfAttachment } from "./attachable-volumes.ts";
import { isManaged, neededOn, volumesOf } from "./volume-users.ts";

export const NODE = kindName(nodes);
const VOLUME = kindName(persistentVolumes);

export function volumeKey(name: string): WorkKey {
  return { kind: VOLUME, name };
}

export function nodeKey(name: string): WorkKey {
  return { kind: NODE, name };
}

export const attachmentsByNode = defineIndex(volumeAttachments, ({ spec }) => [spec.nodeName]);

const volumesByDriver = defineIndex(persistentVolumes, (volume) => {
  const { driver } = csiVolume(volume)?.spec?.csi ?? {};
  return driver === undefined ? [] : [driver];
});

/** Hot path (called for every version of every Pod): most Pods have no claims. */
export function* keysOfPod({ is, object, previous }: Change<Pod>, read: Reader): Iterable<WorkKey> {
  if (is === "updated" && previous !== undefined && neededOn(previous) === neededOn(object)) return;
  for (const name of volumesOf(object, read)) yield volumeKey(name);
}

export function* keysOfClaim({ object: { spec } }: Change<PersistentVolumeClaim>): Iterable<WorkKey> {
  if (spec?.volumeName !== undefined && spec.volumeName !== "") yield volumeKey(spec.volumeName);
}

export function* keysOfVolume({ object }: Change<PersistentVolume>): Iterable<WorkKey> {
  if (csiVolume(object) !== undefined) yield volumeKey(object.metadata.name);
}

export function* keysOfAttachment({ object }: Change<VolumeAttachment>): Iterable<WorkKey> {
  const volume = keyOfAttachment(object);
  if (volume !== undefined) yield volumeKey(volume);
  yield nodeKey(object.spec.nodeName);
}

/** Volumes that wait for the node to unmount them, to become unhealthy, or to be managed. Heartbeats concern none. */
export function* keysOfNode({ is, object, previous }: Change<Node>, read: Reader): Iterable<WorkKey> {
  const { name } = object.metadata;
  const isSame = is === "updated" && previous !== undefined && isSameForVolumes(object, previous);
  if (isSame) return;
  yield nodeKey(name);
  for (const attachment of read.indexed(attachmentsByNode, name)) {
    const volume = keyOfAttachment(attachment);
    if (volume !== undefined) yield volumeKey(volume);
  }
  if (is === "updated" && previous !== undefined && isManaged(object) === isManaged(previous)) return;
  for (const pod of read.indexed(podsByNode, name)) for (const volume of volumesOf(pod, read)) yield volumeKey(volume);
}

function isSameForVolumes(now: Node, before: Node): boolean {
  const { volumesInUse, volumesAttached } = now.status ?? {};
  return (
    deepEqual(volumesInUse, before.status?.volumesInUse) &&
    deepEqual(volumesAttached, before.status?.volumesAttached) &&
    deepEqual(now.spec?.taints, before.spec?.taints) &&
    isNodeReady(now) === isNodeReady(before) &&
    isManaged(now) === isManaged(before)
  );
}

/** A driver says whether its volumes are attached. Volumes that Pods name themselves follow with the next change of a Pod. */
export function* keysOfDriver({ object }: Change<CSIDriver>, read: Reader): Iterable<WorkKey> {
  for (const { metadata } of read.indexed(volumesByDriver, object.metadata.name)) yield volumeKey(metadata.name);
}
