/**
 * The binding between a PersistentVolume and a claim, as the binder, the scheduler and provisioners read and write it: the volume's
 * `claimRef`, the claim's `volumeName`, and annotations that record who made the binding. Pure; not here: which volume is chosen.
 */
import type { PersistentVolume, PersistentVolumeClaim } from "../../../generated/core/v1.ts";
import { scaledValue } from "../../../machinery/quantity.ts";
import { storageClassOf, STORAGE_CLASS_ANNOTATION } from "../persistent-storage.ts";
import { readQuantity } from "../pod/resource-list.ts";

/** On a claim: it was bound completely once. From then on, losing the volume is an error, not a reason to look for another. */
export const BIND_COMPLETED = "pv.kubernetes.io/bind-completed";
/** On a volume or claim: the binder set its reference; without it, a user did. */
export const BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller";
/** On a volume: the provisioner that created it, and that deletes it. */
export const PROVISIONED_BY = "pv.kubernetes.io/provisioned-by";
/** On both: the CSI driver that replaces an in-tree plugin. */
export const MIGRATED_TO = "pv.kubernetes.io/migrated-to";
/** On a claim: the node that the scheduler chose; provisioning begins then. */
export const SELECTED_NODE = "volume.kubernetes.io/selected-node";
/** On a claim: the provisioner that must create its volume. */
export const STORAGE_PROVISIONER = "volume.kubernetes.io/storage-provisioner";
/** The same, for provisioners from before 1.23. */
export const STORAGE_PROVISIONER_BETA = "volume.beta.kubernetes.io/storage-provisioner";
/** Provisioner of classes whose volumes administrators create. */
export const NO_PROVISIONER = "kubernetes.io/no-provisioner";

export function annotationOf({ metadata }: PersistentVolume | PersistentVolumeClaim, name: string): string | undefined {
  const { annotations } = metadata;
  return annotations !== undefined && Object.hasOwn(annotations, name) ? annotations[name] : undefined;
}

export function hasAnnotation(object: PersistentVolume | PersistentVolumeClaim, name: string): boolean {
  return annotationOf(object, name) !== undefined;
}

/** Returns the object with these annotations set; undefined removes one. Itself if nothing changes. */
export function withAnnotations<T extends PersistentVolume | PersistentVolumeClaim>(
  object: T,
  changes: Readonly<Record<string, string | undefined>>,
): T {
  const entries = Object.entries(changes);
  if (entries.every(([name, value]) => annotationOf(object, name) === value)) return object;
  const kept = Object.entries(object.metadata.annotations ?? {}).filter(([name]) => !Object.hasOwn(changes, name));
  const set = entries.filter((entry): entry is [string, string] => entry[1] !== undefined);
  const { annotations: _before, ...metadata } = object.metadata;
  const all = [...kept, ...set];
  return { ...object, metadata: all.length === 0 ? metadata : { ...metadata, annotations: Object.fromEntries(all) } };
}

/** "" if it requests none. */
export function claimClass({ metadata, spec }: PersistentVolumeClaim): string {
  return storageClassOf(metadata, spec?.storageClassName);
}

/** Whether it names a class; "" counts, and opts out of the default. */
export function claimHasClass(claim: PersistentVolumeClaim): boolean {
  return hasAnnotation(claim, STORAGE_CLASS_ANNOTATION) || claim.spec?.storageClassName !== undefined;
}

export function volumeClass({ metadata, spec }: PersistentVolume): string {
  return storageClassOf(metadata, spec?.storageClassName);
}

export function volumeModeOf({ spec }: PersistentVolume | PersistentVolumeClaim): string {
  return spec?.volumeMode ?? "Filesystem";
}

/** Capacity in bytes. */
export function volumeBytes({ spec }: PersistentVolume): bigint {
  return bytesOf(spec?.capacity);
}

/** Requested capacity in bytes. */
export function claimBytes({ spec }: PersistentVolumeClaim): bigint {
  return bytesOf(spec?.resources?.requests);
}

function bytesOf(amounts: Readonly<Record<string, string>> | undefined): bigint {
  return scaledValue(readQuantity(amounts?.["storage"] ?? "0"), 0);
}

/** Whether the volume has all access modes that the claim requests. */
export function hasAccessModes(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const modes = volume.spec?.accessModes ?? [];
  return (claim.spec?.accessModes ?? []).every((mode) => modes.includes(mode));
}

/** Whether the volume is reserved for, or bound to, this claim: by namespace and name, and by uid if it has one. */
export function isBoundToClaim({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const reference = spec?.claimRef;
  if (reference === undefined || reference.name !== metadata.name || reference.namespace !== metadata.namespace) return false;
  return reference.uid === undefined || reference.uid === "" || reference.uid === metadata.uid;
}

/** Returns the volume bound to the claim; itself if it already is. A volume that a user reserved for the claim keeps that fact. */
export function boundToClaim(volume: PersistentVolume, claim: PersistentVolumeClaim): PersistentVolume {
  const marked = isBoundToClaim(volume, claim) || hasAnnotation(volume, BOUND_BY_CONTROLLER) ? volume : byController(volume);
  const { uid = "", namespace = "", name, resourceVersion = "" } = claim.metadata;
  const reference = volume.spec?.claimRef;
  if (reference?.uid === uid && reference.name === name && reference.namespace === namespace) return marked;
  const claimRef = { kind: "PersistentVolumeClaim", apiVersion: "v1", namespace, name, uid, resourceVersion };
  return { ...marked, spec: { ...marked.spec, claimRef } };
}

function byController(volume: PersistentVolume): PersistentVolume {
  return withAnnotations(volume, { [BOUND_BY_CONTROLLER]: "yes" });
}
