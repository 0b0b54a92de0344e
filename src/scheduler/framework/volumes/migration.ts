/**
 * In-tree volumes that a CSI driver handles instead. On a node whose CSINode lists the plugin as migrated, such a volume counts against
 * the driver's limit, and its zone is the driver's topology label.
 */
import { migratedInlineSource, migratedSource, type MigratedSource } from "../../../api/core/v1/persistent-volume/csi-source.ts";
import type { PersistentVolume, Volume } from "../../../api/generated/core/v1.ts";
import type { CSINode } from "../../../api/generated/storage.k8s.io/v1.ts";

export const MIGRATED_PLUGINS_ANNOTATION = "storage.alpha.kubernetes.io/migrated-plugins";

/** Volumes of the others are not translated by the scheduler. */
const TRANSLATED = new Set([
  "kubernetes.io/aws-ebs",
  "kubernetes.io/gce-pd",
  "kubernetes.io/azure-disk",
  "kubernetes.io/cinder",
  "kubernetes.io/portworx-volume",
]);

export interface MigratedVolume {
  readonly plugin: string;
  readonly driver: string;
  /** Identifies the volume to the driver. */
  readonly handle: string;
}

/** The driver's view of an in-tree volume; undefined if no driver replaces its plugin, or if its driver has no such volumes. */
export function migratedVolume(volume: PersistentVolume): MigratedVolume | undefined {
  return identityOf(migratedSource(volume));
}

/** The same for a volume in a Pod. */
export function migratedInlineVolume(volume: Volume): MigratedVolume | undefined {
  // The namespace is a part of the handles of Azure files only, which the scheduler does not count.
  return identityOf(migratedInlineSource(volume, ""));
}

function identityOf(migrated: MigratedSource | undefined): MigratedVolume | undefined {
  if (migrated === undefined || "problem" in migrated) return undefined;
  const { plugin, csi } = migrated;
  return { plugin, driver: csi.driver, handle: csi.volumeHandle };
}

/** Whether a plugin's volumes are handled by its driver on every node with a CSINode. */
export function isTranslated(plugin: string): boolean {
  return TRANSLATED.has(plugin);
}

/** Whether the kubelet of the node has migrated the plugin. */
export function isMigratedOn(csiNode: CSINode | undefined, plugin: string): boolean {
  const names = csiNode?.metadata.annotations?.[MIGRATED_PLUGINS_ANNOTATION];
  // Hot path (called per node): most nodes list none, or exactly one.
  return names !== undefined && (names === plugin || names.split(",").includes(plugin));
}
