/**
 * In-tree volumes as volumes of the CSI drivers that replace their plugins: every component that attaches or mounts one handles the
 * translated volume, so that the driver is used if it is installed, and is named as missing if not. Pure.
 */
import type {
  CSIPersistentVolumeSource,
  NodeSelector,
  NodeSelectorRequirement,
  PersistentVolume,
  PersistentVolumeSpec,
  Volume,
} from "../../../generated/core/v1.ts";
import { REGION_LABEL, REGION_LABEL_BETA, ZONE_LABEL, ZONE_LABEL_BETA } from "../node/zone-labels.ts";
import { migratedInlineSource, migratedSource } from "./csi-source.ts";
import { MIGRATED_PLUGINS } from "./migrated-plugins.ts";

/** A volume of a migrated plugin that its driver has no counterpart for. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

/** The drivers' labels for the zone and, if they have one, the region of a node. Volumes of the others keep their affinity. */
const TOPOLOGY_KEYS: ReadonlyMap<string, { readonly zone: string; readonly region?: string }> = new Map([
  ["kubernetes.io/aws-ebs", { zone: "topology.ebs.csi.aws.com/zone" }],
  ["kubernetes.io/gce-pd", { zone: "topology.gke.io/zone" }],
  ["kubernetes.io/cinder", { zone: "topology.cinder.csi.openstack.org/zone" }],
  ["kubernetes.io/vsphere-volume", { zone: "topology.csi.vmware.com/zone", region: "topology.csi.vmware.com/region" }],
]);

/** Itself if no driver replaces its plugin. Throws a MigrationError. */
export function translatedVolume(volume: PersistentVolume): PersistentVolume {
  const migrated = migratedSource(volume);
  if (migrated === undefined) return volume;
  if ("problem" in migrated) throw untranslatable(migrated.problem);
  const { accessModes, nodeAffinity: _inTree, ...spec } = withoutSource(volume.spec ?? {});
  const required = translatedAffinity(volume, migrated.plugin);
  const modes = migrated.plugin === "kubernetes.io/gce-pd" ? gceAccessModes(accessModes) : accessModes;
  return {
    ...volume,
    spec: {
      ...spec,
      ...(modes === undefined ? {} : { accessModes: modes }),
      ...(required === undefined ? {} : { nodeAffinity: { required } }),
      csi: migrated.csi,
    },
  };
}

/** Undefined if no driver replaces the volume's plugin. Throws a MigrationError. */
export function translatedInlineVolume(volume: Volume, namespace: string): PersistentVolume | undefined {
  const migrated = migratedInlineSource(volume, namespace);
  if (migrated === undefined) return undefined;
  if ("problem" in migrated) throw untranslatable(migrated.problem);
  const { plugin, csi } = migrated;
  const isReadOnly = (volume.gcePersistentDisk ?? volume.portworxVolume)?.readOnly === true;
  const accessMode = plugin === "kubernetes.io/azure-file" ? "ReadWriteMany" : isReadOnly ? "ReadOnlyMany" : "ReadWriteOnce";
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: inlineName(volume, csi) },
    spec: { accessModes: [accessMode], csi, volumeMode: "Filesystem" },
  };
}

/** Upstream's, as events show it. */
function inlineName({ azureDisk, azureFile, gcePersistentDisk }: Volume, { driver, volumeHandle }: CSIPersistentVolumeSource): string {
  return (azureDisk ?? azureFile) === undefined ? `${driver}-${gcePersistentDisk?.pdName ?? volumeHandle}` : volumeHandle;
}

function untranslatable(problem: string): MigrationError {
  return new MigrationError(`failed to translate in-tree pv to CSI: ${problem}`);
}

function withoutSource(spec: PersistentVolumeSpec): PersistentVolumeSpec {
  const sources: ReadonlySet<string> = new Set(MIGRATED_PLUGINS.map(({ source }) => source));
  return Object.fromEntries(Object.entries(spec).filter(([field]) => !sources.has(field)));
}

/** The in-tree plugin attached every disk to one node for writing, whatever its access modes said. The driver would refuse those. */
function gceAccessModes(modes: PersistentVolumeSpec["accessModes"]): PersistentVolumeSpec["accessModes"] {
  if (modes === undefined) return undefined;
  const isReadOnly = modes.length > 0 && modes.every((mode) => mode === "ReadOnlyMany");
  return [isReadOnly ? "ReadOnlyMany" : "ReadWriteOnce"];
}

/** The node affinity of a volume of a migrated plugin, in the labels of its driver. */
export function translatedAffinity({ metadata, spec }: PersistentVolume, plugin: string): NodeSelector | undefined {
  const required = spec?.nodeAffinity?.required;
  const keys = TOPOLOGY_KEYS.get(plugin);
  if (keys === undefined) return required;
  const { labels = {} } = metadata;
  const zoneLabel = zoneLabelOf(required, labels);
  const regionLabel = zoneLabel === ZONE_LABEL_BETA ? REGION_LABEL_BETA : REGION_LABEL;
  const translated = withKey(required, { from: zoneLabel, to: keys.zone, values: labels[zoneLabel] });
  if (keys.region === undefined) return renamed(translated, regionLabel, REGION_LABEL);
  return withKey(translated, { from: regionLabel, to: keys.region, values: labels[regionLabel] });
}

interface Relabelling {
  readonly from: string;
  readonly to: string;
  /** Of the volume's label `from`, for an affinity without it. */
  readonly values: string | undefined;
}

function withKey(selector: NodeSelector | undefined, { from, to, values }: Relabelling): NodeSelector | undefined {
  return hasKey(selector, from) ? renamed(selector, from, to) : withZones(selector, to, values);
}

/** The affinity decides, then the labels. */
function zoneLabelOf(required: NodeSelector | undefined, labels: Readonly<Record<string, string>>): string {
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
