/**
 * Marks claims and volumes of in-tree plugins that CSI drivers have replaced with the driver's name, and keeps the finalizers of
 * provisioned volumes as upstream has them. Pure.
 */
import {
  annotationOf,
  MIGRATED_TO,
  PROVISIONED_BY,
  STORAGE_PROVISIONER,
  STORAGE_PROVISIONER_BETA,
  withAnnotations,
} from "../../api/core/v1/persistent-volume/binding.ts";
import { migratedDriver } from "../../api/core/v1/persistent-volume/migrated-plugins.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/core/v1.ts";

/** Finalizer of volumes that an in-tree plugin must delete. */
const IN_TREE_FINALIZER = "kubernetes.io/pv-controller";
/** Finalizer of the external provisioner. */
const EXTERNAL_FINALIZER = "external-provisioner.volume.kubernetes.io/finalizer";
const IN_TREE_PREFIX = "kubernetes.io/";

/** Itself if nothing changes. */
export function migratedClaim(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const provisioner = annotationOf(claim, STORAGE_PROVISIONER) ?? annotationOf(claim, STORAGE_PROVISIONER_BETA);
  return provisioner === undefined ? claim : withAnnotations(claim, { [MIGRATED_TO]: migratedDriver(provisioner) });
}

/** Itself if nothing changes. */
export function migratedVolume(volume: PersistentVolume): PersistentVolume {
  const provisioner = annotationOf(volume, PROVISIONED_BY);
  if (provisioner === undefined) return volume;
  const marked = withAnnotations(volume, { [MIGRATED_TO]: migratedDriver(provisioner) });
  const before = marked.metadata.finalizers ?? [];
  const finalizers = finalizersOf(before, provisioner, volume.spec?.persistentVolumeReclaimPolicy);
  const isSame = finalizers.length === before.length && finalizers.every((finalizer) => before.includes(finalizer));
  return isSame ? marked : { ...marked, metadata: { ...marked.metadata, finalizers } };
}

function finalizersOf(before: readonly string[], provisioner: string, policy: string | undefined): readonly string[] {
  if (migratedDriver(provisioner) !== undefined) return before.filter((finalizer) => finalizer !== IN_TREE_FINALIZER);
  if (!provisioner.startsWith(IN_TREE_PREFIX)) return before;
  const others = before.filter((finalizer) => finalizer !== IN_TREE_FINALIZER && finalizer !== EXTERNAL_FINALIZER);
  return policy === "Delete" ? [...others, IN_TREE_FINALIZER] : others;
}
