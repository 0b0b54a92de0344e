/** Storage objects for plugins, from the scheduler's informers. Indexes keep reads independent of the number of volumes. */
import { persistentVolumeClaims } from "../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../api/core/v1/persistent-volume.ts";
import { storageClassOf } from "../api/core/v1/persistent-storage.ts";
import type { PersistentVolume } from "../api/generated/core/v1.ts";
import { csiDrivers } from "../api/storage.k8s.io/v1/csi-driver.ts";
import { csiNodes } from "../api/storage.k8s.io/v1/csi-node.ts";
import { csiStorageCapacities } from "../api/storage.k8s.io/v1/csi-storage-capacity.ts";
import { storageClasses } from "../api/storage.k8s.io/v1/storage-class.ts";
import { volumeAttachments } from "../api/storage.k8s.io/v1/volume-attachment.ts";
import { defineIndex } from "../client/informer/index.ts";
import type { Informers } from "../client/informer/informer.ts";
import type { StorageView } from "./framework/storage-view.ts";

const freeByClass = defineIndex(persistentVolumes, ({ metadata, spec, status }) =>
  status?.phase === "Available" && spec?.claimRef === undefined ? [storageClassOf(metadata, spec?.storageClassName)] : [],
);
const volumesByClaim = defineIndex(persistentVolumes, (volume) => {
  const key = claimKeyOf(volume);
  return key === undefined ? [] : [key];
});
const capacitiesByClass = defineIndex(csiStorageCapacities, ({ storageClassName }) => [storageClassName]);
const attachmentsByNode = defineIndex(volumeAttachments, ({ spec }) => [spec.nodeName]);

/** Starts the informers; resolves when all are synced. */
export async function watchStorage(informers: Informers, signal: AbortSignal): Promise<StorageView> {
  const claims = informers.of(persistentVolumeClaims);
  const volumes = informers.of(persistentVolumes);
  const classes = informers.of(storageClasses);
  const nodes = informers.of(csiNodes);
  const drivers = informers.of(csiDrivers);
  const capacities = informers.of(csiStorageCapacities);
  const attachments = informers.of(volumeAttachments);
  const all = [claims, volumes, classes, nodes, drivers, capacities, attachments];
  await Promise.all(all.map((informer) => informer.synced(signal)));
  return {
    claim: (namespace, name) => claims.get({ namespace, name }),
    volume: (name) => volumes.get({ name }),
    freeVolumes: (className) => volumes.indexed(freeByClass, className),
    volumesReferringTo: (namespace, claimName) => volumes.indexed(volumesByClaim, `${namespace}/${claimName}`),
    storageClass: (name) => classes.get({ name }),
    csiNode: (nodeName) => nodes.get({ name: nodeName }),
    csiDriver: (name) => drivers.get({ name }),
    storageCapacities: (className) => capacities.indexed(capacitiesByClass, className),
    volumeAttachments: (nodeName) => attachments.indexed(attachmentsByNode, nodeName),
    onClaimChange: (changed) => listenToClaims(informers, changed),
  };
}

function listenToClaims(informers: Informers, changed: (claimKey: string) => void): Disposable {
  const ofVolume = (volume: PersistentVolume): void => {
    const key = claimKeyOf(volume);
    if (key !== undefined) changed(key);
  };
  const ofClaim = ({ metadata }: { readonly metadata: { readonly namespace?: string; readonly name: string } }): void =>
    changed(`${metadata.namespace ?? ""}/${metadata.name}`);
  const listening = [
    informers.of(persistentVolumeClaims).listen({ added: ofClaim, updated: ofClaim, deleted: ofClaim }),
    informers.of(persistentVolumes).listen({
      added: ofVolume,
      updated(volume, previous) {
        ofVolume(volume);
        if (claimKeyOf(previous) !== claimKeyOf(volume)) ofVolume(previous);
      },
      deleted: ofVolume,
    }),
  ];
  return {
    [Symbol.dispose]() {
      for (const each of listening) each[Symbol.dispose]();
    },
  };
}

function claimKeyOf({ spec }: PersistentVolume): string | undefined {
  const { namespace = "", name } = spec?.claimRef ?? {};
  return name === undefined ? undefined : `${namespace}/${name}`;
}
