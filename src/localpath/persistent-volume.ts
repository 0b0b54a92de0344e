/** The PersistentVolume of a volume on a node: how it is written, and what one that is read says. Pure. */
import { storageClassOf } from "../api/core/v1/persistent-storage.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../api/generated/core/v1.ts";
import type { StorageClass } from "../api/generated/storage.k8s.io/v1.ts";
import type { Draft } from "../client/client.ts";
import type { LocalVolumes, VolumeStorage } from "./local-volumes.ts";
import {
  claimUidOf,
  HOSTNAME_LABEL,
  LOCAL_PATH_FINALIZER,
  LOCAL_PATH_PROVISIONER,
  NODE_ANNOTATION,
  PROVISIONED_BY,
  SELECTED_NODE,
  STORAGE_PROVISIONER,
  STORAGE_PROVISIONER_BETA,
  volumeNameOf,
} from "../api/local-path.ts";
import { requestedSize } from "./volume-request.ts";

export interface NewVolume {
  readonly claim: PersistentVolumeClaim;
  readonly storageClass: StorageClass;
  readonly storage: VolumeStorage;
  readonly path: string;
  readonly nodeName: string;
  /** The node's label, which the scheduler compares. */
  readonly hostname: string;
}

export function persistentVolumeFor(wanted: NewVolume): Draft<PersistentVolume> {
  const { claim, storageClass, storage, path, nodeName, hostname } = wanted;
  const { namespace = "", name, uid = "", resourceVersion } = claim.metadata;
  const { mountOptions = [] } = storageClass;
  const fsType = storage.is === "image" ? storage.fsType : undefined;
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: {
      name: volumeNameOf(uid),
      annotations: { [PROVISIONED_BY]: LOCAL_PATH_PROVISIONER, [NODE_ANNOTATION]: nodeName },
      finalizers: [LOCAL_PATH_FINALIZER],
    },
    spec: {
      capacity: { storage: requestedSize(claim) },
      accessModes: claim.spec?.accessModes ?? [],
      volumeMode: claim.spec?.volumeMode ?? "Filesystem",
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? "Delete",
      storageClassName: storageClass.metadata.name,
      ...(mountOptions.length === 0 ? {} : { mountOptions }),
      local: { path, ...(fsType === undefined ? {} : { fsType }) },
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: HOSTNAME_LABEL, operator: "In", values: [hostname] }] }] },
      },
      claimRef: {
        ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid },
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      },
    },
  };
}

/** The node that has the files of a volume of this provisioner. */
export function nodeOfVolume({ metadata: { annotations = {} } }: PersistentVolume): string | undefined {
  return annotations[PROVISIONED_BY] === LOCAL_PATH_PROVISIONER ? annotations[NODE_ANNOTATION] : undefined;
}

/**
 * What holds the volume's content. Undefined: it is not what this provisioner creates under this name, whatever its annotations say, so its
 * files are never touched.
 */
export function storageOf({ metadata, spec }: PersistentVolume, volumes: Pick<LocalVolumes, "path">): VolumeStorage["is"] | undefined {
  const { name } = metadata;
  if (claimUidOf(name) === undefined) return undefined;
  return (["directory", "image"] as const).find((storage) => spec?.local?.path === volumes.path(name, storage));
}

/** True if the binder waits for this provisioner to create a volume. */
export function awaitsVolume({ metadata, spec }: PersistentVolumeClaim): boolean {
  const { annotations = {}, deletionTimestamp } = metadata;
  const provisioner = annotations[STORAGE_PROVISIONER] ?? annotations[STORAGE_PROVISIONER_BETA];
  return provisioner === LOCAL_PATH_PROVISIONER && deletionTimestamp === undefined && (spec?.volumeName ?? "") === "";
}

export function selectedNode({ metadata }: PersistentVolumeClaim): string | undefined {
  return metadata.annotations?.[SELECTED_NODE];
}

export function classNameOf({ metadata, spec }: PersistentVolumeClaim): string {
  return storageClassOf(metadata, spec?.storageClassName);
}

/**
 * What its reclaim policy asks for, now that no claim needs the volume. "wait": one may. As upstream's provisioners, a volume that a user
 * deletes is reclaimed by its policy, too.
 */
export function reclaimOf(volume: PersistentVolume, claim: PersistentVolumeClaim | undefined): "delete" | "retain" | "wait" {
  const { metadata, spec, status } = volume;
  const isTerminating = metadata.deletionTimestamp !== undefined;
  if (claim !== undefined && claim.metadata.uid === spec?.claimRef?.uid) return "wait";
  if (status?.phase !== "Released" && !(isTerminating && status?.phase !== "Bound")) return "wait";
  if (spec?.persistentVolumeReclaimPolicy === "Delete") return "delete";
  return isTerminating ? "retain" : "wait";
}
