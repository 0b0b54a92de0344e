/**
 * Holds a terminating VolumeAttributesClass until no volume and no claim references it: as the current one, the requested one, or the one
 * being applied. Before it is released, all volumes and claims are listed live: informers may lag, and classes are deleted rarely.
 * (Upstream's controller trusts its informers.)
 */
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/core/v1.ts";
import type { VolumeAttributesClass } from "../../api/generated/storage.k8s.io/v1.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { volumeAttributesClasses } from "../../api/storage.k8s.io/v1/volume-attributes-class.ts";
import type { Client, ResourceKind } from "../../client/client.ts";
import { defineIndex } from "../../client/informer/index.ts";
import { defineController, watch, type KeysOf } from "../runtime/controller.ts";
import { ifHeldOrUnprotected, isHeld, keepProtected, type ProtectionByMemory } from "../shared/protection.ts";

const volumesByClass = defineIndex(persistentVolumes, classesOfVolume);
const claimsByClass = defineIndex(persistentVolumeClaims, classesOfClaim);

const PROTECTION: ProtectionByMemory<VolumeAttributesClass> = {
  kind: volumeAttributesClasses,
  finalizer: "kubernetes.io/vac-protection",
  isUsed: ({ metadata: { name } }, read) => read.indexed(volumesByClass, name).length > 0 || read.indexed(claimsByClass, name).length > 0,
  isUsedUnheard: async ({ metadata: { name } }, write) =>
    (await isNamed(name, persistentVolumes, classesOfVolume, write)) || isNamed(name, persistentVolumeClaims, classesOfClaim, write),
};

async function isNamed<T extends KubeObject>(
  name: string,
  kind: ResourceKind<T>,
  classesOf: (user: T) => ReadonlySet<string>,
  write: Client,
): Promise<boolean> {
  for await (const { items } of write.pages(kind)) if (items.some((user) => classesOf(user).has(name))) return true;
  return false;
}

export const volumeAttributesClassProtectionController = defineController({
  name: "volumeattributesclass-protection-controller",
  account: "volumeattributesclass-protection-controller",
  rules: [
    { apiGroups: [""], resources: ["persistentvolumeclaims", "persistentvolumes"], verbs: ["get", "list", "watch"] },
    { apiGroups: ["storage.k8s.io"], resources: ["volumeattributesclasses"], verbs: ["get", "list", "watch", "update"] },
  ],
  watches: [
    watch(volumeAttributesClasses, ifHeldOrUnprotected(PROTECTION)),
    watch(persistentVolumes, classesLetGo(classesOfVolume)),
    watch(persistentVolumeClaims, classesLetGo(classesOfClaim)),
  ],
  reconcile: (key, pass) => keepProtected(PROTECTION, key, pass),
});

function classesOfVolume({ spec }: PersistentVolume): ReadonlySet<string> {
  return named([spec?.volumeAttributesClassName]);
}

function classesOfClaim({ spec, status }: PersistentVolumeClaim): ReadonlySet<string> {
  const target = status?.modifyVolumeStatus?.targetVolumeAttributesClassName;
  return named([spec?.volumeAttributesClassName, status?.currentVolumeAttributesClassName, target]);
}

function named(names: readonly (string | undefined)[]): ReadonlySet<string> {
  return new Set(names.filter((name): name is string => name !== undefined && name !== ""));
}

/** Terminating classes, if this object referenced them. */
function classesLetGo<T extends KubeObject>(classesOf: (user: T) => ReadonlySet<string>): KeysOf<T> {
  return function* ({ is, object, previous }, read) {
    const before = is === "deleted" ? object : previous;
    if (before === undefined) return;
    const now = is === "deleted" ? new Set<string>() : classesOf(object);
    for (const name of classesOf(before)) {
      const found = now.has(name) ? undefined : read.get(volumeAttributesClasses, { name });
      if (found !== undefined && isHeld(found, PROTECTION)) yield { name };
    }
  };
}
