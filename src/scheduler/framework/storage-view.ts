/** Storage objects for plugins, from memory, and the writes of volume binding. Types only, and the values for schedulers without storage. */
import type { PersistentVolume, PersistentVolumeClaim, Pod } from "../../api/generated/core/v1.ts";
import type { CSIDriver, CSINode, CSIStorageCapacity, StorageClass, VolumeAttachment } from "../../api/generated/storage.k8s.io/v1.ts";

/** As observed: what plugins have assumed is not included. Lists are ordered by name. */
export interface StorageView {
  claim(namespace: string, name: string): PersistentVolumeClaim | undefined;
  volume(name: string): PersistentVolume | undefined;
  /** The volumes of a class (by its name, "" for none) in phase Available that refer to no claim. */
  freeVolumes(className: string): readonly PersistentVolume[];
  /** The volumes whose claimRef has this namespace and name; its uid may be that of another claim. */
  volumesReferringTo(namespace: string, claimName: string): readonly PersistentVolume[];
  storageClass(name: string): StorageClass | undefined;
  csiNode(nodeName: string): CSINode | undefined;
  csiDriver(name: string): CSIDriver | undefined;
  /** Of all namespaces. */
  storageCapacities(className: string): readonly CSIStorageCapacity[];
  volumeAttachments(nodeName: string): readonly VolumeAttachment[];
  /**
   * Calls `changed` with "namespace/name" of a claim when the claim was added, updated or deleted, or a volume whose claimRef names it.
   * Ends on disposal, or with the scheduler.
   */
  onClaimChange(changed: (claimKey: string) => void): Disposable;
}

/** Writes of volume binding. Each rejects with a StatusError if it fails; a conflict means that the object was changed meanwhile. */
export interface StorageEffects {
  /** Replaces the volume if it still has this resourceVersion. `pod` is the one being scheduled. */
  updateVolume(volume: PersistentVolume, pod: Pod, signal: AbortSignal): Promise<PersistentVolume>;
  updateClaim(claim: PersistentVolumeClaim, pod: Pod, signal: AbortSignal): Promise<PersistentVolumeClaim>;
  /** The object as the API server has it, newer than the observed one after a conflict. */
  currentVolume(name: string, signal: AbortSignal): Promise<PersistentVolume>;
  currentClaim(namespace: string, name: string, signal: AbortSignal): Promise<PersistentVolumeClaim>;
}

/** A cluster without storage objects. */
export const NO_STORAGE: StorageView = {
  claim: () => undefined,
  volume: () => undefined,
  freeVolumes: () => [],
  volumesReferringTo: () => [],
  storageClass: () => undefined,
  csiNode: () => undefined,
  csiDriver: () => undefined,
  storageCapacities: () => [],
  volumeAttachments: () => [],
  onClaimChange: () => ({ [Symbol.dispose]() {} }),
};

/** For plugins that are never called. */
export const NO_STORAGE_EFFECTS: StorageEffects = {
  updateVolume: (volume) => Promise.resolve(volume),
  updateClaim: (claim) => Promise.resolve(claim),
  currentVolume: () => Promise.reject(new Error("There is no storage")),
  currentClaim: () => Promise.reject(new Error("There is no storage")),
};
