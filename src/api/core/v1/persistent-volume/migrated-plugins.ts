/**
 * In-tree volume plugins that CSI drivers have replaced: upstream migrates them unconditionally, so that their volumes and classes are
 * handled by the driver of this name, which must be installed. Pure.
 */
import type { PersistentVolumeSource } from "../../../generated/core/v1.ts";

/** Volumes in Pods have these fields, too. */
type MigratedSourceField = keyof Pick<
  PersistentVolumeSource,
  "awsElasticBlockStore" | "gcePersistentDisk" | "azureDisk" | "azureFile" | "cinder" | "vsphereVolume" | "portworxVolume"
>;

/** A plugin that was part of Kubernetes. */
interface MigratedPlugin {
  /** Field of a volume's source. */
  readonly source: MigratedSourceField;
  /** Name as a provisioner. */
  readonly plugin: string;
  readonly driver: string;
}

export const MIGRATED_PLUGINS: readonly MigratedPlugin[] = [
  { source: "awsElasticBlockStore", plugin: "kubernetes.io/aws-ebs", driver: "ebs.csi.aws.com" },
  { source: "gcePersistentDisk", plugin: "kubernetes.io/gce-pd", driver: "pd.csi.storage.gke.io" },
  { source: "azureDisk", plugin: "kubernetes.io/azure-disk", driver: "disk.csi.azure.com" },
  { source: "azureFile", plugin: "kubernetes.io/azure-file", driver: "file.csi.azure.com" },
  { source: "cinder", plugin: "kubernetes.io/cinder", driver: "cinder.csi.openstack.org" },
  { source: "vsphereVolume", plugin: "kubernetes.io/vsphere-volume", driver: "csi.vsphere.vmware.com" },
  { source: "portworxVolume", plugin: "kubernetes.io/portworx-volume", driver: "pxd.portworx.com" },
];

const DRIVERS: ReadonlyMap<string, string> = new Map(MIGRATED_PLUGINS.map(({ plugin, driver }) => [plugin, driver]));

/** The CSI driver that replaces an in-tree provisioner; undefined if none does. */
export function migratedDriver(plugin: string): string | undefined {
  return DRIVERS.get(plugin);
}
