/**
 * Changes of storage and device objects as cluster events. Every version is an event, as upstream: the rules of plugins decide whether it is relevant.
 * Existing objects are events, too, at the start: nothing waits then.
 */
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { deviceClasses } from "../../api/resource.k8s.io/v1/device-class.ts";
import { resourceClaims } from "../../api/resource.k8s.io/v1/resource-claim.ts";
import { resourceSlices } from "../../api/resource.k8s.io/v1/resource-slice.ts";
import { csiDrivers } from "../../api/storage.k8s.io/v1/csi-driver.ts";
import { csiNodes } from "../../api/storage.k8s.io/v1/csi-node.ts";
import { csiStorageCapacities } from "../../api/storage.k8s.io/v1/csi-storage-capacity.ts";
import { storageClasses } from "../../api/storage.k8s.io/v1/storage-class.ts";
import { volumeAttachments } from "../../api/storage.k8s.io/v1/volume-attachment.ts";
import { Disposables } from "../../base/disposables.ts";
import type { ResourceKind } from "../../client/client.ts";
import type { Informers } from "../../client/informer/informer.ts";
import type { ObjectEvent, ObjectKind, ObjectKinds } from "../framework/cluster-event.ts";

/** Ends on disposal. */
export function feedObjectEvents(informers: Informers, emit: (event: ObjectEvent) => void): AsyncDisposable {
  const listening = new Disposables();
  const follow = <Kind extends ObjectKind>(kind: Kind, resource: ResourceKind<ObjectKinds[Kind] & KubeObject>): void => {
    type Each = ObjectKinds[Kind];
    const event = (change: "added" | "updated" | "deleted", object: Each, previous?: Each): ObjectEvent =>
      ({ of: "object", kind, change, object, ...(previous === undefined ? {} : { previous }) }) as ObjectEvent;
    listening.use(
      informers.of(resource).listen({
        added: (object) => emit(event("added", object)),
        updated: (object, previous) => emit(event("updated", object, previous)),
        deleted: (object) => emit(event("deleted", object)),
      }),
    );
  };
  follow("PersistentVolumeClaim", persistentVolumeClaims);
  follow("PersistentVolume", persistentVolumes);
  follow("StorageClass", storageClasses);
  follow("CSINode", csiNodes);
  follow("CSIDriver", csiDrivers);
  follow("CSIStorageCapacity", csiStorageCapacities);
  follow("VolumeAttachment", volumeAttachments);
  follow("ResourceClaim", resourceClaims);
  follow("DeviceClass", deviceClasses);
  follow("ResourceSlice", resourceSlices);
  return listening;
}
