/** Volumes of CSI drivers that Pods use on nodes with a CSINode, including those of migrated in-tree plugins. */
import { claimClass } from "../../../api/core/v1/persistent-volume/binding.ts";
import { migratedDriver } from "../../../api/core/v1/persistent-volume/migrated-plugins.ts";
import type { PersistentVolume, PersistentVolumeClaim, Pod } from "../../../api/generated/core/v1.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import type { StorageView } from "../../framework/storage-view.ts";
import { isTranslated, migratedInlineVolume, migratedVolume } from "../../framework/volumes/migration.ts";
import { claimUses, foreignClaim } from "../../framework/volumes/pod-claims.ts";

export interface DriverVolume {
  readonly driver: string;
  /** Unique among all drivers: a volume that several Pods of a node use counts once. */
  readonly id: string;
}

/** Each once. Claims that do not exist are not counted. */
export function driverVolumes(pod: Pod, storage: StorageView): readonly DriverVolume[] {
  const volumes = new Map<string, DriverVolume>();
  const add = (volume: DriverVolume | undefined): void => {
    if (volume !== undefined) volumes.set(volume.id, volume);
  };
  for (const { name, isEphemeral } of claimUses(pod)) {
    const claim = storage.claim(pod.metadata.namespace ?? "", name);
    if (claim === undefined || (isEphemeral && foreignClaim(pod, claim) !== undefined)) continue;
    add(volumeOfClaim(claim, storage));
  }
  for (const volume of pod.spec?.volumes ?? []) {
    const inTree = migratedInlineVolume(volume);
    if (inTree !== undefined && isTranslated(inTree.plugin)) add(driverVolume(inTree.driver, inTree.handle));
  }
  return [...volumes.values()];
}

function volumeOfClaim(claim: PersistentVolumeClaim, storage: StorageView): DriverVolume | undefined {
  const { volumeName = "" } = claim.spec ?? {};
  const volume = volumeName === "" ? undefined : storage.volume(volumeName);
  return volume === undefined ? futureVolume(claim, storage) : existingVolume(volume);
}

function existingVolume(volume: PersistentVolume): DriverVolume | undefined {
  const { csi } = volume.spec ?? {};
  if (csi !== undefined) return driverVolume(csi.driver, csi.volumeHandle);
  const inTree = migratedVolume(volume);
  return inTree === undefined || !isTranslated(inTree.plugin) ? undefined : driverVolume(inTree.driver, inTree.handle);
}

/** Its handle is not known yet: the claim stands for it. No handle contains a line break. */
function futureVolume(claim: PersistentVolumeClaim, storage: StorageView): DriverVolume | undefined {
  const provisioner = storage.storageClass(claimClass(claim))?.provisioner;
  if (provisioner === undefined) return undefined;
  const migrated = migratedDriver(provisioner);
  if (migrated !== undefined && !isTranslated(provisioner)) return undefined;
  const { namespace, name } = claim.metadata;
  return driverVolume(migrated ?? provisioner, `\n${namespace}/${name}`);
}

function driverVolume(driver: string, handle: string): DriverVolume | undefined {
  return driver === "" || handle === "" ? undefined : { driver, id: `${driver}/${handle}` };
}

export interface UsedVolumes {
  /** Ids of the volumes of the node's Pods. */
  readonly ids: ReadonlySet<string>;
  /** Number of volumes by driver, with attachments that no Pod of the node uses. */
  readonly attached: ReadonlyMap<string, number>;
}

/** The volumes in use on each node, counted once per state of the node and of its claims. */
export class NodeVolumes {
  readonly #storage: StorageView;
  #counted = new WeakMap<NodeInfo, { readonly used: UsedVolumes; readonly attachments: readonly unknown[] }>();

  constructor(storage: StorageView) {
    this.#storage = storage;
  }

  /** A claim or volume has changed. */
  forget(): void {
    this.#counted = new WeakMap();
  }

  of(node: NodeInfo): UsedVolumes {
    const known = this.#counted.get(node);
    const attachments = this.#storage.volumeAttachments(node.name);
    if (known !== undefined && isSame(known.attachments, attachments)) return known.used;
    const used = this.#count(node);
    this.#counted.set(node, { used, attachments });
    return used;
  }

  #count(node: NodeInfo): UsedVolumes {
    const ids = new Set<string>();
    const attached = new Map<string, number>();
    const add = ({ driver }: DriverVolume): void => void attached.set(driver, (attached.get(driver) ?? 0) + 1);
    for (const { pod } of node.pods) {
      for (const volume of driverVolumes(pod, this.#storage)) {
        if (ids.has(volume.id)) continue;
        ids.add(volume.id);
        add(volume);
      }
    }
    for (const { id, driver } of this.#attachedVolumes(node.name)) if (!ids.has(id)) add({ id, driver });
    return { ids, attached };
  }

  #attachedVolumes(nodeName: string): Iterable<DriverVolume> {
    const volumes = new Map<string, DriverVolume>();
    for (const { spec } of this.#storage.volumeAttachments(nodeName)) {
      const { persistentVolumeName } = spec.source;
      const csi = persistentVolumeName === undefined ? undefined : this.#storage.volume(persistentVolumeName)?.spec?.csi;
      const volume = csi === undefined ? undefined : driverVolume(spec.attacher, csi.volumeHandle);
      if (volume !== undefined) volumes.set(volume.id, volume);
    }
    return volumes.values();
  }
}

function isSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((each, index) => each === others[index]);
}
