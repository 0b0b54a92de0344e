/**
 * What a node publishes of its CSI drivers: the CSINode, and on the Node itself an annotation with the driver's name for the node and the
 * labels of its topology. Pure; csi-node-manager.ts writes them.
 */
import type { Node } from "../../api/generated/core/v1.ts";
import type { CSINode, CSINodeDriver } from "../../api/generated/storage.k8s.io/v1.ts";

/** What a driver reported about this node. */
export interface InstalledCsiDriver {
  readonly name: string;
  readonly nodeId: string;
  /** 0: not limited. */
  readonly maxVolumes: number;
  readonly topology: Readonly<Record<string, string>>;
}

/** JSON object of node ids by driver name. */
export const NODE_ID_ANNOTATION = "csi.volume.kubernetes.io/nodeid";

const MIGRATED_PLUGINS_ANNOTATION = "storage.alpha.kubernetes.io/migrated-plugins";

/** In-tree volume kinds that only a CSI driver serves. Sorted. */
const MIGRATED_PLUGINS = [
  "kubernetes.io/aws-ebs",
  "kubernetes.io/azure-disk",
  "kubernetes.io/azure-file",
  "kubernetes.io/cinder",
  "kubernetes.io/gce-pd",
  "kubernetes.io/portworx-volume",
  "kubernetes.io/vsphere-volume",
];

/** Field `allocatable.count` is an int32. */
const COUNT_MAX = 2 ** 31 - 1;

const migrationAnnotation = { [MIGRATED_PLUGINS_ANNOTATION]: MIGRATED_PLUGINS.join(",") };

export function newCsiNode(node: Node, drivers: readonly CSINodeDriver[]): CSINode {
  const { name, uid = "" } = node.metadata;
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSINode",
    metadata: { name, annotations: migrationAnnotation, ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }] },
    spec: { drivers },
  };
}

/** False for one that an earlier Node of the same name left. */
export function isOwnedBy({ metadata }: CSINode, node: Node): boolean {
  const owners = metadata.ownerReferences ?? [];
  return owners.some(({ kind, name, uid }) => kind === "Node" && name === node.metadata.name && uid === node.metadata.uid);
}

/** With the driver added or brought up to date, and the annotation of migrated kinds; the same object if nothing changes. */
export function withDriver(csiNode: CSINode, driver: InstalledCsiDriver): CSINode {
  const entry = entryOf(driver);
  const before = driversOf(csiNode).find(({ name }) => name === driver.name);
  if (before !== undefined && comparable(before) === comparable(entry)) return withMigration(csiNode);
  const others = driversOf(csiNode).filter(({ name }) => name !== driver.name);
  return { ...withMigration(csiNode), spec: { ...csiNode.spec, drivers: [...others, entry] } };
}

/** The same object if the driver is not in it. */
export function withoutDriver(csiNode: CSINode, name: string): CSINode {
  const drivers = driversOf(csiNode).filter((driver) => driver.name !== name);
  return drivers.length === driversOf(csiNode).length ? csiNode : { ...csiNode, spec: { ...csiNode.spec, drivers } };
}

export function withMigration(csiNode: CSINode): CSINode {
  const { annotations = {} } = csiNode.metadata;
  if (annotations[MIGRATED_PLUGINS_ANNOTATION] === migrationAnnotation[MIGRATED_PLUGINS_ANNOTATION]) return csiNode;
  return { ...csiNode, metadata: { ...csiNode.metadata, annotations: { ...annotations, ...migrationAnnotation } } };
}

/** The API writes empty lists as null, as upstream. */
function driversOf({ spec }: CSINode): readonly CSINodeDriver[] {
  const drivers: readonly CSINodeDriver[] | null = spec.drivers;
  return drivers ?? [];
}

export function entryOf({ name, nodeId, maxVolumes, topology }: InstalledCsiDriver): CSINodeDriver {
  return {
    name,
    nodeID: nodeId,
    topologyKeys: Object.keys(topology).toSorted(),
    ...(maxVolumes > 0 ? { allocatable: { count: Math.min(maxVolumes, COUNT_MAX) } } : {}),
  };
}

function comparable({ nodeID, topologyKeys, allocatable }: CSINodeDriver): string {
  const keys: readonly string[] | null | undefined = topologyKeys;
  return JSON.stringify([nodeID, (keys ?? []).toSorted(), allocatable?.count]);
}

/** Merge patch of the Node's metadata for an installed driver; undefined if it is right. Throws if a topology label has another value. */
export function installPatch(node: Node, { name, nodeId, topology }: InstalledCsiDriver) {
  const { labels = {} } = node.metadata;
  for (const [key, value] of Object.entries(topology)) {
    const current = labels[key];
    if (current === undefined || current === value) continue;
    throw new Error(`detected topology value collision: driver reported "${key}":"${value}" but existing label is "${key}":"${current}"`);
  }
  const ids = nodeIdsOf(node);
  const areLabelsRight = Object.entries(topology).every(([key, value]) => labels[key] === value);
  if (ids[name] === nodeId && areLabelsRight) return undefined;
  return metadataPatch(node, { annotations: { [NODE_ID_ANNOTATION]: JSON.stringify({ ...ids, [name]: nodeId }) }, labels: topology });
}

/** The same for a driver that is gone. Topology labels stay, as upstream: other drivers may have them, and volumes refer to them. */
export function uninstallPatch(node: Node, name: string) {
  const { [name]: removed, ...others } = nodeIdsOf(node);
  if (removed === undefined) return undefined;
  const value = Object.keys(others).length === 0 ? null : JSON.stringify(others);
  return metadataPatch(node, { annotations: { [NODE_ID_ANNOTATION]: value } });
}

/** With the resourceVersion, so that two drivers that register at the same time do not overwrite each other. */
function metadataPatch({ metadata }: Node, fields: Readonly<Record<string, Readonly<Record<string, string | null>>>>) {
  const { resourceVersion } = metadata;
  return { metadata: { ...(resourceVersion === undefined ? {} : { resourceVersion }), ...fields } };
}

function nodeIdsOf({ metadata }: Node): Readonly<Record<string, string>> {
  const text = metadata.annotations?.[NODE_ID_ANNOTATION] ?? "";
  if (text === "") return {};
  try {
    return JSON.parse(text) as Record<string, string>;
  } catch (error) {
    throw new Error(`failed to parse node's "${NODE_ID_ANNOTATION}" annotation value ("${text}") err=${String(error)}`, { cause: error });
  }
}
