/**
 * A PersistentVolume that a claim is bound to outlives its deletion until the claim lets go: while its phase is Bound, a finalizer holds
 * it. The phase is what whoever binds volumes says; no claim is asked.
 */
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import type { PersistentVolume } from "../../api/generated/core/v1.ts";
import { defineController, watch } from "../runtime/controller.ts";
import { ifHeldOrUnprotected, keepProtected, type ProtectionByMemory } from "../shared/protection.ts";

const PROTECTION: ProtectionByMemory<PersistentVolume> = {
  kind: persistentVolumes,
  finalizer: "kubernetes.io/pv-protection",
  isUsed: ({ status }) => status?.phase === "Bound",
};

export const persistentVolumeProtectionController = defineController({
  name: "persistentvolume-protection-controller",
  aliases: ["pv-protection"],
  account: "pv-protection-controller",
  rules: [{ apiGroups: [""], resources: ["persistentvolumes"], verbs: ["get", "list", "watch", "update"] }],
  watches: [watch(persistentVolumes, ifHeldOrUnprotected(PROTECTION))],
  reconcile: (key, pass) => keepProtected(PROTECTION, key, pass),
});
