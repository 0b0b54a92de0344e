/**
 * In-tree volumes that a CSI driver handles instead. On a node whose CSINode lists the plugin as migrated, such a volume counts against
 * the driver's limit, and its zone is the driver's topology label.
 */
import { MIGRATED_PLUGINS } from "../../../api/core/v1/persistent-volume/migrated-plugins.ts";
import type { NodeSelector, NodeSelectorRequirement, PersistentVolume, Volume } from "../../../api/generated/core/v1.ts";
import type { CSINode } from "../../../api/generated/storage.k8s.io/v1.ts";
import { REGION_LABEL, REGION_LABEL_BETA, ZONE_LABEL, ZONE_LABEL_BETA } from "./zone-labels.ts";

export const MIGRATED_PLUGINS_ANNOTATION = "storage.alpha.kubernetes.io/migrated-plugins";

/** Volumes of the others are not translated by the scheduler. */
const TRANSLATED = new Set([
  "kubernetes.io/aws-ebs",
  "kubernetes.io/gce-pd",
  "kubernetes.io/azure-disk",
  "kubernetes.io/cinder",
  "kubernetes.io/portworx-volume",
]);

/** The drivers' labels for the zone of a node. */
const TOPOLOGY_KEYS: ReadonlyMap<string, string> = new Map([
  ["kubernetes.io/aws-ebs", "topology.ebs.csi.aws.com/zone"],
  ["kubernetes.io/gce-pd", "topology.gke.io/zone"],
  ["kubernetes.io/azure-disk", "topology.disk.csi.azure.com/zone"],
  ["kubernetes.io/cinder", "topology.cinder.csi.openstack.org/zone"],
]);

/** What volumes in Pods and PersistentVolumes have in common. */
interface InTreeSource {
  readonly awsElasticBlockStore?: { readonly volumeID: string };
  readonly gcePersistentDisk?: { readonly pdName: string };
  readonly azureDisk?: { readonly diskURI: string };
  readonly azureFile?: { readonly secretName: string; readonly shareName: string };
  readonly cinder?: { readonly volumeID: string };
  readonly vsphereVolume?: { readonly volumePath: string };
  readonly portworxVolume?: { readonly volumeID: string };
}

export interface MigratedVolume {
  readonly plugin: string;
  readonly driver: string;
  /** Identifies the volume to the driver. */
  readonly handle: string;
}

/** The driver's view of an in-tree volume; undefined if no driver replaces its plugin. */
export function migratedVolume({ spec, metadata }: PersistentVolume): MigratedVolume | undefined {
  return spec === undefined ? undefined : migrated(spec, metadata.labels?.[ZONE_LABEL] ?? metadata.labels?.[ZONE_LABEL_BETA]);
}

/** The same for a volume in a Pod. */
export function migratedInlineVolume(volume: Volume): MigratedVolume | undefined {
  return migrated(volume, undefined);
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

function migrated(source: InTreeSource, zone: string | undefined): MigratedVolume | undefined {
  for (const { source: field, plugin, driver } of MIGRATED_PLUGINS) {
    if (source[field as keyof InTreeSource] !== undefined) return { plugin, driver, handle: handleOf(source, zone) };
  }
  return undefined;
}

function handleOf(source: InTreeSource, zone: string | undefined): string {
  const { awsElasticBlockStore, gcePersistentDisk, azureDisk, azureFile, cinder, vsphereVolume, portworxVolume } = source;
  if (awsElasticBlockStore !== undefined) return awsElasticBlockStore.volumeID.replace(/^aws:\/\/[^/]*\/+/, "");
  if (gcePersistentDisk !== undefined) return `projects/UNSPECIFIED/zones/${zone ?? "UNSPECIFIED"}/disks/${gcePersistentDisk.pdName}`;
  if (azureFile !== undefined) return `${azureFile.secretName}#${azureFile.shareName}`;
  return azureDisk?.diskURI ?? cinder?.volumeID ?? vsphereVolume?.volumePath ?? portworxVolume?.volumeID ?? "";
}

/** The node affinity of a volume of a migrated plugin, in the labels of its driver. */
export function translatedAffinity({ metadata, spec }: PersistentVolume, plugin: string): NodeSelector | undefined {
  const required = spec?.nodeAffinity?.required;
  const topologyKey = TOPOLOGY_KEYS.get(plugin);
  if (topologyKey === undefined) return required;
  const zoneLabel = zoneLabelOf(required, metadata.labels);
  const translated = hasKey(required, zoneLabel)
    ? renamed(required, zoneLabel, topologyKey)
    : withZones(required, topologyKey, metadata.labels?.[zoneLabel]);
  return zoneLabel === ZONE_LABEL_BETA ? renamed(translated, REGION_LABEL_BETA, REGION_LABEL) : translated;
}

/** The affinity decides, then the labels. */
function zoneLabelOf(required: NodeSelector | undefined, labels: Readonly<Record<string, string>> = {}): string {
  if (hasKey(required, ZONE_LABEL)) return ZONE_LABEL;
  if (hasKey(required, ZONE_LABEL_BETA)) return ZONE_LABEL_BETA;
  return labels[ZONE_LABEL] === undefined && labels[ZONE_LABEL_BETA] !== undefined ? ZONE_LABEL_BETA : ZONE_LABEL;
}

function hasKey(selector: NodeSelector | undefined, key: string): boolean {
  return selector?.nodeSelectorTerms.some(({ matchExpressions = [] }) => matchExpressions.some((each) => each.key === key)) ?? false;
}

function renamed(selector: NodeSelector | undefined, from: string, to: string): NodeSelector | undefined {
  if (selector === undefined) return undefined;
  const nodeSelectorTerms = selector.nodeSelectorTerms.map(({ matchExpressions, ...term }) => ({
    ...term,
    ...(matchExpressions && { matchExpressions: matchExpressions.map((each) => (each.key === from ? { ...each, key: to } : each)) }),
  }));
  return { nodeSelectorTerms };
}

/** "a__b": a volume that is replicated over both zones. */
function withZones(selector: NodeSelector | undefined, key: string, zones: string | undefined): NodeSelector | undefined {
  if (zones === undefined) return selector;
  const requirement: NodeSelectorRequirement = { key, operator: "In", values: zones.split("__") };
  const terms = selector?.nodeSelectorTerms ?? [{}];
  return {
    nodeSelectorTerms: terms.map((term) => ({ ...term, matchExpressions: [...(term.matchExpressions ?? []), requirement] })),
  };
}
