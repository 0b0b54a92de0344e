/** Storage objects for tests of the scheduler, and a view of exactly the given ones. */
import { volumeClass } from "../../../api/core/v1/persistent-volume/binding.ts";
import type {
  NodeSelectorTerm,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  Volume,
} from "../../../api/generated/core/v1.ts";
import type { CSIDriver, CSINode, CSIStorageCapacity, StorageClass, VolumeAttachment } from "../../../api/generated/storage.k8s.io/v1.ts";
import { NO_STORAGE, type StorageView } from "../storage-view.ts";

export const HOSTNAME = "kubernetes.io/hostname";

interface Metadata {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface ClaimParts extends Metadata {
  /** "1Gi" by default. */
  readonly size?: string;
  /** Absent: the claim has none. */
  readonly className?: string;
  /** Name of the volume that it is completely bound to. */
  readonly boundTo?: string;
  readonly selectedNode?: string;
  readonly spec?: Partial<NonNullable<PersistentVolumeClaim["spec"]>>;
  readonly phase?: "Bound" | "Lost" | "Pending";
  readonly deletedAt?: string;
  readonly version?: string;
}

export function aClaim(name: string, parts: ClaimParts = {}): PersistentVolumeClaim {
  const { size = "1Gi", className, boundTo, selectedNode, spec, deletedAt, version } = parts;
  const annotations = {
    ...(boundTo !== undefined && { "pv.kubernetes.io/bind-completed": "yes" }),
    ...(selectedNode !== undefined && { "volume.kubernetes.io/selected-node": selectedNode }),
    ...parts.annotations,
  };
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: {
      name,
      namespace: "default",
      uid: `uid-of-${name}`,
      ...(version !== undefined && { resourceVersion: version }),
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ...(deletedAt !== undefined && { deletionTimestamp: deletedAt }),
    },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: size } },
      ...(className !== undefined && { storageClassName: className }),
      ...(boundTo !== undefined && { volumeName: boundTo }),
      ...spec,
    },
    status: { phase: parts.phase ?? (boundTo === undefined ? "Pending" : "Bound") },
  };
}

export interface VolumeParts extends Metadata {
  /** "1Gi" by default. */
  readonly size?: string;
  readonly className?: string;
  /** Only these nodes have access, by host name. */
  readonly nodes?: readonly string[];
  readonly terms?: readonly NodeSelectorTerm[];
  /** Name of the claim that it refers to. */
  readonly claim?: string;
  readonly phase?: NonNullable<PersistentVolume["status"]>["phase"];
  readonly spec?: Partial<PersistentVolumeSpec>;
  readonly version?: string;
}

export function aVolume(name: string, parts: VolumeParts = {}): PersistentVolume {
  const { size = "1Gi", className, nodes, claim, spec, version, labels, annotations } = parts;
  const terms = parts.terms ?? (nodes && [{ matchExpressions: [{ key: HOSTNAME, operator: "In" as const, values: nodes }] }]);
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: {
      name,
      uid: `uid-of-${name}`,
      ...(version !== undefined && { resourceVersion: version }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    },
    spec: {
      accessModes: ["ReadWriteOnce"],
      capacity: { storage: size },
      persistentVolumeReclaimPolicy: "Retain",
      hostPath: { path: `/volumes/${name}` },
      ...(className !== undefined && { storageClassName: className }),
      ...(terms && { nodeAffinity: { required: { nodeSelectorTerms: terms } } }),
      ...(claim !== undefined && { claimRef: { namespace: "default", name: claim, uid: `uid-of-${claim}` } }),
      ...spec,
    },
    status: { phase: parts.phase ?? (claim === undefined ? "Available" : "Bound") },
  };
}

export function aStorageClass(name: string, parts: Partial<StorageClass> = {}): StorageClass {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name },
    provisioner: "kubernetes.io/no-provisioner",
    volumeBindingMode: "WaitForFirstConsumer",
    ...parts,
  };
}

/** Volumes of the driver that the node can attach. */
export function aCsiNode(nodeName: string, limits: Readonly<Record<string, number>>, metadata: Metadata = {}): CSINode {
  const drivers = Object.entries(limits).map(([name, count]) => ({ name, nodeID: nodeName, topologyKeys: [], allocatable: { count } }));
  return { apiVersion: "storage.k8s.io/v1", kind: "CSINode", metadata: { name: nodeName, ...metadata }, spec: { drivers } };
}

export function aCsiDriver(name: string, spec: CSIDriver["spec"] = {}): CSIDriver {
  return { apiVersion: "storage.k8s.io/v1", kind: "CSIDriver", metadata: { name }, spec };
}

export function aCapacity(name: string, parts: Partial<CSIStorageCapacity>): CSIStorageCapacity {
  const kind = { apiVersion: "storage.k8s.io/v1", kind: "CSIStorageCapacity", metadata: { name, namespace: "kube-system" } } as const;
  return { ...kind, storageClassName: "fast", ...parts };
}

export function anAttachment(name: string, nodeName: string, attacher: string, volumeName: string): VolumeAttachment {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "VolumeAttachment",
    metadata: { name },
    spec: { attacher, nodeName, source: { persistentVolumeName: volumeName } },
  };
}

/** A volume of a Pod for each claim. */
export function volumesOf(...claimNames: readonly string[]): { readonly spec: { readonly volumes: readonly Volume[] } } {
  return { spec: { volumes: claimNames.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })) } };
}

export type StorageObject =
  | PersistentVolumeClaim
  | PersistentVolume
  | StorageClass
  | CSINode
  | CSIDriver
  | CSIStorageCapacity
  | VolumeAttachment;

/** A view of these objects; `put` adds one or replaces it. */
export interface StorageOfTest extends StorageView {
  put(...objects: readonly StorageObject[]): void;
}

export function storageOf(...objects: readonly StorageObject[]): StorageOfTest {
  const known = new Map<string, StorageObject>();
  const listeners = new Set<(claimKey: string) => void>();
  const put = (...more: readonly StorageObject[]): void => {
    for (const object of more) known.set(`${object.kind} ${object.metadata.name}`, object);
    for (const listener of listeners) for (const key of more.flatMap(claimKeysOf)) listener(key);
  };
  put(...objects);
  const all = <T extends StorageObject>(kind: string): T[] => [...known.values()].filter((object): object is T => object.kind === kind);
  const get = <T extends StorageObject>(kind: string, name: string): T | undefined => known.get(`${kind} ${name}`) as T | undefined;
  const volumes = (): PersistentVolume[] => all("PersistentVolume");
  return {
    ...NO_STORAGE,
    put,
    claim: (_namespace, name) => get("PersistentVolumeClaim", name),
    volume: (name) => get("PersistentVolume", name),
    freeVolumes: (className) =>
      volumes().filter(
        (volume) => volumeClass(volume) === className && volume.spec?.claimRef === undefined && volume.status?.phase === "Available",
      ),
    volumesReferringTo: (_namespace, claimName) => volumes().filter(({ spec }) => spec?.claimRef?.name === claimName),
    storageClass: (name) => get("StorageClass", name),
    csiNode: (name) => get("CSINode", name),
    csiDriver: (name) => get("CSIDriver", name),
    storageCapacities: (className) =>
      all<CSIStorageCapacity>("CSIStorageCapacity").filter(({ storageClassName }) => storageClassName === className),
    volumeAttachments: (nodeName) => all<VolumeAttachment>("VolumeAttachment").filter(({ spec }) => spec.nodeName === nodeName),
    onClaimChange(changed) {
      listeners.add(changed);
      return { [Symbol.dispose]: () => void listeners.delete(changed) };
    },
  };
}

function claimKeysOf(object: StorageObject): string[] {
  if (object.kind === "PersistentVolumeClaim") return [`default/${object.metadata.name}`];
  const claim = object.kind === "PersistentVolume" ? object.spec?.claimRef?.name : undefined;
  return claim === undefined ? [] : [`default/${claim}`];
}
